# tenner net.clock: wall-clock time with a word on whether to trust it, and time that only goes on.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const, ticks_diff, ticks_ms

_JUMP_S = const(5)  # NTP corrects less than this every hour; a set clock moves by more


class Clock:
    """`port` gives the platform's clock. Call any method at least once a week: `ticks_ms` wraps."""

    def __init__(self, port):
        self._port = port
        self._ticks = ticks_ms()
        self._ms = 0
        self._last_wall = None
        self._last_mono_s = 0
        #: Seconds the wall clock was moved by since this was last set to 0; small corrections do not count.
        self.jumped = 0

    @property
    def trusted(self):
        """The wall clock was set, by NTP or a battery."""
        return self._port.clock_is_set()

    def now(self):
        """Return the seconds since 1970 in UTC."""
        wall = self._port.unix_time()
        mono_s = self.mono_s()
        if self._last_wall is not None:
            moved = (wall - self._last_wall) - (mono_s - self._last_mono_s)
            if abs(moved) > _JUMP_S:
                self.jumped += moved
                log("clock", "was moved by %d s" % moved)
        self._last_wall = wall
        self._last_mono_s = mono_s
        return wall

    def mono_ms(self):
        """Return milliseconds since the start, a number that never goes back or wraps."""
        ticks = ticks_ms()
        self._ms += ticks_diff(ticks, self._ticks)
        self._ticks = ticks
        return self._ms

    def mono_s(self):
        """Return whole seconds since the start."""
        return self.mono_ms() // 1000

    async def sync(self, host):
        """Set the clock by NTP; return whether it worked. Blocks for a second at most."""
        self.now()
        try:
            self._port.sync_clock(host)
        except OSError as error:
            log("clock", "%s did not give the time: %s" % (host, error))
            return False
        self.now()
        return True

    def local(self, zone):
        """Return the local time in `zone` (schedule.zone.Zone)."""
        return zone.local(self.now())
