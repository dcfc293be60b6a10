# tenner page.events: the newest events, numbered, for the streams of open pages.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
from binascii import hexlify
from os import urandom

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: So many are kept for a page that comes back after a reload or a lost connection.
_KEPT = const(300)


class Events:
    """`now()` is the time in Unix seconds. A reader that falls behind misses the oldest."""

    def __init__(self, now: "Callable[[], int]") -> None:
        self._now = now
        #: A word for this numbering, since a restart begins a new one.
        self.start = hexlify(urandom(8)).decode()
        self._kept: list[dict] = []
        #: The number of the newest event.
        self.last = 0
        self._waiting: list[asyncio.Event] = []

    def publish(self, kind: str, fields: "dict[str, Any]") -> None:
        """Keep an event with these further fields, and wake its readers."""
        self.last += 1
        event = {"id": self.last, "type": kind, "at": self._now()}
        event.update(fields)
        self._kept.append(event)
        if len(self._kept) > _KEPT:
            self._kept.pop(0)
        for waiting in self._waiting:
            waiting.set()

    def after(self, number: int) -> "list[dict[str, Any]]":
        """Return the kept events behind this number, oldest first."""
        return [event for event in self._kept if event["id"] > number]

    def of(self, kind: str) -> "list[dict[str, Any]]":
        """Return the kept events of a type, oldest first."""
        return [event for event in self._kept if event["type"] == kind]

    async def wait(self, number: int, limit_s: float, waiting: asyncio.Event) -> None:
        """Wait until there is an event behind this number, or `waiting` is set, but no longer than
        `limit_s`."""
        if self.last > number:
            return
        self._waiting.append(waiting)
        try:
            await asyncio.wait_for(waiting.wait(), limit_s)
        except asyncio.TimeoutError:
            pass
        finally:
            self._waiting.remove(waiting)
