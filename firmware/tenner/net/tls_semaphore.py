# tenner net.tls_semaphore: limits the number of TLS sessions at a time.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.net.shortage import is_short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tenner.net.types import Holder


class TlsSemaphore:
    """
    Holders (net.http.Http) keep their place as long as their TLS session lives. A waiting one asks
    them to give way: a long poll stops at once, but not for another one, an idle connection
    closes. `fits()`, if given, returns whether the memory has room now for one session more than
    `limit`.
    """

    def __init__(self, limit: int = 1, fits: "Callable[[], bool] | None" = None) -> None:
        #: Number of connections in a row that failed for lack of memory.
        self.shortages = 0
        #: The net.tls_reserve.Reserve of a chip without PSRAM, which holds a session's memory
        #: while there is none.
        self.reserve = None
        self._limit = limit
        self._fits = fits
        self._holders = []
        self._waiting = []  # long polls last

    async def acquire(self, holder: "Holder") -> None:
        """Wait for a place for `holder`; a long poll (`yields`) lets all others go first."""
        waiting = self._waiting
        waiting.insert(len(waiting) if holder.yields else 0, holder)
        try:
            while self._is_full() or (holder.yields and waiting[0] is not holder):
                # Repeatedly, since a connection becomes idle without a signal.
                for other in list(self._holders):
                    await other.give_way(holder.yields)
                await asyncio.sleep(0.05)
            self._holders.append(holder)
        finally:
            waiting.remove(holder)

    def _is_full(self):
        over = len(self._holders) - self._limit
        return over > 0 or (over == 0 and not (self._fits and self._fits()))

    def replace(self, holder: "Holder", other: "Holder") -> bool:
        """Give the place of `holder` to `other`; return False if that may wait for one itself."""
        if other in self._waiting:
            return False
        self._holders[self._holders.index(holder)] = other
        return True

    def release(self, holder: "Holder") -> None:
        """Free the place of `holder`."""
        self._holders.remove(holder)
        self.has_room()

    def fail(self, error: "Exception") -> None:
        """End the exchanges of all HTTP clients with `error`."""
        for holder in self._holders:
            if hasattr(holder, "fail"):
                holder.fail(error)

    def has_room(self) -> bool:
        """Return whether a session is open, or the reserve holds memory for the next one."""
        return bool(self._holders) or self.reserve is None or self.reserve.take()

    def lacked_memory(self, error: BaseException | None) -> bool:
        """Count and return whether a connection failed for lack of memory; `error` None is a
        success."""
        reserve = self.reserve
        lacked = is_short(error) or (
            isinstance(error, ValueError) and reserve is not None and reserve.was_tight()
        )
        if lacked or error is None:
            self.shortages = self.shortages + 1 if lacked else 0
        if lacked and reserve is not None and reserve.is_new:
            reserve.fail()
        return lacked

    def why(self) -> str | None:
        """Return the clause of Reserve.sentence; None without a lack."""
        return self.reserve and self.reserve.lack and self.reserve.sentence()
