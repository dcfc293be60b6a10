"""`tenner fleet`: many boards at once, seen through their broker."""

from __future__ import annotations

import json
import os
import ssl
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import rich_click as click

from tenner_host.errors import CommandError
from tenner_host.output import echo, json_option, print_json

ANSWER_S = 10.0
#: As in pyproject.toml.
REQUIREMENT = "paho-mqtt>=2.1,<3"


@dataclass
class Board:
    """A board's retained messages at the broker; `state` and `sensors` are its own JSON."""

    topic: str
    status: str = "unknown"
    state: dict[str, Any] = field(default_factory=dict)
    sensors: dict[str, dict[str, float]] = field(default_factory=dict)

    def take(self, kind: str, text: str) -> None:
        """Store the message at `kind` below the board's topic; ignore invalid JSON, which no board
        sends."""
        if kind == "status":
            self.status = text
            return
        try:
            value = json.loads(text)
        except ValueError:
            return
        if isinstance(value, dict) and kind == "state":
            self.state = value
        elif isinstance(value, dict):
            self.sensors[kind.removeprefix("sensor/")] = value


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def fleet() -> None:
    """Many boards on one MQTT broker: the state that each reports."""


@fleet.command()
@click.option("--host", metavar="HOST", help="The broker; the default is mqtt.host of --config.")
@click.option(
    "--port", type=int, metavar="PORT", help="Its port; 8883 unless the settings say otherwise."
)
@click.option("--user", metavar="NAME", help="Name at the broker.")
@click.option("--tls/--no-tls", default=None, help="Verified TLS, which is the default.")
@click.option(
    "--ca",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Certificate (PEM) of a broker's own authority.",
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A board's config.json: the broker's settings are taken from it.",
)
@click.option(
    "--topic",
    default="tenner",
    metavar="TOPIC",
    show_default=True,
    help="The boards are below it.",
)
@json_option
def status(
    host: str | None,
    port: int | None,
    user: str | None,
    tls: bool | None,
    ca: Path | None,
    config: Path | None,
    topic: str,
    as_json: bool,
) -> None:
    """List the boards: online or not, version, uptime, heap, and their sensors' readings.

    The password comes from --config, from TENNER_MQTT_PASSWORD, or from a prompt.
    """
    settings = _settings(config)
    host = host or settings.get("host")
    if not host:
        raise CommandError("which broker? Give --host, or --config with a board's config.json")
    user = user or settings.get("user")
    password = os.environ.get("TENNER_MQTT_PASSWORD") or settings.get("password")
    if user and not password:
        password = click.prompt("Password at the broker", hide_input=True, err=True)
    secure = settings.get("tls", True) if tls is None else tls
    boards = ask_broker(
        host,
        port or settings.get("port", 8883),
        _context(ca) if secure else None,
        (user, password) if user else None,
        topic,
    )
    if as_json:
        print_json([vars(board) for board in boards])
    elif not boards:
        echo(f"no boards found under {topic}/ on {host}")
    else:
        _print(boards)


def ask_broker(
    host: str,
    port: int,
    context: ssl.SSLContext | None,
    login: tuple[str, str | None] | None,
    topic: str,
) -> list[Board]:
    """The boards below `topic` from a broker's retained messages; CommandError when it does not
    answer."""
    try:
        import paho.mqtt.client as paho
        from paho.mqtt.enums import CallbackAPIVersion
    except ImportError as exc:
        raise CommandError(
            f"`tenner fleet` needs the library paho-mqtt: pip install '{REQUIREMENT}'"
        ) from exc

    boards: dict[str, Board] = {}
    # A broker sends retained messages before later ones, so our own message ends the list.
    marker = f"{topic}/fleet/{uuid4().hex}"
    done = threading.Event()
    refused: list[str] = []

    def connected(
        client: paho.Client, _data: object, _flags: object, reason: Any, _properties: object
    ) -> None:
        if reason.is_failure:
            refused.append(str(reason))
            done.set()
            return
        kinds = ("status", "state", "sensor/+")
        client.subscribe([(f"{topic}/+/{kind}", 1) for kind in kinds] + [(marker, 1)])

    def took(_client: object, _data: object, message: paho.MQTTMessage) -> None:
        if message.topic == marker:
            done.set()
            return
        name, _, kind = message.topic.removeprefix(f"{topic}/").partition("/")
        board = boards.setdefault(name, Board(f"{topic}/{name}"))
        board.take(kind, message.payload.decode(errors="replace"))

    client = paho.Client(CallbackAPIVersion.VERSION2)
    client.on_connect = connected
    client.on_message = took
    client.on_subscribe = lambda one, *_: one.publish(marker, "", qos=1)
    if login:
        client.username_pw_set(*login)
    if context:
        client.tls_set_context(context)
    try:
        client.connect(host, port)
    except ssl.SSLError as exc:
        raise CommandError(
            f"{host}:{port} is not trusted: {exc.reason or exc}; give its authority with --ca"
        ) from exc
    except OSError as exc:
        raise CommandError(f"there is no broker at {host}:{port}: {exc}") from exc
    client.loop_start()
    answered = done.wait(ANSWER_S)
    client.disconnect()
    client.loop_stop()
    if refused:
        raise CommandError(f"the broker at {host}:{port} rejected the connection: {refused[0]}")
    if not answered:
        raise CommandError(f"the broker at {host}:{port} gave no answer in {ANSWER_S:.0f} s")
    return [boards[name] for name in sorted(boards)]


def _settings(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        found = json.loads(path.read_text()).get("mqtt", {})
    except (ValueError, AttributeError) as exc:
        raise CommandError(f"{path} is not a config.json: {exc}") from exc
    return found if isinstance(found, dict) else {}


def _context(ca: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError as exc:
        raise CommandError(f"{ca} holds no certificate in PEM form: {exc}") from exc


def _print(boards: list[Board]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("board", "name", "status", "version", "up", "heap free", "sensors"):
        table.add_column(title)
    for board in boards:
        state = board.state
        table.add_row(
            board.topic.rpartition("/")[2],
            str(state.get("name", "")),
            f"[green]{board.status}" if board.status == "online" else f"[red]{board.status}",
            str(state.get("version", "")),
            _duration(state.get("up_s")),
            f"{state['heap_free'] // 1024} KB" if "heap_free" in state else "",
            ", ".join(
                f"{name} {' '.join(f'{value:g}' for value in values.values())}"
                for name, values in sorted(board.sensors.items())
            ),
        )
    Console().print(table)


def _duration(seconds: object) -> str:
    if not isinstance(seconds, (int, float)):
        return ""
    minutes, hours = int(seconds) // 60, int(seconds) // 3600
    return f"{hours // 24} d {hours % 24} h" if hours >= 24 else f"{hours} h {minutes % 60} min"
