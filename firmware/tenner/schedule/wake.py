# tenner schedule.wake: one look of the heartbeat at the file, the clock and the sensors; runs what is due.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.schedule import decide
from tenner.schedule.book import SENT
from tenner.schedule.ledger import Ledger
from tenner.schedule.watch import look

_PUT_BACKS = const(3)
_PAUSE_S = const(60)


class Wake(Ledger):
    """Lives for one wake of the heartbeat."""

    def _look(self):
        """Take in what has changed since the last wake: a boot, the file, the clock."""
        heartbeat = self.box
        look(self)
        if heartbeat.tasks is None:
            heartbeat.work = False
        mono_s = self.time()[1]
        if heartbeat.saved.get("b") and heartbeat.every_s and mono_s >= heartbeat.every_s:
            heartbeat.saved["b"] = 0
            self.save()

    async def step(self, forced, aside):
        """Decide and run. (action, reason)"""
        heartbeat = self.box
        self._look()
        self.flush()
        due = self.due(forced)
        action, reason = self._decide(due or heartbeat.tasks, forced)
        if action == "off" or not due:
            answer = self.say(action, reason)
        else:
            ready, answer = await self._pass_gates(due, forced)
            for model in (False, True):
                group = [task for task in ready if task.notify != model]
                if group:
                    answer = await self._start(group, forced, model, aside)
        heartbeat.wake_at_s = self.next_wake() if heartbeat.every_s else None
        return answer

    async def _pass_gates(self, due, forced):
        """(tasks that neither hours, nor lack of work, nor a sensor stops, last answer)."""
        from tenner.schedule.gates import Senses

        heartbeat = self.box
        senses = Senses(heartbeat)
        ready = []
        checked = 0
        answer = waits = None
        for task in due:
            action, reason = self._decide([task], forced)
            if action == "run" and task.gate and task.opened is None:
                checked += 1
                gate = task.gate
                before = (len(heartbeat.failed), gate.fired, gate.reference)
                shut = await senses.check(task, self.time()[1], forced)
                # A gate that may fire again must do so after a reboot too.
                if (len(heartbeat.failed), gate.fired, gate.reference) != before:
                    self.save_tasks()
                if shut:
                    action, reason = "skip", shut
            if action == "run":
                ready.append(task)
                continue
            if action == "skip":
                task.opened = None
                if not forced:
                    self.skip(task, reason)
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

    async def _start(self, group, forced, model, aside):
        """Run tasks if budget, lane and network allow; else they wait or end. (action, reason)"""
        heartbeat = self.box
        if not forced and any(self.wait_of(task) for task in group):
            reason = heartbeat.waits[not model]
            self.hold(group, reason)
            return "retry", reason
        # The gates before these have been passed.
        action, reason = self._decide(group, True, model, late=True)
        if action != "run":
            if not forced and action == "retry":
                self.hold_off(reason, not model)
                self.hold(group, reason)
            elif not forced:
                for task in group:
                    self.skip(task, reason)
            return self.say(action, reason)
        if not model:
            from tenner.schedule.outcome import alerts

            return await alerts(heartbeat, group)
        heartbeat.running_s = self.time()[1]
        if aside:
            heartbeat.run_aside(group)
            return "run", "started"
        from tenner.schedule import turns

        try:
            return await turns.run_groups(heartbeat, group)
        finally:
            heartbeat.running_s = None

    # --- decisions

    def _question(self, group, forced=False, model=True, late=False):
        """What `decide` is asked; without `late` only of the gates before budget and lane."""
        heartbeat = self.box
        now, mono_s, trusted = self.time()
        state = {"work": heartbeat.work, "model": model, "forced": forced}
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

    def _decide(self, group, forced=False, model=True, late=False):
        return decide.decide(*self._question(group, forced, model, late))

    # --- what people ask

    def status(self):
        """Yield the chain of gates, line by line."""
        heartbeat = self.box
        self._look()
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
        self._look()
        for line in self.tail(count):
            yield _describe(line, self.zone)
        wake_at_s = self.next_wake() if self.box.every_s else None
        yield (
            "next: nothing"
            if wake_at_s is None
            else "next: in %d s" % (wake_at_s - self.time()[1])
        )


def _describe(line, zone):
    """One line of the log as a person reads it."""
    name = line.get("job") or line.get("k", "?")
    if "n" in line:
        name = "line %d" % line["n"]
    text = "%s %s: %s" % (zone.short(line.get("t", 0)), name, line.get("r", "?"))
    if "why" in line:
        text += ", %s" % line["why"]
    if line.get("tokens"):
        text += ", %s%d tokens" % ("about " if line.get("est") else "", line["tokens"])
    if "ms" in line:
        text += ", %d ms" % line["ms"]
    if "sent" in line:
        text += ", " + SENT.get(line["sent"], "?")
    return text
