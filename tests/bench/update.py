"""An update over the network: its heap, its time and bytes beside a sync by cable, and the wear of
the flash."""

from __future__ import annotations

import functools
import subprocess
import tempfile
import time
from pathlib import Path

from tenner_host import FIRMWARE, interpreters
from tenner_host.release import keys
from tenner_sim.services import OWNER
from tenner_sim.vboard import VirtualBoard
from tests.bench import heap, sync
from tests.bench.cable import Cable
from tests.host.e2e import agent_board
from tests.host.releases import Server, code, public, put_board, release

_VERSION = "9.0.0"
_LIMIT_S = 300
_POWERCUT = Path(__file__).resolve().parents[1] / "host" / "powercut_update.py"


def one_update(heap_kb: int) -> None:
    """An update to the same code with another version; Died when it does not fit."""
    with Server(release(code(_VERSION), _VERSION)) as server:
        with heap.agent(heap_kb, settings={"update": {"url": server.url}}) as running:
            (running.root / keys.ON_BOARD.lstrip("/")).write_bytes(public())
            running.idle()
            running.services.telegram.say(OWNER, f"/update {_VERSION}")
            running.wait_line(f"{_VERSION} is in place: restarting")


def min_kb() -> float:
    return heap.smallest_kb(one_update)


@functools.cache
def _beside_cable() -> tuple[float, float]:
    """Seconds and bytes of an update, from `/update` to the restart, per those of a sync of the
    same code to an empty virtual board."""
    with tempfile.TemporaryDirectory() as name, VirtualBoard({}, tcp_port=0) as board:
        assert board.tcp_port is not None
        (Path(name) / "workspace").mkdir()
        with Cable(board.tcp_port) as line:
            sync_s = sync.run_tool(Path(name), "tenner_host.cli", "sync", "--port", line.url)
            sync_bytes = line.bytes
    body = release(code(_VERSION), _VERSION)
    with Server(body) as server:
        files = {keys.ON_BOARD: public()}
        with agent_board(files=files, changes={"update.url": server.url}) as bench:
            bench.ready()
            begun = time.monotonic()
            bench.telegram.say(OWNER, f"/update {_VERSION}")
            bench.wait_for(f"{_VERSION} is in place: restarting", _LIMIT_S)
            seconds = time.monotonic() - begun
    return seconds / sync_s, len(body) / sync_bytes


def time_ratio() -> float:
    return _beside_cable()[0]


def bytes_ratio() -> float:
    return _beside_cable()[1]


@functools.cache
def _wear() -> tuple[int, int]:
    """Erased blocks and written bytes of an update of all code, on a littlefs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        put_board(folder)
        (folder / "release").write_bytes(release(code("8.0.0"), "8.0.0"))
        (folder / "next_release").write_bytes(release(code(_VERSION), _VERSION))
        done = subprocess.run(
            interpreters.find_micropython().command(_POWERCUT, "wear", folder, heap="16M"),
            env={
                "MICROPYPATH": interpreters.search_path(folder, FIRMWARE, _POWERCUT.parent),
            },
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=True,
        )
    erased, written = done.stdout.split()[-2:]
    return int(erased), int(written)


def erases() -> float:
    return _wear()[0]


def written_kb() -> float:
    return _wear()[1] / 1024
