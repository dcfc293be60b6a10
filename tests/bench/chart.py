"""The smallest heap in which a board draws a chart and sends it to Telegram."""

from __future__ import annotations

from tests.bench import heap
from tests.bench.agent import Died, agent, readings

_FILES = {"/state/readings.1": readings(("room.temperature", "room.humidity"))}


def _draw(heap_kb: int, text: str, expect: str, count: int) -> None:
    """Ask for a chart, which comes in so many messages; Died when it does not fit."""
    with agent(heap_kb, files=_FILES) as running:
        running.idle()
        running.ask(text, expect)
        running.wait_sent(count)
        if running.services.telegram.sent[-1].file is None:
            raise Died(f"no picture came; {running.last()}")


def command_min_kb() -> float:
    return heap.smallest_kb(
        lambda heap_kb: _draw(heap_kb, "/chart room.temperature", "last 24 h", 1)
    )


def turn_min_kb() -> float:
    question = 'call chart {"value":"room.temperature"}'
    return heap.smallest_kb(lambda heap_kb: _draw(heap_kb, question, "follows your answer", 2))
