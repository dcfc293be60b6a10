"""The processor's cost of a turn: opcodes, allocations, collections and imports, from a counting
interpreter."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from tests.bench.agent import IN_ANSWER, PATIENCE_S, QUESTION, Agent, Died, agent
from tests.bench.images import COUNTERS, COUNTING
from tests.bench.rows import NotMeasured

#: Enough that no step is retried for lack of memory; collections depend on gc.threshold, not on
#: this.
HEAP_KB = 160
_TURNS_BEFORE, _TURNS, _POLLS = 3, 5, 10
#: Idle means that no count changes for so long.
_QUIET_S, _LOOK_S = 0.5, 0.05
#: So long that no poll ends during another measurement.
_LONG_POLL_S = 50


class Counts(NamedTuple):
    """The fields of tests/variants/variant/counters.h."""

    opcodes: int
    allocated: int
    collections: int
    imports: int

    def since(self, before: Counts) -> Counts:
        return Counts(*(now - then for now, then in zip(self, before, strict=True)))


def _counts(running: Agent) -> Counts:
    return Counts(*struct.unpack("4Q", (running.root / COUNTERS).read_bytes()[:32]))


def _settled(running: Agent) -> Counts:
    """Wait until the counts stand still; return them."""
    end = time.monotonic() + PATIENCE_S
    last, since = _counts(running), time.monotonic()
    while time.monotonic() - since < _QUIET_S:
        time.sleep(_LOOK_S)  # another process counts
        now = _counts(running)
        if now != last:
            last, since = now, time.monotonic()
        if running.ended or time.monotonic() > end:
            raise Died(f"it does not come to rest; {running.last()}")
    return last


@contextmanager
def _agent(poll_s: int, messages: int = 0) -> Iterator[Agent]:
    settings: dict[str, object] = {"telegram": {"poll_s": poll_s}}
    try:
        with agent(
            HEAP_KB, image=COUNTING, messages=messages, settings=settings, mode="quiet"
        ) as running:
            running.services.telegram.wait_requests(1, PATIENCE_S)
            yield running
    except Died as exc:
        raise NotMeasured(str(exc)) from exc


@cache
def turn() -> Counts:
    """The average cost of a turn with a tool, from the message to the end of all its
    consequences."""
    with _agent(_LONG_POLL_S) as running:
        _settled(running)
        for _ in range(_TURNS_BEFORE):
            running.ask(QUESTION, IN_ANSWER)
        before = _settled(running)
        for _ in range(_TURNS):
            running.ask(QUESTION, IN_ANSWER)
            after = _settled(running)
    return Counts(*(count // _TURNS for count in after.since(before)))


@cache
def first_turn(messages: int) -> Counts:
    """The cost of the first turn after the start, with a history of so many messages."""
    with _agent(_LONG_POLL_S, messages) as running:
        before = _settled(running)
        running.ask(QUESTION, IN_ANSWER)
        return _settled(running).since(before)


def turn_imports() -> float:
    return turn().imports


def turn_opcodes() -> float:
    return turn().opcodes


def turn_allocated_kb() -> float:
    return turn().allocated / 1024


def turn_collections() -> float:
    return turn().collections


def poll_opcodes() -> float:
    """Opcodes of a poll for messages that finds none."""
    with _agent(1) as running:
        telegram = running.services.telegram

        def at(polls: int) -> int:
            telegram.wait_requests(polls, PATIENCE_S, "getUpdates")
            return _counts(running).opcodes

        first = len(telegram.requests) + 3
        begun = at(first)
        return (at(first + _POLLS) - begun) / _POLLS


def history_factor() -> float:
    """Opcodes of the first turn with a history of 10,000 messages, in those with 10."""
    return first_turn(10_000).opcodes / first_turn(10).opcodes
