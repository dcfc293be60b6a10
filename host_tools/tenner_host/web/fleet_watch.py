"""The boards of a fleet as their messages at the broker report them, while they come."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tenner_host.output import visible
from tenner_host.remote.broker import Broker, Message
from tenner_host.remote.reported import ALERT, Board
from tenner_host.sensors.shape import unit_of

#: Look so often whether the server ends.
_STEP_S = 0.5
#: A broker may have anything below the topic.
_MAX_BOARDS = 500
_MAX_VALUES = 40
_MAX_TEXT = 80


@dataclass
class Watched:
    """A board, and when a message of it came: in Unix seconds, None before the first new one."""

    board: Board
    seen: int | None = None
    #: The longest time between two messages since it is online, in seconds.
    pause_s: int = 0
    is_first: bool = True
    #: Has it sent an alert since somebody looked?
    has_alerted: bool = False

    def as_json(self) -> dict[str, Any]:
        """The board for a page; everything in it is the broker's word."""
        state = self.board.state
        heap = _number(state.get("heap_free"))
        return {
            "topic": visible(self.board.topic),
            "name": _text(state.get("name")),
            "status": self.board.status
            if self.board.status in ("online", "offline")
            else "unknown",
            "version": _text(state.get("version")),
            "up_s": _number(state.get("up_s")),
            "heap_free_kb": None if heap is None else int(heap) // 1024,
            "sensors": list(_values(self.board.sensors))[:_MAX_VALUES],
            "seen": self.seen,
            "pause_s": self.pause_s,
        }

    def hear(self, now: int) -> None:
        """Take the time of a new message. The broker sends the last will of a board that is
        gone."""
        if self.board.status == "offline":
            self.pause_s = 0
            self.is_first = True
            return
        if self.seen is not None and not self.is_first:
            self.pause_s = max(self.pause_s, now - self.seen)
        self.is_first = False
        self.seen = now


class FleetWatch:
    """`changed` gets the topic of a board with news, in the thread of the watch."""

    def __init__(self, broker: Broker, topic: str, changed: Callable[[str], None]) -> None:
        self._broker = broker
        self._topic = topic
        self._changed = changed
        self._lock = threading.Lock()
        self._boards: dict[str, Watched] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fleet", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def topics(self) -> list[str]:
        """The topics of all boards so far, in order."""
        with self._lock:
            return sorted(self._boards)

    def find(self, topic: str) -> Watched | None:
        with self._lock:
            return self._boards.get(topic)

    def _run(self) -> None:
        while not self._stopping.is_set():
            found = self._broker.next(_STEP_S)
            if found is not None:
                self._take(found)

    def _take(self, found: Message) -> None:
        name, _, kind = found.topic.removeprefix(f"{self._topic}/").partition("/")
        topic = f"{self._topic}/{name}"
        with self._lock:
            watched = self._boards.get(topic)
            if watched is None:
                if len(self._boards) >= _MAX_BOARDS or kind == ALERT:
                    return
                watched = self._boards[topic] = Watched(Board(topic))
            if kind == ALERT:
                watched.has_alerted = True
            else:
                watched.board.take(kind, found.data.decode(errors="replace"))
            if not found.is_retained:
                watched.hear(int(time.time()))
        self._changed(topic)


def _text(value: object) -> str | None:
    return visible(value)[:_MAX_TEXT] if isinstance(value, str) and value else None


def _number(value: object) -> float | None:
    is_number = isinstance(value, (int, float)) and math.isfinite(value)
    return value if is_number else None  # type: ignore[return-value]


def _values(sensors: dict[str, dict[str, Any]]) -> Any:
    """Each value of each sensor with its name."""
    for sensor, values in sorted(sensors.items()):
        for name, value in sorted(values.items()):
            number = _number(value)
            if number is not None:
                yield {
                    "name": visible(f"{sensor}.{name}")[:_MAX_TEXT],
                    "unit": unit_of(name),
                    "value": float(number),
                }
