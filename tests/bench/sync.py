"""`tenner sync` beside `mpremote cp -r`: the same files, the same virtual board, whole commands as
one types them."""

from __future__ import annotations

import functools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tenner_host import ROOT, build
from tenner_host.board.opening import open_board
from tenner_sim.vboard import VirtualBoard
from tests.bench.cable import Cable
from tests.bench.rows import NotMeasured

_LIMIT_S = 300
_ENTERED = 7
#: On a pseudo-terminal a command takes a second or two, so other load on the machine shows.
_ROUNDS = 3
#: Never at rest, as an agent is not: a loop that wakes every few milliseconds.
_BUSY = b"""
import asyncio

async def agent():
    print("agent runs")
    while True:
        await asyncio.sleep_ms(3)

asyncio.run(agent())
"""


@dataclass(frozen=True)
class Cost:
    """The cost of one command; round trips are counted on a cable only."""

    seconds: float
    round_trips: int = 0


@dataclass(frozen=True)
class Compared:
    """The same task by both tools."""

    ours: Cost
    mpremote: Cost

    @property
    def time(self) -> float:
        return self.ours.seconds / self.mpremote.seconds

    @property
    def trips(self) -> float:
        return self.ours.round_trips / self.mpremote.round_trips


def run_tool(folder: Path, *command: str) -> float:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # An installed tool has its bytecode; a checkout caches it too, unless this variable is set.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    # 1: the agent ends for lack of settings; the deployment itself is complete.
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise NotMeasured(
            f"{' '.join(command)} failed: {(done.stderr or done.stdout)[-300:].strip()}"
        )
    return time.monotonic() - begun


@functools.cache
def compared(cable: bool = True) -> dict[str, Compared]:
    """`deploy` to an empty board, and `unchanged` on the same board after it; over a cable or on a
    pseudo-terminal.

    The cable is a socket, on which mpremote behaves as on every serial port: it pauses for 10 ms
    between two polls. On a pseudo-terminal it omits the pause, and is faster than on any board;
    the best of some rounds counts.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "workspace").mkdir()
        files = folder / "files"
        build.write_tree(build.firmware_tree("VIRTUAL", workspace=False), files)
        ours = ("tenner_host.cli", "sync", "--port", "PORT")
        theirs = ("mpremote", "connect", "PORT", "cp", "-r", f"{files}/.", ":", "+", "reset")
        costs = [
            [_twice(folder, command, cable) for command in (ours, theirs)]
            for _ in range(1 if cable else _ROUNDS)
        ]

        def best(tool: int, task: str) -> Cost:
            return min((one[tool][task] for one in costs), key=lambda cost: cost.seconds)

        return {task: Compared(best(0, task), best(1, task)) for task in ("deploy", "unchanged")}


def _twice(folder: Path, command: tuple[str, ...], cable: bool) -> dict[str, Cost]:
    """Run the command on an empty board, then again."""
    found: dict[str, Cost] = {}

    def run(port: str) -> float:
        return run_tool(folder, *(port if word == "PORT" else word for word in command))

    with VirtualBoard({}, tcp_port=0) as board:
        assert board.tcp_port is not None
        for task in ("deploy", "unchanged"):
            if not cable:
                found[task] = Cost(run(board.pty))
                continue
            with Cable(board.tcp_port) as line:
                found[task] = Cost(run(line.url), line.round_trips)
    return found


def deploy_time() -> float:
    return compared()["deploy"].time


def deploy_trips() -> float:
    return compared()["deploy"].trips


def unchanged_time() -> float:
    return compared()["unchanged"].time


def unchanged_trips() -> float:
    return compared()["unchanged"].trips


def deploy_time_pty() -> float:
    return compared(False)["deploy"].time


def unchanged_time_pty() -> float:
    return compared(False)["unchanged"].time


def enter_repl_ms() -> float:
    """From the closed port of a busy board to its raw prompt, in the middle of several times."""
    with VirtualBoard({"/main.py": _BUSY}) as board:
        times = []
        for _ in range(_ENTERED):
            board.wait_for("agent runs")
            begun = time.monotonic()
            with open_board(board.pty):
                times.append((time.monotonic() - begun) * 1000)
    return statistics.median(times)
