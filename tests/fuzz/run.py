"""Mutates seeds and earlier finds, by hypothesis, and reports the smallest input that breaks a
target."""

from __future__ import annotations

import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS, Target

CORPUS = Path(__file__).resolve().parent / "corpus"
_EDITS = 6
_BATCH = 500
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


def fuzz(name: str, examples: int, number: int = 0) -> None:
    """Run so many inputs; raise the first failure, after its input was made small."""
    target = TARGETS[name]
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


def fuzz_for(name: str, seconds: float) -> int:
    """Fuzz a target for so long; return how many inputs that were."""
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        fuzz(name, _BATCH, time.time_ns())
        count += _BATCH
    return count
