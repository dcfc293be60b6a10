# tenner schedule.heartbeat: the service that wakes, decides what is due, and runs it.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import alarm, decide
from tenner.schedule.ledger import Ledger
from tenner.schedule.runs import Runs, name_of
from tenner.schedule.senses import Senses
from tenner.schedule.watch import Watch

_POLL_S = const(60)
_MAX_RETRY_S = const(30)
_PUT_BACKS = const(3)
_PAUSE_S = const(60)


class Heartbeat(Watch):
    """
    Runs what HEARTBEAT.md asks for. What it needs is given to it:

    port      .path(name), .device_id()
    config    .get("heartbeat.every") and the others of that section, "budget.tokens_per_day"
    clock     .now(), .trusted, .mono_ms()
    zone      schedule.zone.Zone of the owner
    sensors   await .read(name), .unit(value_name)
    lane      .busy(), .idle_s()
    budget    .left("heartbeat"): tokens or None, or None instead of it
    run_turn  await run_turn(pieces, kind="heartbeat", model=None) -> agent.turn.Result; `pieces`
              is a function that gives a fresh generator of str; LaneBusy and PutBack may leave it
    deliver   await deliver(text) -> True when the owner has it, False when it is queued; whoever
              sends it later calls confirm(text) or given_up(text); OSError when neither is possible
    notify    notify(text): tells the owner something about the agent itself
    online    online() -> True, or what is missing ("wifi")
    ask       await ask(pieces, model) -> llm.reply.Reply of one request that offers only the tool
              of schedule/heartbeat.json; needed for the mode "decide"
    """

    def __init__(
        self,
        port,
        config,
        clock,
        zone,
        sensors,
        lane,
        budget,
        run_turn,
        deliver,
        notify,
        online,
        ask=None,
        stores=None,
    ):
        from tenner.schedule import slots

        if stores is None:
            from tenner.schedule.stores import Stores

            stores = Stores(port)
        self.clock = clock
        self.zone = zone
        self.stores = stores
        self.lane = lane
        self.budget = budget
        self.sensors = sensors
        self.notify = notify
        self.online = online
        self.run_turn = run_turn
        self.deliver = deliver
        self.ask = ask
        self.every_s = config.get("heartbeat.every")
        self.mode = config.get("heartbeat.mode")
        self.model = config.get("heartbeat.model") or None
        self.ack_max_chars = config.get("heartbeat.ack_max_chars")
        window = config.get("heartbeat.active_hours")
        hours = None
        if window:
            from tenner.schedule.hours import Hours

            hours = Hours(window)
        Watch.__init__(self)
        self._config = {
            "enabled": bool(self.every_s),
            "hours": hours,
            "zone": zone,
            "tokens_per_day": config.get("budget.tokens_per_day"),
        }
        self._dedup_s = config.get("heartbeat.dedup_h") * 3600
        self._dedup_mask = config.get("heartbeat.dedup_numbers")
        self._dedup = None
        self._seed = slots.seed(port.device_id())
        self.ledger = Ledger(stores)
        self.runs = Runs(stores)
        self.senses = Senses(sensors, notify)
        self._running_s = None
        # For the tasks that need the lane, and for alerts, which do not.
        self._retry_s = [0, 0]
        self._retry_at_s = [0, 0]
        self._waits = ["", ""]
        self._not_before_s = 0
        self._put_backs = 0
        self._turn = None
        self._spawns = False
        self._poked = asyncio.Event()

    # --- what others call

    async def service(self):
        """Wake whenever something is due, for ever."""
        self._spawns = True
        while True:
            await self.step()
            wake_s = self.next_wake()
            # Not longer than a minute: the file may have been edited by anybody.
            wait_s = _POLL_S if wake_s is None else min(max(wake_s, 1), _POLL_S)
            await alarm.wait(self._poked, wait_s)

    def poke(self):
        """Wake now: a person's turn has ended, the network is up, the file was edited."""
        self._poked.set()

    async def beat(self, forced=False):
        """
        One beat to its end; `forced` passes the gates due, active hours and sensors. Returns
        (action, reason): ("run", what came of it), or why not.
        """
        spawns = self._spawns
        self._spawns = False
        try:
            return await self.step(forced)
        finally:
            self._spawns = spawns

    def next_wake(self):
        """Seconds until something is due, None when nothing ever is: a board may sleep so long."""
        if not self.tasks or not self.every_s:
            return None
        now, mono_s, trusted = self.time()
        best = None
        for task in self.tasks:
            due = task.due_at(now, mono_s, trusted, self.zone)
            if due is None:
                continue
            left = due - now
            if left <= 0:
                following = task.following(due, now, trusted, self.zone)
                left = min(self._wait_of(task, mono_s), following - now)
            if best is None or left < best:
                best = left
        return best

    def confirm(self, text):
        """The owner has received `text`: it is not said again within `heartbeat.dedup_h`."""
        now, _, trusted = self.time()
        self.alerts().confirm(text, now, trusted)

    def given_up(self, text):
        """`text` was queued and will never be sent."""
        self.alerts().given_up(text)

    def repeats(self, text):
        """Whether the owner has received `text` within `heartbeat.dedup_h`, or it is on its way."""
        now, _, trusted = self.time()
        return self.alerts().repeats(text, now, trusted)

    def status(self):
        """The chain of gates, line by line, for `/heartbeat`."""
        self._wake()
        yield "heartbeat every %d s, %d timed tasks%s" % (
            self.every_s,
            len(self.tasks or ()),
            "" if self.clock.trusted else ", clock not set",
        )
        question = self._question(self.tasks, late=True)
        for index, (name, reason) in enumerate(decide.chain(*question)):
            yield "%d %s: %s" % (index + 1, name, reason or "ok")
        if self.ledger.state.get("f"):
            yield "failed %d times in a row" % self.ledger.state["f"]
        if self.senses.failed:
            yield "no answer from %s" % ", ".join(self.senses.failed)

    def why(self, count=10):
        """The last decisions, oldest first, and what is next, for `/why`."""
        from tenner.schedule.runs import describe

        self._wake()
        for line in self.runs.tail(count):
            yield describe(line, self.zone)
        wake_s = self.next_wake()
        yield "next: %s" % ("nothing" if wake_s is None else "in %d s" % wake_s)

    # --- one wake

    async def step(self, forced=False):
        """Look once at the file, the clock and the sensors, and run what is due. (action, reason)"""
        self._wake()
        self.senses.forget()
        now, mono_s, trusted = self.time()
        self.runs.flush_old(mono_s)
        due = self._due(now, mono_s, trusted, forced)
        action, reason = self._decide(due or self.tasks, forced)
        if action == "off" or not due:
            return self.say(action, reason)
        ready, answer = await self._pass_gates(due, forced)
        for model in (False, True):
            tasks = [task for task in ready if task.notify != model]
            if tasks:
                answer = await self._start(tasks, forced, model)
        return answer

    def _due(self, now, mono_s, trusted, forced):
        """The tasks whose occurrence has come; an older one that still waited ends here."""
        due = []
        for task in self.tasks or ():
            at = task.due_at(now, mono_s, trusted, self.zone)
            if at is None or at > now:
                if not forced:
                    continue
                task.asked = True
                task.due = now
                due.append(task)
                continue
            if task.pending:
                newer = task.newer(at, now, trusted, self.zone)
                if newer is None:
                    at = task.pending[0]
                else:
                    self.close(task, task.pending, now, trusted)
                    at = newer
            task.asked = False
            task.due = at
            due.append(task)
        return due

    async def _pass_gates(self, due, forced):
        """(tasks that neither hours, nor lack of work, nor a sensor stops, last answer)."""
        ready = []
        checked = 0
        answer = waits = None
        for task in due:
            action, reason = self._decide([task], forced)
            if action == "run" and task.gate and task.opened is None:
                checked += 1
                shut = await self._look(task, forced)
                if shut:
                    action, reason = "skip", shut
            if action == "run":
                ready.append(task)
                continue
            if action == "skip":
                task.opened = None
                if not forced:
                    self._skip(task, reason)
            else:
                waits = reason
                self.hold([task], reason)
            if checked < len(due):
                answer = self.say(action, reason)
        if waits:
            self.hold_off(waits)
        if checked == len(due) and not ready:
            answer = self.say("skip", "no gate is true (%d checked)" % checked)
        return ready, answer

    async def _look(self, task, forced):
        """None when the task's gate lets pass, else why it does not."""
        _, mono_s, _ = self.time()
        silent = len(self.senses.failed)
        is_open, failed = await self.senses.check(task, mono_s, forced)
        if len(self.senses.failed) != silent:
            self.ledger.silent = self.senses.failed
            self.ledger.save_tasks(self.tasks)
        return failed or (None if is_open else "no gate is true (1 checked)")

    async def _start(self, tasks, forced, model):
        """Run the tasks if budget, lane and network allow; else they wait or end. (action, reason)"""
        _, mono_s, _ = self.time()
        waits_s = max(self._wait_of(task, mono_s) for task in tasks)
        if waits_s > 0 and not forced:
            reason = self._waits[not model]
            self.hold(tasks, reason)
            return "retry", reason
        action, reason = self._decide(tasks, forced, None, model, late=True)
        if action == "skip":
            for task in tasks if not forced else ():
                self._skip(task, reason)
        elif action == "retry":
            if not forced:
                self.hold_off(reason, not model)
                self.hold(tasks, reason)
        else:
            return await self._run(tasks, model, mono_s)
        return self.say(action, reason)

    async def _run(self, tasks, model, mono_s):
        # Read from flash only when something runs.
        from tenner.schedule import turns

        if not model:
            return await turns.run_alerts(self, tasks)
        self._running_s = mono_s
        if self._spawns:
            # Gates must be looked at, and alerts sent, while a model thinks.
            self._turn = asyncio.create_task(self._run_aside(tasks))
            return "run", "started"
        try:
            return await turns.run_groups(self, tasks)
        finally:
            self._running_s = None

    async def _run_aside(self, tasks):
        from tenner.schedule import turns

        try:
            await turns.run_groups(self, tasks)
        finally:
            self._running_s = None
            self._turn = None
            self.poke()

    # --- decisions

    def _question(self, tasks, forced=False, gates=None, model=True, late=False):
        """What `decide` is asked; without `late` only of the gates before budget and lane."""
        now, mono_s, trusted = self.time()
        state = {"work": self._work, "gates": gates, "model": model, "forced": forced}
        busy = left = None
        online = True
        if late:
            busy = self.lane.busy()
            if not busy and self._put_backs >= _PUT_BACKS and self.lane.idle_s() < _PAUSE_S:
                busy = "conversation"
            online = self.online()
            if self.budget is not None:
                left = self.budget.left("heartbeat")
            if self._running_s is not None and model:
                state["running_s"] = mono_s - self._running_s
        return now, mono_s * 1000, trusted, tasks, state, self._config, busy, online, left

    def _decide(self, tasks, forced=False, gates=None, model=True, late=False):
        # The gates before those of `late` have been passed by then.
        return decide.decide(*self._question(tasks, forced or late, gates, model, late))

    def say(self, action, reason):
        """Log a decision when it is another one than the last."""
        kind = reason.split("(")[0]
        # That nothing is due is news only after something was.
        if kind != self._said and (action != "wait" or self._said in (None, "run")):
            self._said = kind
            log("heartbeat", reason)
        return action, reason

    def _wait_of(self, task, mono_s):
        """Seconds until a task that is due may be tried."""
        until_s = self._retry_at_s[task.notify]
        if not task.notify:
            until_s = max(until_s, self._not_before_s)
        return max(until_s - mono_s, 0)

    def hold(self, tasks, reason):
        """The occurrences wait; what made them wait first stays the reason after a failure."""
        for task in tasks:
            if task.pending is None:
                task.pending = [task.due, reason, 0, 0]
            elif not task.pending[2]:
                task.pending[1] = reason

    def hold_off(self, reason, alerts=False):
        """Nothing was run: try again after 1 s, then later and later, 30 s at most."""
        self._waits[alerts] = reason
        wait_s = self._retry_s[alerts]
        self._retry_s[alerts] = wait_s = min(wait_s * 2, _MAX_RETRY_S) if wait_s else 1
        self._retry_at_s[alerts] = self.time()[1] + wait_s

    def put_back(self):
        self._put_backs += 1
        self.hold_off("put back (a person came first)")

    def has_run(self, alerts=False):
        """Something was run to its end."""
        self._said = "run"
        self._retry_s[alerts] = self._retry_at_s[alerts] = 0
        if not alerts:
            self._put_backs = 0

    def fail_for(self, wait_s, reason=""):
        """After a failure the model is left alone for a while."""
        self._waits[0] = reason
        self._not_before_s = self.time()[1] + wait_s

    # --- ends of occurrences

    def close(self, task, waiting, now, trusted):
        """An occurrence that waited has been overtaken, or is not tried again: its line says why."""
        due, reason, tries, tokens = waiting
        line = {"r": "skipped", "why": reason}
        if tries:
            line["why"] = "failed %d times: %s" % (tries, reason)
        if tokens:
            line["tokens"] = tokens
        self.write(task, due, line, now, trusted)
        if task.pending is waiting:
            task.pending = None

    def _skip(self, task, reason):
        """The occurrence at hand ends without a run."""
        now, mono_s, trusted = self.time()
        line = {"r": "skipped", "why": reason}
        if task.pending and task.pending[3]:
            line["tokens"] = task.pending[3]
        self.write(task, task.due, line, now, trusted)
        task.begin(now, mono_s, trusted)

    def write(self, task, due, line, now, trusted):
        """Put the line of an occurrence into the run log."""
        mono_s = self.time()[1]
        entry = {"t": now, "due": due, "k": name_of(task.key)}
        if task.key:
            entry["n"] = task.line
        entry.update(line)
        if not trusted:
            entry["up"] = mono_s
        self.runs.add(entry, mono_s, entry["r"] != "skipped" or task.gate is None)

    def name(self, task):
        return name_of(task.key)

    # --- small things

    def time(self):
        """(unix time, seconds of the monotonic clock, whether the first can be trusted)."""
        return self.clock.now(), self.clock.mono_ms() // 1000, self.clock.trusted

    def alerts(self):
        """The memory of what was said, made when first needed."""
        if self._dedup is None:
            from tenner.schedule.dedup import Dedup

            self._dedup = Dedup(self.stores, self._dedup_s, self._dedup_mask)
        return self._dedup
