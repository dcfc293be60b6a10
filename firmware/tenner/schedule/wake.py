# tenner schedule.wake: one look at the file, the clock and the sensors; runs what is due.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.schedule import decide, tasks
from tenner.schedule.book import Book

_PUT_BACKS = const(3)
_PAUSE_S = const(60)


class Wake(Book):
    """Lives for one wake of the `heartbeat`."""

    # --- one wake

    async def step(self, forced=False):
        """Decide and run. (action, reason)"""
        heartbeat = self.heartbeat
        self._watch()
        now, mono_s, trusted = self.time()
        self.runs.flush_old(mono_s)
        due = self._due(now, mono_s, trusted, forced)
        action, reason = self._decide(due or heartbeat.tasks, forced)
        if action == "off" or not due:
            answer = self.say(action, reason)
        else:
            ready, answer = await self._pass_gates(due, forced)
            for model in (False, True):
                group = [task for task in ready if task.notify != model]
                if group:
                    answer = await self._start(group, forced, model)
        heartbeat.wake_at_s = self._next_wake()
        return answer

    def _watch(self):
        """Take in what has changed since the last wake: a boot, the file, the clock."""
        from tenner.schedule.watch import Watch

        Watch(self).look()

    def _next_wake(self):
        """Monotonic second at which something is due, None when nothing ever is."""
        heartbeat = self.heartbeat
        if not heartbeat.every_s:
            return None
        now, mono_s, trusted = self.time()
        best = None
        for task in heartbeat.tasks or ():
            due = tasks.due_at(task, now, mono_s, trusted, self.zone)
            if due is None:
                continue
            left = due - now
            if left <= 0:
                following = tasks.following(task, due, now, trusted, self.zone)
                left = max(min(self._wait_of(task, mono_s), following - now), 0)
            if best is None or left < best:
                best = left
        return None if best is None else mono_s + best

    def _due(self, now, mono_s, trusted, forced):
        """The tasks whose occurrence has come; an older one that still waited ends here."""
        due = []
        for task in self.heartbeat.tasks or ():
            at = tasks.due_at(task, now, mono_s, trusted, self.zone)
            if at is None or at > now:
                if forced:
                    task.asked = True
                    task.due = now
                    due.append(task)
                continue
            if task.pending:
                newer = tasks.newer(task, at, now, trusted, self.zone)
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
        from tenner.schedule.senses import Senses

        heartbeat = self.heartbeat
        senses = Senses(heartbeat.part("sensors"), heartbeat.notify, heartbeat.failed)
        ready = []
        checked = 0
        answer = waits = None
        for task in due:
            action, reason = self._decide([task], forced)
            if action == "run" and task.gate and task.opened is None:
                checked += 1
                shut = await self._look(senses, task, forced)
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

    async def _look(self, senses, task, forced):
        """None when the task's gate lets pass, else why it does not."""
        _, mono_s, _ = self.time()
        silent = len(senses.failed)
        is_open, failed = await senses.check(task, mono_s, forced)
        if len(senses.failed) != silent:
            self.ledger.save_tasks(self.heartbeat.tasks)
        return failed or (None if is_open else "no gate is true (1 checked)")

    async def _start(self, group, forced, model):
        """Run tasks if budget, lane and network allow; else they wait or end. (action, reason)"""
        _, mono_s, _ = self.time()
        if not forced and any(self._wait_of(task, mono_s) > 0 for task in group):
            reason = self.heartbeat.waits[not model]
            self.hold(group, reason)
            return "retry", reason
        action, reason = self._decide(group, forced, None, model, late=True)
        if action == "run":
            return await self._run(group, model, mono_s)
        if not forced:
            if action == "retry":
                self.hold_off(reason, not model)
                self.hold(group, reason)
            else:
                for task in group:
                    self._skip(task, reason)
        return self.say(action, reason)

    async def _run(self, group, model, mono_s):
        heartbeat = self.heartbeat
        if not model:
            from tenner.schedule import outcome

            return await outcome.alerts(heartbeat, group)
        heartbeat.running_s = mono_s
        if heartbeat.spawns:
            heartbeat.run_aside(group)
            return "run", "started"
        from tenner.schedule import turns

        try:
            return await turns.run_groups(heartbeat, group)
        finally:
            heartbeat.running_s = None

    # --- decisions

    def _question(self, group, forced=False, gates=None, model=True, late=False):
        """What `decide` is asked; without `late` only of the gates before budget and lane."""
        heartbeat = self.heartbeat
        now, mono_s, trusted = self.time()
        state = {"work": heartbeat.work, "gates": gates, "model": model, "forced": forced}
        busy = left = hours = None
        online = True
        if heartbeat.window:
            from tenner.schedule.hours import Hours

            hours = Hours(heartbeat.window)
        config = {"enabled": bool(heartbeat.every_s), "hours": hours, "zone": self.zone}
        if late:
            busy = heartbeat.lane.busy()
            if not busy and heartbeat.put_backs >= _PUT_BACKS:
                busy = "conversation" if heartbeat.lane.idle_s() < _PAUSE_S else None
            online = heartbeat.online()
            left = heartbeat.part("budget").left("heartbeat")
            config["tokens_per_day"] = heartbeat.config.get("budget.tokens_per_day")
            if heartbeat.running_s is not None and model:
                state["running_s"] = mono_s - heartbeat.running_s
        return now, mono_s * 1000, trusted, group, state, config, busy, online, left

    def _decide(self, group, forced=False, gates=None, model=True, late=False):
        # The gates before those of `late` have been passed by then.
        return decide.decide(*self._question(group, forced or late, gates, model, late))

    def _wait_of(self, task, mono_s):
        """Seconds until a task that is due may be tried."""
        until_s = self.heartbeat.retry_at_s[task.notify]
        if not task.notify:
            until_s = max(until_s, self.heartbeat.not_before_s)
        return max(until_s - mono_s, 0)

    def _skip(self, task, reason):
        """The occurrence at hand ends without a run."""
        now, mono_s, trusted = self.time()
        line = {"r": "skipped", "why": reason}
        if task.pending and task.pending[3]:
            line["tokens"] = task.pending[3]
        self.write(task, task.due, line, now, trusted)
        tasks.begin(task, now, mono_s, trusted)

    # --- what people ask

    def status(self):
        """Yield the chain of gates, line by line."""
        heartbeat = self.heartbeat
        self._watch()
        yield "heartbeat every %d s, %d timed tasks%s" % (
            heartbeat.every_s,
            len(heartbeat.tasks or ()),
            "" if heartbeat.clock.trusted else ", clock not set",
        )
        question = self._question(heartbeat.tasks, late=True)
        for index, (name, reason) in enumerate(decide.chain(*question)):
            yield "%d %s: %s" % (index + 1, name, reason or "ok")
        if heartbeat.saved.get("f"):
            yield "failed %d times in a row" % heartbeat.saved["f"]
        if heartbeat.failed:
            yield "no answer from %s" % ", ".join(heartbeat.failed)

    def why(self, count):
        """Yield the last decisions, oldest first, and what is next."""
        from tenner.schedule.runs import describe

        self._watch()
        for line in self.runs.tail(count):
            yield describe(line, self.zone)
        wake_at_s = self._next_wake()
        if wake_at_s is None:
            yield "next: nothing"
        else:
            yield "next: in %d s" % (wake_at_s - self.time()[1])
