"""Mutates seeds and earlier finds, by hypothesis, and reports the smallest input that breaks a
target."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tenner_host import ROOT
from tenner_host.interpreters import Interpreter, search_path
from tests.fuzz.targets import TARGETS, Target

CORPUS = Path(__file__).resolve().parent / "corpus"
_EDITS = 6
_BATCH = 500
_LIMIT_S = 30
_TOKENS = (
    b"\0",
    b"\n",
    b"\r\n",
    b'"',
    b"\\",
    b"{",
    b"[",
    b"]",
    b"}",
    b"<",
    b"&",
    b"%",
    b"\x1b",
    b"\xff",
    b"\xe2\x80\xae",
)


def corpus(name: str) -> list[bytes]:
    """The seeds of a target, and the inputs kept in its folder."""
    return [
        *TARGETS[name].seeds,
        *(path.read_bytes() for path in sorted((CORPUS / name).glob("*"))),
    ]


@st.composite
def _mutated(draw: st.DrawFn, known: list[bytes]) -> bytes:
    data = draw(st.sampled_from(known))
    for _ in range(draw(st.integers(0, _EDITS))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.integers(0, 8)))
        piece = draw(st.one_of(st.just(b""), st.sampled_from(_TOKENS), st.binary(max_size=6)))
        if draw(st.booleans()):
            piece += data[at:end] * draw(st.integers(0, 4))
        data = data[:at] + piece + data[end:]
    return data


def check(target: Target, data: bytes) -> None:
    """Run a target; its permitted exceptions are no failure."""
    try:
        target.run(data)
    except target.refusals:
        pass


class Elsewhere:
    """A MicroPython that runs the parsers of tests/fuzz/parsers.py in a process of its own."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        paths = (ROOT / one for one in ("firmware", "tests/micropython", "tests"))
        return subprocess.Popen(
            self._interpreter.command(ROOT / "tests" / "fuzz" / "on_board.py", heap="2M"),
            cwd=ROOT,
            env={**os.environ, "MICROPYPATH": search_path(*paths)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )

    def target(self, name: str) -> Target:
        """The same parser there; an input takes seconds at most."""
        return Target(lambda data: self._run(name, data), TARGETS[name].seeds, ())

    def _run(self, name: str, data: bytes) -> None:
        stop = threading.Timer(_LIMIT_S, self._process.kill)
        stop.start()
        try:
            assert self._process.stdin and self._process.stdout
            self._process.stdin.write(f"{name} {data.hex()}\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        finally:
            stop.cancel()
        if not answer:
            self.close()
            self._process = self._start()
            answer = f"it ended, or took more than {_LIMIT_S} s"
        assert answer == "ok\n", answer

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def fuzz(name: str, examples: int, number: int = 0, other: Target | None = None) -> None:
    """Run so many inputs; raise the first failure, after its input was made small. `other`: the
    same target elsewhere."""
    target = other or TARGETS[name]
    strategy = st.one_of(_mutated(corpus(name)), st.binary(max_size=200))

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def run(data: bytes) -> None:
        check(target, data)

    run()


def fuzz_for(name: str, seconds: float, other: Target | None = None) -> int:
    """Fuzz a target for so long; return how many inputs that were."""
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        fuzz(name, _BATCH, time.time_ns(), other)
        count += _BATCH
    return count
