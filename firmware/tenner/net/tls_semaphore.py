# tenner net.tls_semaphore: how many TLS sessions there may be at a time.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.net.shortage import is_short


class Gate:
    """
    Holders (net.http.Http) keep their place as long as their TLS session lives. Somebody who waits asks
    them to give way: a long poll stops at once, a connection nobody is using is closed. `fits()`, if
    given, tells whether the memory of the moment has room for one session more than `limit`.
    """

    def __init__(self, limit=1, fits=None):
        #: How many long polls wait for room.
        self.polls = 0
        #: How many connections in a row failed for want of memory.
        self.shortages = 0
        #: Holds the memory of a session while there is none (net.tls_reserve), on a chip without PSRAM.
        self.reserve = None
        self._limit = limit
        self._fits = fits
        self._holders = []
        self._urgent = 0  # waiting, and no long poll

    async def acquire(self, holder):
        """Wait until there is room for `holder`; a long poll lets everybody else go first."""
        poll = holder.yields
        self._urgent += not poll
        self.polls += poll
        try:
            while self._is_full() or (poll and self._urgent):
                # Again and again: a connection becomes idle without a word.
                for other in list(self._holders):
                    await other.give_way(poll)
                await asyncio.sleep(0.05)
            self._holders.append(holder)
        finally:
            self._urgent -= not poll
            self.polls -= poll

    def _is_full(self):
        over = len(self._holders) - self._limit
        return over > 0 or (over == 0 and not (self._fits and self._fits()))

    def release(self, holder):
        """Make room."""
        self._holders.remove(holder)
        self.has_room()

    def has_room(self):
        """Is there a session, or memory for the next one?"""
        return bool(self._holders) or self.reserve is None or self.reserve.take()

    def lacked_memory(self, error):
        """Did a connection fail for want of memory? Such failures are counted; None is a connection that worked."""
        lacked = is_short(error) or (
            isinstance(error, ValueError) and self.reserve is not None and self.reserve.was_tight()
        )
        if lacked or error is None:
            self.shortages = self.shortages + 1 if lacked else 0
        return lacked
