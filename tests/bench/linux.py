"""Memory and start of the agent on Linux, under the kit's MicroPython and under CPython."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Memory:
    """Of a process, in MB. RSS counts each page of it; PSS divides a page that others map too
    among them."""

    rss: float
    reported_pss: float | None

    @property
    def pss(self) -> float:
        if self.reported_pss is None:
            raise NotMeasured("this kernel has no /proc/PID/smaps_rollup")
        return self.reported_pss


#: The files of a process that `memory` reads; an old kernel lacks the second.
MEMORY_FILES = ("status", "smaps_rollup")


def memory(text: str) -> Memory:
    """From the content of MEMORY_FILES."""
    rows = re.findall(r"^(VmRSS|Pss):\s+(\d+) kB$", text, re.M)
    found = {name: int(kilobytes) / 1024 for name, kilobytes in rows}
    return Memory(found["VmRSS"], found.get("Pss"))


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
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
        )

    def memory(self) -> Memory:
        folder = Path("/proc", str(self.process.pid))
        return memory(
            "".join(path.read_text() for name in MEMORY_FILES if (path := folder / name).exists())
        )

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


@functools.cache
def _idle_memory(runtime: str) -> Memory:
    """Of the idle agent after TURNS turns."""
    with _unpacked(runtime) as folder, Services() as services:
        agent = Agent(folder, services, runtime)
        try:
            for number in range(TURNS):
                ask(services, number, _PATIENCE_S)
            return agent.memory()
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
    return _idle_memory("micropython").rss


def pss_micropython_mb() -> float:
    return _idle_memory("micropython").pss


def rss_cpython_mb() -> float:
    return _idle_memory("cpython").rss


def pss_cpython_mb() -> float:
    return _idle_memory("cpython").pss


def start_micropython() -> float:
    return _start_ratio("micropython")


def start_cpython() -> float:
    return _start_ratio("cpython")
