"""Memory and start of the agent on an emulated riscv64 board: a real kernel, deployed as its owner
would.

Each figure takes minutes, so these rows are measured only on request.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from tenner_host import debian
from tenner_host.board.linux_board import LinuxBoard
from tenner_host.board.ports import Port
from tenner_host.errors import CommandError
from tenner_host.linux import deploy
from tenner_host.project import Project
from tenner_sim.services import Services
from tests.bench import linux
from tests.bench.rows import NotMeasured, Row
from tests.qemu.riscv64 import OUTSIDE, Computer

_PATIENCE_S = 120.0
_STARTS = 5
_AGENT = "/opt/tenner/current/tenner-agent --root /var/lib/tenner --config /etc/tenner/config.json"


@contextlib.contextmanager
def _board(runtime: str) -> Iterator[tuple[Computer, Services]]:
    """A board with the agent as a service, and the services that the agent talks to."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        top = Path(folder, "computer")
        top.mkdir()
        project = Project(Path(folder))
        try:
            computer = stack.enter_context(Computer(top, python=True))
        except (debian.CannotFetch, OSError) as exc:
            raise NotMeasured(f"there is no emulated riscv64 board here: {exc}") from exc
        stack.enter_context(mock.patch.dict(os.environ, TENNER_SSH=computer.ssh))
        services = stack.enter_context(Services())
        computer.set_clock()
        computer.run(f"echo '{OUTSIDE} localhost' >/etc/hosts")
        with LinuxBoard(Port("ssh://board")) as board:
            board.write_files(
                {
                    "/config.json": json.dumps(services.settings()).encode(),
                    "/certs/stand-in.der": services.ca_der,
                }
            )
            try:
                deploy.deploy(board, project, ask=lambda *_: "skip", runtime=runtime)
            except CommandError as exc:
                raise NotMeasured(exc.message) from exc
        yield computer, services


@functools.cache
def _idle_memory(runtime: str) -> linux.Memory:
    """Of the agent after the turns."""
    with _board(runtime) as (computer, services):
        for number in range(linux.TURNS):
            linux.ask(services, number, _PATIENCE_S)
        files = " ".join(linux.MEMORY_FILES)
        return linux.memory(
            computer.run(f"cd /proc/$(cat /run/tenner/agent) && cat {files} || true")
        )


def _start_ratio(runtime: str) -> float:
    """Time from the start to the first request to Telegram, in starts of `python3 -c pass`
    there."""
    with _board(runtime) as (computer, services):
        computer.run("/opt/tenner/current/ctl stop")
        seconds, bare = [], []
        for _ in range(_STARTS):
            with _begun(computer, "python3 -c pass; echo end; cat") as (process, begun):
                assert process.stdout is not None
                process.stdout.readline()
                bare.append(time.monotonic() - begun)
            before = len(services.telegram.requests)
            agent = f"{_AGENT} </dev/null >/dev/null 2>&1 & cat; kill $!"
            with _begun(computer, agent) as (_, begun):
                services.telegram.wait_requests(before + 1, _PATIENCE_S)
                seconds.append(time.monotonic() - begun)
        return statistics.median(seconds) / statistics.median(bare)


@contextlib.contextmanager
def _begun(computer: Computer, line: str) -> Iterator[tuple[subprocess.Popen[str], float]]:
    """Run a line of shell there until its input ends; yield the process and its start time,
    without the time to get there."""
    with subprocess.Popen(
        computer.command(f"echo begin; {line}"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdout.readline()
        yield process, time.monotonic()
        process.stdin.close()


ROWS = [
    Row("riscv64.rss.micropython_mb", "the agent after 100 turns", "MB", lambda: _idle_memory("micropython").rss, 4, "10-20"),  # noqa: E501
    Row("riscv64.rss.cpython_mb", "the same under CPython", "MB", lambda: _idle_memory("cpython").rss, 20, "10-20"),  # noqa: E501
    Row("riscv64.pss.micropython_mb", "its share of pages that other processes map too", "MB", lambda: _idle_memory("micropython").pss),  # noqa: E501
    Row("riscv64.pss.cpython_mb", "the same under CPython", "MB", lambda: _idle_memory("cpython").pss),  # noqa: E501
    Row("riscv64.start.micropython", "start to the first poll, as python3 -c pass", "times", lambda: _start_ratio("micropython")),  # noqa: E501
    Row("riscv64.start.cpython", "the same under CPython", "times", lambda: _start_ratio("cpython")),  # noqa: E501
]  # fmt: skip
