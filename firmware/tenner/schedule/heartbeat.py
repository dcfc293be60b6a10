# tenner schedule.heartbeat: the service that wakes, and what it keeps between two wakes.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Deciding and running is in modules of their own (`wake`, `turns`), which are imported when there is
something to look at, so that a small board can let go of them in between.
"""

import asyncio

from tenner.port.compat import const
from tenner.schedule import alarm

_POLL_S = const(60)
_JUMP_S = const(30)


class Heartbeat:
    """
    Runs what HEARTBEAT.md asks for. What it needs is given to it:

    port      .path(name), .device_id()
    config    .get("heartbeat.every") and the others of that section, "budget.tokens_per_day"
    clock     .now(), .trusted, .mono_ms()
    part      part("zone") -> schedule.zone.Zone of the owner; part("sensors") -> await .read(name),
              .unit(value_name); part("budget") -> .left("heartbeat"), tokens or None; asked for at
              every wake, so that they need not be kept
    lane      .busy(), .idle_s()
    run_turn  await run_turn(pieces, kind="heartbeat", model=None) -> agent.turn.Result; `pieces`
              is a function that gives a fresh generator of str; LaneBusy and PutBack may leave it
    deliver   await deliver(text) -> True when the owner has it, False when it is queued; whoever
              sends it later calls confirm(text) or given_up(text); OSError when neither is possible
    notify    notify(text): tells the owner something about the agent itself
    online    online() -> True, or what is missing ("wifi")
    ask       await ask(pieces, model) -> llm.reply.Reply of one request that offers only the tool
              of schedule/heartbeat.json; needed for the mode "decide"
    rest      rest(): called after each wake of the service, for boards that let go of code then
    stores    schedule.stores.Stores, or what stands in for it in tests
    """

    # --- kept from one wake to the next, for `wake`, `watch`, `turns` and `book`

    #: The timed tasks (state.Task), the beat itself with key 0 first; None without HEARTBEAT.md.
    tasks = None
    #: Whether the beat has anything to do.
    work = False
    #: What HEARTBEAT.md looked like, and whether any of this was read at all.
    signature = None
    booted = False
    #: Boots have been too short for a beat: the first one comes early.
    early = False
    #: The clock at the last wake: whether it was trusted, and how far from the monotonic one.
    was_trusted = False
    offset_s = 0
    #: Monotonic second of the next wake; None when nothing is ever due.
    wake_at_s = None
    #: The kind of the last decision that was logged.
    said = None
    #: Start of the model's turn under way, None without one.
    running_s = None
    #: Monotonic second before which no model is asked, after a failure.
    not_before_s = 0
    put_backs = 0
    #: Run-log lines that are held, and when the last were written.
    written_s = None
    #: Last runs read at boot, until the tasks have taken them over.
    known = None

    def __init__(
        self,
        port,
        config,
        clock,
        part,
        lane,
        run_turn,
        deliver,
        notify,
        online,
        ask=None,
        rest=None,
        stores=None,
    ):
        self.port = port
        self.config = config
        self.clock = clock
        self.part = part
        self.lane = lane
        self.run_turn = run_turn
        self.deliver = deliver
        self.notify = notify
        self.online = online
        self.ask = ask
        self.rest = rest
        self._stores = stores
        self.every_s = config.get("heartbeat.every")
        self.window = config.get("heartbeat.active_hours")
        if self.window:
            from tenner.schedule.hours import Hours

            # A window that cannot be is an error at the start, not "never" or "always".
            Hours(self.window)
        # For the tasks that need the lane, and for alerts, which do not: the last wait, its end
        # on the monotonic clock, and its reason.
        self.retry_s = [0, 0]
        self.retry_at_s = [0, 0]
        self.waits = ["", ""]
        self.held = []
        self.waiting = []
        self.failed = []
        self.saved = {}
        self.spawns = False
        self._turn = None
        self._seen = None
        self._poked = asyncio.Event()

    async def service(self):
        """Wake whenever something is due, for ever."""
        self.spawns = True
        while True:
            if not self._nothing_new():
                await self.step()
                if self.rest is not None:
                    self.rest()
            wake_s = self.next_wake()
            # Not longer than a minute: the file may have been edited by anybody.
            wait_s = _POLL_S if wake_s is None else min(max(wake_s, 1), _POLL_S)
            if await alarm.wait(self._poked, wait_s):
                self._seen = None

    def _nothing_new(self):
        """Whether a wake can be spared: nothing due, same file, same clock. Cheap on purpose."""
        if self._stores is not None or not self.booted:
            return False
        import os

        try:
            stat = os.stat(self.port.path("workspace/HEARTBEAT.md"))
            seen = (stat[6], stat[8])
        except OSError:
            seen = ()
        mono_s = self.clock.mono_ms() // 1000
        same = (
            seen == self._seen
            and self.clock.trusted == self.was_trusted
            and abs(self.clock.now() - mono_s - self.offset_s) <= _JUMP_S
        )
        self._seen = seen
        return same and (self.wake_at_s is None or mono_s < self.wake_at_s)

    def poke(self):
        """Wake now: a person's turn has ended, the network is up, the file was edited."""
        self._poked.set()

    async def beat(self, forced=False):
        """
        One beat to its end; `forced` passes the gates due, active hours and sensors. Returns
        (action, reason): ("run", what came of it), or why not.
        """
        spawns = self.spawns
        self.spawns = False
        try:
            return await self.step(forced)
        finally:
            self.spawns = spawns

    async def step(self, forced=False):
        """Look once at the file, the clock and the sensors, and run what is due. (action, reason)"""
        from tenner.schedule.wake import Wake

        return await Wake(self).step(forced)

    def run_aside(self, tasks):
        """Gates must be looked at, and alerts sent, while a model thinks."""
        self._turn = asyncio.create_task(self._run_aside(tasks))

    async def _run_aside(self, tasks):
        from tenner.schedule import turns

        try:
            await turns.run_groups(self, tasks)
        finally:
            self.running_s = None
            self._turn = None
            self.poke()

    def next_wake(self):
        """Seconds until something is due, None when nothing ever is: a board may sleep so long."""
        if self.wake_at_s is None:
            return None
        return max(self.wake_at_s - self.clock.mono_ms() // 1000, 0)

    def stores(self):
        """Where the state is kept; made anew unless it was given."""
        if self._stores is not None:
            return self._stores
        from tenner.schedule.stores import Stores

        return Stores(self.port)

    def confirm(self, text):
        """The owner has received `text`: it is not said again within `heartbeat.dedup_h`."""
        self._dedup().confirm(text, self.clock.now(), self.clock.trusted)

    def queued(self, text):
        """`text` is on its way; it must not be queued again before confirm() or given_up()."""
        self._dedup().queued(text)

    def given_up(self, text):
        """`text` was queued and will never be sent."""
        self._dedup().given_up(text)

    def repeats(self, text):
        """Whether the owner has received `text` within `heartbeat.dedup_h`, or it is on its way."""
        return self._dedup().repeats(text, self.clock.now(), self.clock.trusted)

    def _dedup(self):
        from tenner.schedule.dedup import Dedup

        return Dedup(self.stores(), self.config, self.waiting)

    def status(self):
        """The chain of gates, line by line, for `/heartbeat`."""
        from tenner.schedule.wake import Wake

        return Wake(self).status()

    def why(self, count=10):
        """The last decisions, oldest first, and what is next, for `/why`."""
        from tenner.schedule.wake import Wake

        return Wake(self).why(count)
