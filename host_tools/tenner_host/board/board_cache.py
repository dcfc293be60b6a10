"""The last known state of boards, for times when a query would stop their agents."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

from tenner_host.board.info import Info
from tenner_host.board.ports import Port
from tenner_host.board.sims import sim_folder
from tenner_host.errors import CommandError
from tenner_host.places import cache_folder, write_whole


def _place(port: Port) -> tuple[Path, str] | None:
    """File and key; None for a port without an identity of its board."""
    if port.sim:
        return sim_folder() / port.sim / "seen.json", port.sim
    if port.serial:
        return cache_folder() / "boards.json", f"{port.vid:04x}:{port.pid:04x}:{port.serial}"
    return None


def _load(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def recall(port: Port) -> dict[str, Any]:
    """Return the last note of the board at this port; {} without one."""
    place = _place(port)
    if place is None:
        return {}
    found = _load(place[0]).get(place[1], {})
    return found if isinstance(found, dict) else {}


def note(port: Port, info: Info) -> None:
    """Store the newest info. A failure is no error: the note is a convenience."""
    place = _place(port)
    if place is None:
        return
    path, key = place
    values = {
        "machine": info.machine,
        "micropython": info.micropython,
        "agent": info.agent,
        "flash_free": info.flash_free,
        "flash_total": info.flash_total,
        "seen": int(time.time()),
    }
    with contextlib.suppress(CommandError):
        write_whole(path, json.dumps({**_load(path), key: values}, indent=1).encode())
