"""The whole agent with an ESP32's memory: a heap that grows, and the rest for Wi-Fi and TLS."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Callable
from functools import cache

from tests.bench.agent import SHORT, Agent, Died, agent
from tests.bench.heap import CHIP_SENSOR
from tests.bench.images import CHAIN_BYTES, CHIP, Image
from tests.bench.rows import NotMeasured, Row
from tests.hw.turns import asks

#: The first part of Python's heap on an ESP32; the rest it takes from the other memory.
FIRST_KB = 56
TURNS = 200
#: Turns for each chain of certificates.
CHAIN_TURNS = 50
_NO_MEMORY = re.compile(
    r"ENOMEM|Out of Memory|too little|no answer from Telegram: 12|" + SHORT.pattern
)


def failure(running: Agent) -> str:
    """The first line that reports a lack of memory, "" if none does."""
    with contextlib.suppress(StopIteration):
        return next(line for line in list(running.lines) if _NO_MEMORY.search(line))
    return ""


#: A mistake in it takes memory that a stock ESP32 does not have beside a connection.
_HEARTBEAT = "- (every 1h; when chip.temperature > 90; notify) The chip is hot.\n"


@cache
def turns(image: Image = CHIP, most: int = TURNS) -> tuple[int, int, str]:
    """Return (turns in a row without a failure, the least free memory of ESP-IDF, the first
    failure)."""
    with agent(FIRST_KB, image=image, files=CHIP_SENSOR, heartbeat=_HEARTBEAT) as running:
        done = 0
        wrong = ""
        try:
            running.idle()
            for ask in asks(most):
                running.ask(ask.text, ask.answer)
                wrong = failure(running)
                if wrong:
                    break
                done += 1
            return done, running.live("least"), wrong
        except Died as exc:
            wrong = failure(running) or str(exc)
        try:
            return done, running.live("least"), wrong
        except Died:
            return done, 0, wrong


def turns_in_row() -> float:
    done, _, wrong = turns()
    if wrong:
        print(f"after {done} turns: {wrong}")
    return done


def idf_least_kb() -> float:
    done, least, wrong = turns()
    if not done:
        raise NotMeasured(f"no turn was done: {wrong}")
    return least / 1024


def _of(chain: str) -> Callable[[], float]:
    """The same where both servers send this chain."""

    def measure() -> float:
        done, _, wrong = turns(dataclasses.replace(CHIP, chain=chain), CHAIN_TURNS)
        if wrong:
            print(f"after {done} turns: {wrong}")
        return done

    return measure


ROWS = [
    Row("heap.chip.turns", "an ESP32's memory: turns in a row, nothing short", "turns", turns_in_row, TURNS, floor=True),  # noqa: E501
    *(Row(f"heap.chip.turns.{chain}", f"the same, both servers send the chain {chain!r}", "turns", _of(chain), CHAIN_TURNS, floor=True) for chain in CHAIN_BYTES),  # noqa: E501
    Row("heap.chip.idf_least_kb", "there: the least left for Wi-Fi and TLS", "KB", idf_least_kb, 24, floor=True),  # noqa: E501
]  # fmt: skip

__all__ = ["FIRST_KB", "ROWS", "TURNS", "failure", "turns"]
