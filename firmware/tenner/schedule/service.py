# tenner schedule.service: the heartbeat and the jobs of CRON.json as services, and all that stays in memory of them.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Deciding and running is in modules that are imported when there is something to look at, so that a
small board can let go of them in between. What lasts from one wake to the next is here: data only, and the
defaults in the classes, where they cost nothing per task.
"""

import asyncio
import os

from tenner.port.compat import const

_POLL_S = const(60)
# A difference between the two clocks that is taken for a jump of one.
_JUMP_S = const(30)


class Task:
    #: An item of HEARTBEAT.md: a short number that names it as long as nobody edits it; 0 is the
    #: beat itself. A job of CRON.json: its id.
    key = 0
    #: Its line in HEARTBEAT.md; the text is read from there when it runs.
    line = 0
    # When: a grid of seconds, a cron expression (on the owner's clock, or in `tz`), or one moment;
    # `free`: the grid begins where the task is first seen.
    every_s = 0
    phase_s = 0
    cron = None
    at = 0
    tz = None
    free = False
    hours = None
    # How: a named model, the text itself, only if a gate is open.
    model = None
    notify = False
    gate = None
    #: UTC seconds of the last run.
    last = 0
    # Start of the count while the clock is not trusted, and whether it ran since then.
    base_s = 0
    ran = False
    # The occurrence at hand, whether a person asked for it outside the task's times, and the one
    # that waits to be tried again: [due, reason, failed tries, tokens they cost].
    due = 0
    asked = False
    pending = None
    # The run under way: [due, start, whether it is due again when it is cut short], and what takes
    # it back: (what waited, whether the clock was trusted, last, base_s, ran, next).
    run = None
    before = None
    # The value that opened the gate, kept until the task has run; and the last look at it.
    opened = None
    was_open = False
    #: The next time of a cron expression, worked out when first asked for.
    next = None
    # Of a job: whether missed runs are skipped, its entry's "enabled", since when it is off
    # although that says otherwise, why, failures in a row, and when it may be tried again.
    skip = False
    enabled = True
    off = 0
    why = ""
    failures = 0
    not_before_s = 0


class Gate:
    sensor = ""
    value = ""
    op = ""
    number = 0
    number2 = None
    for_s = 0
    reset = None
    #: Monotonic seconds since which the condition holds.
    since_s = None
    # These survive a reboot; `silent`: the owner was told that the sensor does not answer.
    fired = False
    reference = None
    silent = False


def later(module, name):
    """A function that is in another module, which is loaded when it is called."""

    def call(*args):
        return getattr(__import__("tenner.schedule." + module, None, None, (name,)), name)(*args)

    return call


class Service:
    """
    Wakes for `file`, of the workspace. Of the application it is given it asks

    config, clock, port      .get(name); .now(), .trusted, .mono_s(); .device_id()
    workspace, state         folders
    part(name)               "zone", "sensors" and "budget", asked for at every wake, so that they need not
                             be kept; "scheduled", which runs turns and sends texts
    agent                    .lane, .notify(text): tells the owner something about the agent itself
    online()                 True, or what is missing ("wifi")
    alone(function, *args)   awaits function(*args) when there is memory for it
    """

    #: What is timed (Task); None without the file. What the file looked like when it was read.
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
    #: The module whose step() looks once at file, clock and sensors, and runs what is due.
    module = ""

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
                await self.app.alone(self.step, False, True)
            wake_s = self.next_wake()
            # Not longer than a minute: the file may have been edited by anybody.
            wait_s = _POLL_S if wake_s is None else min(max(wake_s, 1), _POLL_S)
            if await _wait(self._poked, wait_s):
                self._seen = None

    async def step(self, forced=False, aside=False):
        # Loaded when it runs, not when it is asked for: before there may be no memory for it.
        return await later(self.module, "step")(self, forced, aside)

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


class Heartbeat(Service):
    """Runs what HEARTBEAT.md asks for."""

    module = "wake"
    #: The turn under way beside the service.
    turn = None

    def __init__(self, app):
        Service.__init__(self, app, "heartbeat", "HEARTBEAT.md")
        self.every_s = app.config.get("heartbeat.every")
        self.window = app.config.get("heartbeat.active_hours")

    #: confirm(mark): the owner has received that text, it is not said again within `heartbeat.dedup_h`
    confirm = later("dedup", "confirm")

    #: status(): the chain of gates for `/heartbeat`, why(count=10): the last decisions for `/why`, line by line
    status = later("tell", "status")
    why = later("tell", "why")


class CronJobs(Service):
    """
    Runs the jobs of CRON.json, which are its `tasks`. The definitions belong to the owner and the agent, the
    state to the board. Texts of jobs stay on flash until they run.
    """

    module = "cronwake"

    def __init__(self, app):
        Service.__init__(self, app, "cron", "CRON.json")

    #: lines(): one for each job; add(entry), remove(id), enable(id, enabled=True): ValueError says what is wrong
    lines = later("jobedit", "lines")
    add = later("jobedit", "add")
    remove = later("jobedit", "remove")
    enable = later("jobedit", "enable")


async def _wait(event, seconds):
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
