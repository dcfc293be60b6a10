"""The boards that this computer reaches without a cable: their keys, brokers and addresses.

A sync over the cable, or a deploy, makes the key of a board and notes the rest. Each board has a
private file in the user's folder for settings.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tenner_host.errors import CommandError
from tenner_host.places import config_folder, write_whole
from tenner_host.project import Project

#: The key of the board, as hex digits (firmware/tenner/remote/session.py).
ON_BOARD = "/lib/remote.key"
#: Of the ports of such boards, by their way.
MQTT = "mqtt://"
LAN = "lan://"
WEB_PORT = 8767


@dataclass(frozen=True)
class Known:
    """A board; `authorities` are the certificates that it trusts, in PEM form. The last three
    fields are those of its page's server in the network."""

    device: str
    key: str
    name: str = ""
    topic: str = ""
    host: str = ""
    port: int = 8883
    user: str = ""
    password: str = ""
    tls: bool = True
    authorities: str = ""
    address: str = ""
    web_port: int = WEB_PORT
    web_tls: bool = False

    @property
    def names(self) -> set[str]:
        """The names by which an owner may call it."""
        return {self.device, self.topic, self.topic.rpartition("/")[2], self.name} - {""}

    @property
    def label(self) -> str:
        return self.topic or self.name or self.device


def board_files(device: str) -> dict[str, bytes]:
    """Return the file with the board's key by its path on the board; a new key for a new board."""
    found = _load(_place(device))
    return {ON_BOARD: (found.key if found else secrets.token_hex(32)).encode()}


def learn(
    device: str,
    files: dict[str, bytes],
    settings: dict[str, Any],
    certificates: list[bytes],
    address: str = "",
) -> None:
    """Note the key among the board's files, and where the board is to be found; `certificates` are
    in DER form, `address` is that in the network, "" if it is not known now."""
    before = _load(_place(device))
    web = settings.get("web")
    web = web if isinstance(web, dict) else {}
    found = Known(
        device,
        files[ON_BOARD].decode(),
        settings.get("name", ""),
        address=address or (before.address if before else ""),
        web_port=web.get("port", WEB_PORT),
        web_tls=bool(web.get("cert")),
    )
    mqtt = settings.get("mqtt", {})
    if isinstance(mqtt, dict) and mqtt.get("host"):
        found = replace(
            found,
            topic=mqtt.get("topic") or f"tenner/{device}",
            host=mqtt["host"],
            port=mqtt.get("port", 8883),
            user=mqtt.get("user", ""),
            password=mqtt.get("password", ""),
            tls=mqtt.get("tls", True),
            authorities="".join(_pem(one) for one in certificates),
        )
    _save(found)


def note(board: Known, web_tls: bool) -> Known:
    """Remember where a board has answered in the network; return its record."""
    found = replace(board, web_tls=web_tls)
    if found != _load(_place(board.device)):
        _save(found)
    return found


def is_remote(port: str | None) -> bool:
    """Is this a board that is reached without the cable?"""
    return bool(port and port.startswith((MQTT, LAN)))


def way_of(port: str) -> tuple[str, str]:
    """Return (MQTT or LAN, the name of the board or its address) of such a port."""
    way, separator, name = port.partition("://")
    return way + separator, name


def every(scheme: str = MQTT) -> list[Known]:
    """Return all known boards that this way leads to, by their labels."""
    found = [_load(path) for path in _folder().glob("*.json")]
    return sorted(
        (one for one in found if one and (one.host if scheme == MQTT else one.address)),
        key=lambda one: one.label,
    )


def find(name: str, project: Project | None = None, scheme: str = MQTT) -> Known:
    """Return the board of this name; "" is the project's, or the only one. In the network it may
    also be ADDRESS or ADDRESS:PORT of the project's board, or of the only one."""
    if scheme == LAN:
        return _find_in_network(name, project)
    boards = every()
    name = name or _own(project)
    fitting = _fitting(boards, name)
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(one.label for one in boards) or "none"
    if not fitting and _fitting(every(LAN), name):
        raise CommandError("this board is at no broker, but on the network: use --via lan")
    if not boards:
        raise CommandError(
            "no board is known at a broker: make a key with `tenner release --new-key`, "
            "set mqtt.host with `tenner setup`, and run `tenner sync` once over the cable"
        )
    if not fitting:
        raise CommandError(f"no board {name!r} is known at a broker; known: {known}")
    example = f"--via mqtt:{fitting[0].label}"
    raise CommandError(f"several boards are known: name one, as in {example} (known: {known})")


def _find_in_network(name: str, project: Project | None) -> Known:
    boards = [one for one in map(_load, _folder().glob("*.json")) if one]
    if not boards:
        raise CommandError(
            "this computer knows no board: make a key with `tenner release --new-key`, set "
            "web.enabled with `tenner setup`, and run `tenner sync` once (`tenner deploy` for "
            "Linux)"
        )
    fitting = _fitting(boards, name) if name else []
    address, port = "", 0
    if name and not fitting:
        address, port = _address(name)
        fitting = [one for one in boards if one.address == address]
    fitting = fitting or _fitting(boards, _own(project))
    known = ", ".join(sorted(one.label for one in boards))
    if len(fitting) != 1:
        raise CommandError(
            f"several boards are known: name one, as in --via lan:{boards[0].label}, or be "
            f"in its folder (known: {known})"
        )
    found = fitting[0]
    if address:
        found = replace(found, address=address, web_port=port or found.web_port)
    if not found.address:
        raise CommandError(
            f"no address of {found.label} is known yet: name it once, as in --via lan:192.168.1.7 "
            "(your router lists it; port 8767 unless web.port is another)"
        )
    return found


def _fitting(boards: list[Known], name: str) -> list[Known]:
    return [one for one in boards if not name or name in one.names]


def _own(project: Project | None) -> str:
    return str(project.load().get("remote") or "") if project else ""


def place(address: str, port: int) -> str:
    """Return ADDRESS:PORT."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _address(text: str) -> tuple[str, int]:
    """Return (address, port) of ADDRESS or ADDRESS:PORT; the port is 0 if none is named."""
    found = re.fullmatch(r"\[([0-9a-fA-F:.%\w]+)\](?::(\d+))?|([\w.-]+)(?::(\d+))?", text)
    if not found and text.count(":") > 1 and re.fullmatch(r"[0-9a-fA-F:.]+(%\w+)?", text):
        return text, 0
    port = int((found[2] or found[4] or 0) if found else 0)
    if not found or port > 65535:
        raise CommandError(
            f"{text!r} is neither a known board nor an address such as 192.168.1.20:8767"
        )
    return found[1] or found[3], port


def _folder() -> Path:
    return config_folder() / "boards"


def _place(device: str) -> Path:
    return _folder() / f"{device}.json"


def _load(path: Path) -> Known | None:
    try:
        return Known(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as exc:
        raise CommandError(f"{path} is damaged ({exc}); remove it, and run `tenner sync`") from exc


def _save(known: Known) -> None:
    # It has the keys.
    write_whole(_place(known.device), json.dumps(asdict(known), indent=1).encode(), private=True)


def _pem(der: bytes) -> str:
    text = base64.encodebytes(der).decode()
    return f"-----BEGIN CERTIFICATE-----\n{text}-----END CERTIFICATE-----\n"
