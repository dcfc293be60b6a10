"""`tenner fleet`: many boards at once, seen through their broker."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import rich_click as click

from tenner_host import prompts
from tenner_host.errors import CommandError
from tenner_host.output import echo, json_option, print_json
from tenner_host.remote.broker import ANSWER_S, Broker, Login
from tenner_host.remote.reported import KINDS, Board, watched_topics
from tenner_host.web.command import page_options, serve

F = TypeVar("F", bound=Callable[..., object])


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def fleet() -> None:
    """See all boards on one MQTT broker, by the state that each reports."""


@dataclass(frozen=True)
class _Place:
    """A broker, and the topic of the boards."""

    host: str
    port: int
    context: ssl.SSLContext | None
    login: Login | None
    topic: str


def _broker_options(command: F) -> F:
    """Add the parameters of `_place`."""
    for option in reversed(
        (
            click.option(
                "--host", metavar="HOST", help="The broker; the default is mqtt.host of --config."
            ),
            click.option(
                "--port",
                type=int,
                metavar="PORT",
                help="Its port; 8883 unless the settings say otherwise.",
            ),
            click.option("--user", metavar="NAME", help="Name at the broker."),
            click.option(
                "--tls/--no-tls", default=None, help="Verified TLS, which is the default."
            ),
            click.option(
                "--ca",
                type=click.Path(exists=True, dir_okay=False, path_type=Path),
                help="Certificate (PEM) of a broker's own authority.",
            ),
            click.option(
                "--config",
                type=click.Path(exists=True, dir_okay=False, path_type=Path),
                help="A board's config.json: the broker's settings are taken from it.",
            ),
            click.option(
                "--topic",
                default="tenner",
                metavar="TOPIC",
                show_default=True,
                help="The boards are below it.",
            ),
        )
    ):
        command = option(command)
    return command


def _place(
    host: str | None,
    port: int | None,
    user: str | None,
    tls: bool | None,
    ca: Path | None,
    config: Path | None,
    topic: str,
) -> _Place:
    settings = _settings(config)
    host = host or settings.get("host")
    if not host:
        raise CommandError("which broker? Give --host, or --config with a board's config.json")
    user = user or settings.get("user")
    password = os.environ.get("TENNER_MQTT_PASSWORD") or settings.get("password")
    if user and not password:
        password = prompts.ask("Password at the broker", hidden=True, needed="It is needed.")
    secure = settings.get("tls", True) if tls is None else tls
    return _Place(
        host,
        port or settings.get("port", 8883),
        _context(ca) if secure else None,
        (user, password) if user else None,
        topic,
    )


@fleet.command()
@_broker_options
@json_option
def status(as_json: bool, **broker: Any) -> None:
    """List the boards: online or not, version, uptime, heap, and their sensors' readings.

    The password comes from --config, from TENNER_MQTT_PASSWORD, or from a prompt.
    """
    place = _place(**broker)
    boards = ask_broker(place.host, place.port, place.context, place.login, place.topic)
    if as_json:
        print_json({"boards": [vars(board) for board in boards]})
    elif not boards:
        echo(f"no boards found under {place.topic}/ on {place.host}")
    else:
        _print(boards)


@fleet.command()
@_broker_options
@page_options
def web(number: int, is_opened: bool, has_guests: bool, **broker: Any) -> None:
    """A page for your browser: a tile for each board, live from the broker.

    The tile of a board that this computer knows leads to its page. Otherwise as `tenner web`.
    """
    from tenner_host.web.fleet_site import FleetSite

    place = _place(**broker)
    connection = Broker(
        place.host, place.port, place.context, place.login, watched_topics(place.topic)
    )
    with connection:
        serve(
            lambda access: FleetSite(access, connection, place.topic),
            f"boards under {place.topic}/ on {connection.place}; Ctrl-C ends the page",
            number,
            is_opened,
            has_guests,
        )


def ask_broker(
    host: str,
    port: int,
    context: ssl.SSLContext | None,
    login: Login | None,
    topic: str,
) -> list[Board]:
    """The boards below `topic` from a broker's retained messages; CommandError when it does not
    answer."""
    boards: dict[str, Board] = {}
    # A broker sends retained messages before later ones, so our own message ends the list.
    marker = f"{topic}/fleet/{uuid4().hex}"
    topics = [f"{topic}/+/{kind}" for kind in KINDS] + [marker]
    with Broker(host, port, context, login, topics) as broker:
        broker.publish(marker, b"")
        while True:
            found = broker.next(ANSWER_S)
            if found is None:
                raise CommandError(
                    f"the broker at {broker.place} gave no answer in {ANSWER_S:.0f} s"
                )
            if found[0] == marker:
                break
            name, _, kind = found[0].removeprefix(f"{topic}/").partition("/")
            board = boards.setdefault(name, Board(f"{topic}/{name}"))
            board.take(kind, found[1].decode(errors="replace"))
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
