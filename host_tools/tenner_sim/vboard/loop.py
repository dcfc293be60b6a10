"""The select loop of all parts of the virtual board: files to watch, times to keep."""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable
from typing import Any

READ = selectors.EVENT_READ
WRITE = selectors.EVENT_WRITE


class Part:
    """A part of the loop with hooks before and after each wait; every method is optional."""

    def prepare(self) -> None:
        """Called before the wait, to set watches."""

    def deadline(self) -> float | None:
        """The latest time for the next `run_timers`, in `Loop.now` time."""
        return None

    def run_timers(self, now: float) -> None:
        """Called after each wait."""


class Loop:
    """Waits for all parts, in one thread."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.parts: list[Part] = []
        self.stopping = False

    def now(self) -> float:
        return time.monotonic()

    def watch(self, end: Any, events: int, callback: Callable[[Any, int], None]) -> None:
        """Call `callback(end, events)` when `end` is readable or writable; 0 ends the watch."""
        closed = hasattr(end, "fileno") and end.fileno() < 0
        known = not closed and end in self._selector.get_map()
        if not events:
            if known:
                self._selector.unregister(end)
        elif not known:
            self._selector.register(end, events, callback)
        else:
            key = self._selector.get_key(end)
            if key.events != events or key.data != callback:
                self._selector.modify(end, events, callback)

    def forget(self, end: Any) -> None:
        """End the watch on `end`."""
        self.watch(end, 0, _nothing)

    def run(self) -> None:
        """Run until `stopping` is set."""
        while not self.stopping:
            for part in list(self.parts):
                part.prepare()
            for key, events in self._selector.select(self._timeout()):
                # An earlier callback of this round may have closed it, and another file may have
                # its number now.
                current = self._selector.get_map().get(key.fd)
                if current is not None and current.data == key.data:
                    key.data(key.fileobj, events)
            for part in list(self.parts):
                part.run_timers(self.now())

    def _timeout(self) -> float | None:
        deadlines = [at for at in (part.deadline() for part in self.parts) if at is not None]
        return max(0.0, min(deadlines) - self.now()) if deadlines else None


def _nothing(end: Any, events: int) -> None:
    """The callback for files without a watch."""
