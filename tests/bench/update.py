"""An update over the network: its heap, its time and bytes beside a sync by cable, and the wear of
the flash."""

from __future__ import annotations

import contextlib
import functools
import subprocess
import tempfile
import time
from pathlib import Path

from tenner_host import FIRMWARE, interpreters
from tenner_host.release import keys
from tenner_host.remote import known
from tenner_host.remote.link import Link
from tenner_host.update.server import ReleaseServer
from tenner_sim.services import OWNER
from tenner_sim.services.authority import Authority
from tenner_sim.vboard import VirtualBoard
from tests.bench import heap, remote, sync
from tests.bench.cable import Cable
from tests.host import lan_board
from tests.host.broker import Broker
from tests.host.e2e import HEAP, agent_board
from tests.host.releases import Server, code, public, put_board, release
from tests.host.remote_board import remote_board

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
            running.wait_line(f"{_VERSION} is in place: restarting", unless="No update")


def min_kb() -> float:
    return heap.smallest_kb(one_update)


@functools.cache
def _by_cable() -> tuple[float, float]:
    """Seconds and bytes of a sync of the code to an empty virtual board."""
    with tempfile.TemporaryDirectory() as name, VirtualBoard({}, tcp_port=0) as board:
        assert board.tcp_port is not None
        (Path(name) / "workspace").mkdir()
        with Cable(board.tcp_port) as line:
            seconds = sync.run_tool(Path(name), "tenner_host.cli", "sync", "--port", line.url)
            return seconds, line.bytes


@functools.cache
def _from_url() -> tuple[float, float]:
    """Seconds of an update, from `/update` to the restart, and its bytes."""
    body = release(code(_VERSION), _VERSION)
    with Server(body) as server:
        files = {keys.ON_BOARD: public()}
        with agent_board(files=files, changes={"update.url": server.url}) as bench:
            bench.ready()
            begun = time.monotonic()
            bench.telegram.say(OWNER, f"/update {_VERSION}")
            bench.wait_for(f"{_VERSION} is in place: restarting", _LIMIT_S)
            seconds = time.monotonic() - begun
    return seconds, len(body) - _for_the_page(body)


def _for_the_page(body: bytes) -> int:
    """The bytes of the last files, before which a board without the page ends the connection."""
    head = body.partition(b"\nsignature ")[0].decode()
    return sum(int(line.split()[1]) for line in head.splitlines() if " page/" in line)


@functools.cache
def _from_computer(scheme: str) -> tuple[float, float]:
    """The same from the owner's computer, over a broker or straight over the network, where the
    board has its page."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(remote.own_computer())
        if scheme == known.LAN:
            board = stack.enter_context(lan_board.chip(heap=HEAP)).bench
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            made = Broker(folder, Authority(), more="log_type all\n")  # type: ignore[no-untyped-call]
            broker = stack.enter_context(made)
            board = stack.enter_context(remote_board(broker, heap=HEAP))
        link = stack.enter_context(contextlib.closing(Link(known.find("", None, scheme), scheme)))
        body = release(code(_VERSION), _VERSION)
        server = stack.enter_context(ReleaseServer(body, "127.0.0.1"))
        begun = time.monotonic()
        remote.begin_update(link, server)
        board.wait_for(f"{_VERSION} is in place: restarting", _LIMIT_S)
        seconds = time.monotonic() - begun
        return seconds, len(body) - (_for_the_page(body) if scheme == known.MQTT else 0)


def _ratio(found: tuple[float, float], number: int) -> float:
    return found[number] / _by_cable()[number]


def time_ratio() -> float:
    return _ratio(_from_url(), 0)


def bytes_ratio() -> float:
    return _ratio(_from_url(), 1)


def remote_time_ratio() -> float:
    return _ratio(_from_computer(known.MQTT), 0)


def remote_bytes_ratio() -> float:
    return _ratio(_from_computer(known.MQTT), 1)


def lan_time_ratio() -> float:
    return _ratio(_from_computer(known.LAN), 0)


def lan_bytes_ratio() -> float:
    return _ratio(_from_computer(known.LAN), 1)


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
