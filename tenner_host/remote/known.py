"""The boards that this computer reaches through a broker: their keys, brokers and topics.

A sync over the cable makes the key of a board and notes the rest, in one private file for each
board in the user's folder for settings.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tenner_host.errors import CommandError
from tenner_host.places import config_folder
from tenner_host.project import Project

#: The key of the board, as hex digits (firmware/tenner/remote/session.py).
ON_BOARD = "/lib/remote.key"
SCHEME = "mqtt://"


@dataclass(frozen=True)
class Known:
    """A board; `authorities` are the certificates that it trusts, in PEM form."""

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

    @property
    def names(self) -> set[str]:
        """The names by which an owner may call it."""
        return {self.device, self.topic, self.topic.rpartition("/")[2], self.name} - {""}

    @property
    def label(self) -> str:
        return self.topic or self.device


def board_files(device: str) -> dict[str, bytes]:
    """Return the file with the board's key by its path on the board; a new key for a new board."""
    found = _load(_place(device))
    return {ON_BOARD: (found.key if found else secrets.token_hex(32)).encode()}


def learn(
    device: str, files: dict[str, bytes], settings: dict[str, Any], certificates: list[bytes]
) -> None:
    """Note the key among the board's files, and where the board is to be found; `certificates` are
    in DER form."""
    key = files[ON_BOARD].decode()
    mqtt = settings.get("mqtt", {})
    if not isinstance(mqtt, dict) or not mqtt.get("host"):
        _save(Known(device, key, settings.get("name", "")))
        return
    _save(
        Known(
            device,
            key,
            settings.get("name", ""),
            mqtt.get("topic") or f"tenner/{device}",
            mqtt["host"],
            mqtt.get("port", 8883),
            mqtt.get("user", ""),
            mqtt.get("password", ""),
            mqtt.get("tls", True),
            "".join(_pem(one) for one in certificates),
        )
    )


def every() -> list[Known]:
    """Return all known boards with a broker, by topic."""
    found = [_load(path) for path in _folder().glob("*.json")]
    return sorted((one for one in found if one and one.host), key=lambda one: one.topic)


def find(name: str, project: Project | None = None) -> Known:
    """Return the board of this name; "" is the project's, or the only one."""
    boards = every()
    if not name and project is not None:
        name = str(project.load().get("remote") or "")
    fitting = [one for one in boards if not name or name in one.names]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(one.label for one in boards) or "none"
    if not boards:
        raise CommandError(
            "no board is known that a broker leads to: make a key by `tenner release --new-key`, "
            "set mqtt.host by `tenner setup`, and run `tenner sync` once over the cable"
        )
    if not fitting:
        raise CommandError(f"no board {name!r} is known at a broker; known: {known}")
    raise CommandError(f"several boards are known: name one, as in --via mqtt:NAME ({known})")


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
    path = _place(known.device)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.unlink(missing_ok=True)
    # Private from its first byte on: it has the keys.
    number = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "w", encoding="utf-8") as file:
        file.write(json.dumps(asdict(known), indent=1))
    os.replace(temporary, path)


def _pem(der: bytes) -> str:
    text = base64.encodebytes(der).decode()
    return f"-----BEGIN CERTIFICATE-----\n{text}-----END CERTIFICATE-----\n"
