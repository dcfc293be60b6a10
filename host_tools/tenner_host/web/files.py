"""The files of a board that the page shows, read at one go, and the two that it writes."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from typing import Any

from tenner_host.board.board import Board, Started
from tenner_host.errors import CommandError, Conflict
from tenner_host.heartbeat.check import NAME
from tenner_host.sensors.ring import PATHS, Series, read_ring
from tenner_host.setup import settings as store

HEARTBEAT = f"/workspace/{NAME}"
SENSORS = "/workspace/SENSORS.json"
RUN_LOG = "/state/runs.jsonl"


@dataclass
class Snapshot:
    """The files as they were at a time."""

    at: int
    info: dict[str, Any]
    heartbeat: bytes | None
    sensors: bytes | None
    settings: store.Settings
    run_log: bytes
    #: The files of the readings, and the readings.
    ring: dict[str, bytes] = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)


def version_of(data: bytes | None) -> str:
    """A name for the content of a file; "" for none."""
    return "" if data is None else hashlib.sha256(data).hexdigest()[:32]


def read(board: Board) -> Snapshot:
    """Read all of it."""
    files = board.read_files([*PATHS, HEARTBEAT, SENSORS, store.PATH, RUN_LOG])
    ring = {path: data for path, data in files.items() if path in PATHS}
    config = files.get(store.PATH)
    return Snapshot(
        at=int(time.time()),
        info=board.info().as_json(),
        heartbeat=files.get(HEARTBEAT),
        sensors=files.get(SENSORS),
        settings=store.parse(config.decode(errors="replace"), store.PATH) if config else {},
        run_log=files.get(RUN_LOG, b""),
        ring=ring,
        series=read_ring(ring),
    )


def write_heartbeat(board: Board, text: bytes, base: str) -> None:
    """Replace HEARTBEAT.md; Conflict if it is no longer the version `base`."""
    # A Linux board refuses to overwrite a file that this connection has not seen.
    board.manifest([HEARTBEAT])
    there = board.read_files([HEARTBEAT]).get(HEARTBEAT)
    if version_of(there) != base:
        raise Conflict("the agent has changed HEARTBEAT.md meanwhile: read it again")
    board.make_folders(["/workspace"])
    board.write_files({HEARTBEAT: text})


def write_settings(board: Board, changes: dict[str, str]) -> Started:
    """Change settings and restart the agent; CommandError with the firmware's sentence for a
    wrong one."""
    data = board.read_files([store.PATH]).get(store.PATH)
    settings = store.parse(data.decode(errors="replace"), store.PATH) if data else {}
    for key, text in changes.items():
        if store.is_secret(key):
            raise CommandError(f"{key} is a secret: `tenner setup` asks for it")
        store.assign_text(settings, key, text)
    store.settle(settings, board)
    board.write_files({store.PATH: store.text(settings).encode()})
    return board.restart()
