"""The smallest heap for all work at once: people, the heartbeat, and the outbox.

Three messages arrive at a time, and every other one needs a tool. Every five seconds the heartbeat
repeats an alarm, and asks the model, which reads a sensor and tells the owner. The outbox sends
all of it. A clean run answers everybody right, reports every beat, and is never short of memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from tenner_sim.services import OWNER, Sent
from tests.bench import heap
from tests.bench.agent import IN_ANSWER, PATIENCE_S, QUESTION, SHORT, Agent, Died, agent
from tests.bench.images import FROZEN, ROMFS, STOCK, Image

RUNS = 3
MESSAGES, AT_ONCE = 40, 3
BEAT_S = 5
HEARTBEAT = (
    f"- (every {BEAT_S}s; when room.temperature > 10; notify; repeat {BEAT_S}s) It is warm.\n"
    f"- (every {BEAT_S}s) Read the TMP102 at 0x48 on i2c0 and tell me the temperature.\n"
)
_TOLD = "The TMP102 at 0x48 on i2c0 reads 31.5 \N{DEGREE SIGN}C."

#: Three messages come so long after the last three; people come first, so a beat needs the time
#: between.
_GROUP_S, _PAUSE_S = 2.0, 1.0
#: A beat may wait for people, and for others on this machine.
_LATEST_BEAT_S = 3 * BEAT_S
_LOOK_S = 0.05


class _Run:
    """One run; Died when it is not clean."""

    def __init__(self, running: Agent) -> None:
        self.running = running
        self.telegram = running.services.telegram
        self._asked: dict[int, str] = {}  # message id -> text that its answer must contain

    def go(self) -> None:
        begun = time.monotonic()
        for first in range(0, MESSAGES, AT_ONCE):
            start = time.monotonic()
            for number in range(first, min(first + AT_ONCE, MESSAGES)):
                self._say(number)
            self._until(lambda: not self._waiting(), PATIENCE_S, "nobody answers")
            pause_s = max(_PAUSE_S, start + _GROUP_S - time.monotonic())
            self._until(lambda: False, pause_s)
        beats = len(self._beats())
        self._until(lambda: len(self._beats()) > beats, _LATEST_BEAT_S, "no beat was reported")
        wanted = int((time.monotonic() - begun) / (2 * BEAT_S))
        if len(self._beats()) < wanted:
            raise Died(f"{len(self._beats())} beats reported instead of {wanted} or more")

    def _say(self, number: int) -> None:
        with_tool = number % 2
        text = QUESTION if with_tool else f"say: word-{number}-"
        message = self.telegram.say(OWNER, text)
        self._asked[message["message_id"]] = IN_ANSWER if with_tool else f"word-{number}-"

    def _beats(self) -> Sequence[Sent]:
        return [one for one in list(self.telegram.sent) if one.text == _TOLD]

    def _waiting(self) -> int:
        """The number of messages without an answer; Died after a wrong answer."""
        answers = {one.reply_to: one.text for one in list(self.telegram.sent)}
        for message, holds in self._asked.items():
            if holds not in answers.get(message, holds):
                raise Died(f"answered {answers[message]!r}; {self.running.last()}")
        return sum(message not in answers for message in self._asked)

    def _until(self, holds: Callable[[], bool], limit_s: float, otherwise: str = "") -> None:
        """Wait, and check that memory is never short; Died with `otherwise` when the time is
        over."""
        end = time.monotonic() + limit_s
        seen = 0
        traced = False
        while not holds():
            lines = self.running.lines
            for line in lines[seen:]:
                seen += 1
                # The last line of a traceback has the error.
                if SHORT.search(line) or (traced and "  File " not in line):
                    raise Died(line)
                traced = traced or "Traceback" in line
            if self.running.ended:
                raise Died(self.running.last())
            if time.monotonic() > end:
                if otherwise:
                    raise Died(f"{otherwise}; {self.running.last()}")
                return
            time.sleep(_LOOK_S)  # looks at lists that other threads fill


def run(heap_kb: int, image: Image = STOCK) -> None:
    """One run in a heap of this size; Died when it is not clean."""
    settings: dict[str, object] = {"heartbeat": {"dedup_h": 0}}
    with agent(heap_kb, image=image, heartbeat=HEARTBEAT, settings=settings) as running:
        running.idle()
        _Run(running).go()


def runs(heap_kb: int, image: Image = STOCK) -> None:
    """All runs in parallel: an agent mostly waits. Died when one is not clean."""
    with ThreadPoolExecutor(RUNS) as pool:
        for done in [pool.submit(run, heap_kb, image) for _ in range(RUNS)]:
            done.result()


def min_kb(image: Image = STOCK) -> float:
    """The smallest heap in which every run is clean, in KB."""
    return heap.smallest_kb(lambda heap_kb: runs(heap_kb, image))


def romfs_min_kb() -> float:
    return min_kb(ROMFS)


def frozen_min_kb() -> float:
    return min_kb(FROZEN)
