# tenner schedule.alarm: what the services of the schedule have in common: they sleep until something is due.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Deciding and running is in modules that are imported when there is something to look at, so that a
small board can let go of them in between. What lasts from one wake to the next is kept here.
"""

import asyncio
import os

from tenner.port.compat import const

_POLL_S = const(60)
#: A difference between the two clocks that is taken for a jump of one.
_JUMP_S = const(30)


class Service:
    """
    Wakes for `file`, of the workspace. Of the application it is given it asks

    config, clock, port      .get(name); .now(), .trusted, .mono_s(); .device_id()
    workspace, state         folders
    part(name)               "zone", "sensors" and "budget", asked for at every wake, so that they need not
                             be kept; "scheduled", which runs turns and sends texts
    agent                    .lane, .notify(text): tells the owner something about the agent itself
    online()                 True, or what is missing ("wifi")
    rest()                   called after each wake, for boards that let go of code then
    """

    #: What is timed (state.Task); None without the file. What the file looked like when it was read.
    tasks = None
    signature = None
    booted = False
    #: The clock at the last wake: whether it was trusted, and how far from the monotonic one.
    was_trusted = False
    offset_s = 0
    #: Since when the clock is what it is: what fell due before was missed.
    start_s = 0
    #: Monotonic second of the next wake; None when nothing is ever due.
    wake_at_s = None
    #: Monotonic second before which no model is asked, after a failure; turns put back in a row.
    not_before_s = 0
    put_backs = 0
    #: Start of the turn under way, None without one.
    running_s = None
    #: The kind of the last decision that was logged; when run-log lines were written last.
    said = None
    written_s = None
    #: Whether there is more to be kept than was written.
    stale = False
    #: Seconds between beats, None without any; active hours; whether the beat has anything to do, and
    #: comes early because boots have been too short for one.
    every_s = None
    window = ""
    work = early = False
    #: schedule.stores.Stores, or what stands in for it in tests.
    kept = None

    def __init__(self, app, area, file):
        self.app = app
        self.area = area
        self.file = app.workspace + "/" + file
        # For what needs the lane, and for what does not: the last wait, its end on the monotonic
        # clock, and its reason.
        self.retry_s = [0, 0]
        self.retry_at_s = [0, 0]
        self.waits = ["", ""]
        #: Lines of the run log that are held, the counters, and what no task has taken over yet.
        self.held = []
        self.saved = {}
        self.known = {}
        self._seen = None
        self._poked = asyncio.Event()

    async def service(self):
        """Wake whenever something is due, for ever."""
        while True:
            if not self._nothing_new():
                await self.app.alone(self.step(aside=True))
            wake_s = self.next_wake()
            # Not longer than a minute: the file may have been edited by anybody.
            wait_s = _POLL_S if wake_s is None else min(max(wake_s, 1), _POLL_S)
            if await wait(self._poked, wait_s):
                self._seen = None

    def _nothing_new(self):
        """Whether a wake can be spared: nothing due, same file, same clock. Cheap on purpose."""
        if self.kept is not None:
            return False
        try:
            stat = os.stat(self.file)
            seen = (stat[6], stat[8])
        except OSError:
            seen = ()
        clock = self.app.clock
        mono_s = clock.mono_s()
        same = (
            self.booted
            and seen == self._seen
            and clock.trusted == self.was_trusted
            and abs(clock.now() - mono_s - self.offset_s) <= _JUMP_S
        )
        self._seen = seen
        return same and (self.wake_at_s is None or mono_s < self.wake_at_s)

    def poke(self):
        """Wake now: a person's turn has ended, the network is up, the file was edited."""
        self._poked.set()

    def next_wake(self):
        """Seconds until something is due, None when nothing ever is: a board may sleep so long."""
        if self.wake_at_s is None:
            return None
        return max(self.wake_at_s - self.app.clock.mono_s(), 0)

    def stores(self):
        """Where the state is kept; made anew unless it was given."""
        if self.kept is not None:
            return self.kept
        from tenner.schedule.stores import Stores

        return Stores(self.app.state, self.file)


def later(module, name):
    """A method that is in another module, which is loaded when it is called."""

    def call(self, *args):
        return getattr(__import__("tenner.schedule." + module, None, None, (name,)), name)(
            self, *args
        )

    return call


async def wait(event, seconds):
    """Wait until `event` is set or `seconds` are over; return whether it was set, and clear it."""
    # Not wait_for(): before CPython 3.12 it loses a cancellation that comes with the event.
    timed_out = []
    timer = asyncio.create_task(_ring(event, seconds, timed_out))
    try:
        await event.wait()
    finally:
        timer.cancel()
    event.clear()
    return not timed_out


async def _ring(event, seconds, timed_out):
    await asyncio.sleep(seconds)
    timed_out.append(True)
    event.set()
