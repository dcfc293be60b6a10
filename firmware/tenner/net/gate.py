# tenner net.gate: how many TLS sessions there may be at a time.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio


class Gate:
    """
    Holders (net.http.Http) keep their place as long as their TLS session lives. Somebody who waits asks
    them to give way: a long poll stops at once, a connection nobody is using is closed.
    """

    def __init__(self, limit=1):
        self._limit = limit
        self._holders = []
        self._urgent = 0  # waiting, and no long poll
        self._freed = asyncio.Event()

    async def acquire(self, holder):
        """Wait until there is room for `holder`; a long poll lets everybody else go first."""
        poll = holder.yields
        if not poll:
            self._urgent += 1
        try:
            while len(self._holders) >= self._limit or (poll and self._urgent):
                for other in list(self._holders):
                    await other.give_way(poll)
                if len(self._holders) < self._limit and not (poll and self._urgent):
                    break
                self._freed.clear()
                try:
                    # A connection may become idle without being freed, so ask again now and then.
                    await asyncio.wait_for(self._freed.wait(), 1)
                except asyncio.TimeoutError:
                    continue
            self._holders.append(holder)
        finally:
            if not poll:
                self._urgent -= 1
                # Long polls wait for the last urgent one to be served, not only for room.
                self._freed.set()

    def release(self, holder):
        """Make room."""
        self._holders.remove(holder)
        self._freed.set()
