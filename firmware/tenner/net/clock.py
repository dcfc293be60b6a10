# tenner net.clock: wall-clock time that may be untrusted, and monotonic time.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import ticks_diff, ticks_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


class Clock:
    """The clocks of `port`, the platform. Call `mono_ms` at least once a week: `ticks_ms`
    wraps."""

    def __init__(self, port: "Port") -> None:
        self._port = port
        self._ticks = ticks_ms()
        self._ms = 0

    @property
    def trusted(self) -> bool:
        """Whether NTP or a battery has set the wall clock."""
        return self._port.clock_is_set()

    def now(self) -> int:
        """Return the seconds since 1970 in UTC."""
        return self._port.unix_time()

    def known(self) -> int | None:
        """Return the seconds since 1970 in UTC, or None while the clock is not trusted."""
        return self.now() if self.trusted else None

    def mono_ms(self) -> int:
        """Return the milliseconds since the start; they never go back or wrap."""
        ticks = ticks_ms()
        self._ms += ticks_diff(ticks, self._ticks)
        self._ticks = ticks
        return self._ms

    def mono_s(self) -> int:
        """Return whole seconds since the start."""
        return self.mono_ms() // 1000

    async def sync(self, host: str) -> bool:
        """Set the clock by NTP; return whether it worked. Blocks for a second at most."""
        try:
            self._port.sync_clock(host)
            return True
        except OSError as error:
            log("clock", "no time from %s: %s" % (host, error))
            return False
