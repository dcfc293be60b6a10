"""Events for the pages: the newest ones, numbered, and a bounded queue for each reader."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from typing import Any

#: So many are kept for a page that comes back after a reload or a lost connection.
_KEPT = 500
#: A reader that is so many behind is dropped; it comes back and gets the newest.
_BEHIND = 200

Event = dict[str, Any]


class Ended(Exception):
    """There are no more events for this reader: it has fallen behind, or the server ends."""


class Reader:
    """One reader's queue; get it from `Events.reader`."""

    def __init__(self, waiting: list[Event]) -> None:
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._is_slow = False
        for event in waiting:
            self._queue.put_nowait(event)

    def put(self, event: Event) -> None:
        if self._queue.qsize() < _KEPT + _BEHIND:
            self._queue.put_nowait(event)
        else:
            self._is_slow = True

    def end(self) -> None:
        self._queue.put_nowait(None)

    async def next(self, limit_s: float) -> Event | None:
        """The next event; None when none comes in time."""
        if self._is_slow:
            raise Ended
        try:
            event = await asyncio.wait_for(self._queue.get(), limit_s)
        except asyncio.TimeoutError:
            return None
        if event is None:
            raise Ended
        return event


class Events:
    """All of it belongs to the server's loop; `publish` may be called from any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._kept: deque[Event] = deque(maxlen=_KEPT)
        self._readers: set[Reader] = set()
        self._number = 0
        #: A word for this numbering, since a restart begins a new one.
        self.start = secrets.token_hex(8)

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Deliver in this loop; before that, events are only kept."""
        self._loop = loop

    def publish(self, kind: str, **fields: Any) -> None:
        event = {"type": kind, "at": round(time.time(), 3), **fields}
        if self._loop is None:
            self._deliver(event)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._deliver, event)

    def _deliver(self, event: Event) -> None:
        self._number += 1
        event["id"] = self._number
        self._kept.append(event)
        for reader in self._readers:
            reader.put(event)

    def reader(self, after: int) -> Reader:
        """A new reader; it begins with the kept events behind number `after`."""
        reader = Reader([event for event in self._kept if event["id"] > after])
        self._readers.add(reader)
        return reader

    def leave(self, reader: Reader) -> None:
        self._readers.discard(reader)

    def end(self) -> None:
        """End every reader, in the loop."""
        for reader in self._readers:
            reader.end()

    @property
    def last(self) -> int:
        """The number of the newest event."""
        return self._number

    def kept(self, kind: str) -> list[Event]:
        """The kept events of a type, oldest first."""
        return [event for event in self._kept if event["type"] == kind]
