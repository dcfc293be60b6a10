# tenner schedule.cron: the service that runs the jobs of CRON.json, and what it keeps between wakes.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The definitions belong to the owner and the agent (workspace/CRON.json), the state to the board:

    state/cron.json     [last, failures, off since, why, interrupted] by job id
    state/cronrun.a/.b  the run under way: a restart finds it and calls it interrupted

Texts of jobs stay on flash until they run. A job has one line in the run log for each time it
fell due. Deciding and running is in modules of their own, as with the heartbeat.
"""

import asyncio

from tenner.port.compat import const
from tenner.schedule import alarm

_POLL_S = const(60)
_JUMP_S = const(30)


class CronJobs:
    """
    Runs what CRON.json asks for. What it needs is given to it:

    port      .path(name)
    clock     .now(), .trusted, .mono_ms()
    part      part("zone") -> schedule.zone.Zone of the owner, part("budget") -> .left("cron"),
              .per_day; asked for at every wake, so that they need not be kept
    lane      .busy()
    run_turn  await run_turn(pieces, kind="cron", model=None) -> agent.turn.Result; LaneBusy and
              PutBack may leave it
    deliver   await deliver(text, channel, chat) -> True when sent, False when queued; OSError
              when neither is possible; channel and chat None are the owner's
    notify    notify(text): tells the owner something about the agent itself
    online    online() -> True, or what is missing ("wifi")
    rest      rest(): called after each wake of the service, for boards that let go of code then
    """

    # --- kept from one wake to the next, for `cronwake`

    #: State by id that no job has taken over (read at boot; or its entry cannot be read now).
    known = None
    signature = None
    #: Checksum of the mistakes the owner was told of.
    told = 0
    #: The clock at the last wake, and since when it is what it is: what fell due before was missed.
    was_trusted = False
    offset_s = 0
    start_s = 0
    retry_s = 0
    retry_at_s = 0
    #: Monotonic second of the next wake; None when nothing is ever due.
    wake_at_s = None
    waits = None
    running = False
    #: For the run log, whose lines of jobs are never held.
    written_s = None

    def __init__(self, port, clock, part, lane, run_turn, deliver, notify, online, rest=None):
        self.port = port
        self.clock = clock
        self.part = part
        self.lane = lane
        self.run_turn = run_turn
        self.deliver = deliver
        self.notify = notify
        self.online = online
        self.rest = rest
        self.jobs = []
        self.held = []
        self.not_before_s = {}
        self._seen = None
        self._poked = asyncio.Event()

    async def service(self):
        """Run jobs whenever they are due, for ever."""
        while True:
            if not self._nothing_new():
                await self.step()
                if self.rest is not None:
                    self.rest()
            wake_s = self.next_wake()
            wait_s = _POLL_S if wake_s is None else min(max(wake_s, 1), _POLL_S)
            if await alarm.wait(self._poked, wait_s):
                self._seen = None

    def _nothing_new(self):
        """Whether a wake can be spared: nothing due, same file, same clock. Cheap on purpose."""
        import os

        try:
            stat = os.stat(self.port.path("workspace/CRON.json"))
            seen = (stat[6], stat[8])
        except OSError:
            seen = ()
        mono_s = self.clock.mono_ms() // 1000
        same = (
            self.known is not None
            and seen == self._seen
            and self.clock.trusted == self.was_trusted
            and abs(self.clock.now() - mono_s - self.offset_s) <= _JUMP_S
        )
        self._seen = seen
        return same and (self.wake_at_s is None or mono_s < self.wake_at_s)

    def poke(self):
        """Look now: the file was edited, the lane is free, the network is up."""
        self._poked.set()

    async def step(self):
        """Collect the jobs that are due, then run them one after the other."""
        from tenner.schedule import cronwake

        # All of them first: what one job takes must not move the times of the others.
        due = cronwake.due(self)
        if self.running:
            return
        # Its code is not needed while a job runs.
        del cronwake
        self.running = True
        try:
            for job in due:
                if job in self.jobs:
                    from tenner.schedule import jobturns

                    await jobturns.run(self, job)
        finally:
            self.running = False
        from tenner.schedule import cronwake

        cronwake.plan(self)

    def next_wake(self):
        """Seconds until a job is due, None when none ever is."""
        if self.wake_at_s is None:
            return None
        return max(self.wake_at_s - self.clock.mono_ms() // 1000, 0)

    def lines(self):
        """One line for each job, for `/cron` and the tool."""
        from tenner.schedule import jobedit

        return jobedit.lines(self)

    def add(self, entry):
        """Add or replace a job; ValueError with a sentence when it is wrong."""
        from tenner.schedule import jobedit

        jobedit.add(self, entry)

    def remove(self, job_id):
        """Take a job out; ValueError when there is none of that id."""
        from tenner.schedule import jobedit

        jobedit.change(self, job_id, lambda entry: None)

    def enable(self, job_id, enabled=True):
        """Switch a job on, whatever switched it off, or off."""
        from tenner.schedule import jobedit

        jobedit.enable(self, job_id, enabled)
