"""Memory and start of the agent on Linux, under the kit's MicroPython and under CPython."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import queue
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tenner_host.errors import CommandError
from tenner_host.linux import kit, release
from tenner_sim.services import OWNER, Services
from tests.bench.rows import NotMeasured

TURNS = 100
_PATIENCE_S = 60.0
_STARTS = 5


def ask(services: Services, number: int, patience_s: float) -> None:
    """One turn, every other one with a tool."""
    text = f"say turn {number}" if number % 2 else 'call list_dir {"path":"/workspace"}'
    services.telegram.say(OWNER, text)
    services.telegram.wait_sent(number + 1, patience_s)


def resident_mb(status: str) -> float:
    """Memory of a process in MB, its share of mapped files included, from /proc/PID/status."""
    row = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(row.split()[1]) / 1024


def _environment() -> dict[str, str]:
    """The environment of a service: it may keep compiled code."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "TENNER_PYTHON": sys.executable}


class Agent:
    """One agent of a release, started as the service starts it."""

    def __init__(self, folder: Path, services: Services, runtime: str) -> None:
        self.services = services
        root = folder / "root"
        (root / "certs").mkdir(parents=True, exist_ok=True)
        (root / "certs" / "stand-in.der").write_bytes(services.ca_der)
        (root / "config.json").write_text(json.dumps(services.settings()))
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [folder / "tenner-agent", "--root", root],
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)

    def settle(self) -> None:
        """Wait for the end of the start-up work; the turns come after it."""
        deadline = time.monotonic() + _PATIENCE_S
        while "started: " not in self.lines.get(timeout=deadline - time.monotonic()):
            pass

    def rss_mb(self) -> float:
        return resident_mb(Path(f"/proc/{self.process.pid}/status").read_text())

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def _unpacked(runtime: str) -> Iterator[Path]:
    if platform.system() != "Linux":
        raise NotMeasured(f"needs Linux, this is {platform.system()}")
    architecture = kit.MACHINES.get(platform.machine())
    if architecture is None and runtime == "micropython":
        raise NotMeasured(f"there is no kit for {platform.machine()}")
    try:
        made = release.build(runtime, architecture, None)
    except CommandError as exc:
        raise NotMeasured(exc.message) from exc
    with tempfile.TemporaryDirectory() as folder:
        packed = Path(folder, "release.tar.gz")
        packed.write_bytes(made.packed(made.files))
        with tarfile.open(packed) as archive:
            archive.extractall(folder)
        yield Path(folder)


def _rss_mb(runtime: str) -> float:
    with _unpacked(runtime) as folder, Services() as services:
        agent = Agent(folder, services, runtime)
        try:
            agent.settle()
            for number in range(TURNS):
                ask(services, number, _PATIENCE_S)
            return agent.rss_mb()
        finally:
            agent.close()


def _start_ratio(runtime: str) -> float:
    """Time from the start to the first request to Telegram, in starts of `python3 -c pass`."""
    with _unpacked(runtime) as folder, Services() as services:
        seconds, bare = [], []
        for _ in range(_STARTS):
            begun = time.monotonic()
            subprocess.run([sys.executable, "-c", "pass"], check=True)
            bare.append(time.monotonic() - begun)
            before = len(services.telegram.requests)
            agent = Agent(folder, services, runtime)
            try:
                services.telegram.wait_requests(before + 1, _PATIENCE_S)
                seconds.append(time.monotonic() - agent.begun)
            finally:
                agent.close()
        return statistics.median(seconds) / statistics.median(bare)


def rss_micropython_mb() -> float:
    return _rss_mb("micropython")


def rss_cpython_mb() -> float:
    return _rss_mb("cpython")


def start_micropython() -> float:
    return _start_ratio("micropython")


def start_cpython() -> float:
    return _start_ratio("cpython")
