# tenner schedule.watch: takes in what changes round the heartbeat: boots, HEARTBEAT.md, the clock.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const

_JUMP_S = const(30)
_FIRST_BEAT_S = const(60)
_SHORT_BOOTS = const(3)


class Watch:
    """The part of the heartbeat that keeps its list of tasks up to date."""

    def __init__(self):
        #: The timed tasks, the beat itself with key 0 first; None without HEARTBEAT.md.
        self.tasks = None
        self._work = False
        self._signature = None
        self._booted = False
        self._early = False
        self._trusted = False
        self._offset_s = 0
        self._said = None

    def _wake(self):
        """Take in what has changed since the last wake."""
        if not self._booted:
            self._boot()
        self._refresh()
        self._watch_clock()

    def _boot(self):
        boots, notices, lines = self.ledger.boot()
        mono_s = self.time()[1]
        for line in lines:
            self.runs.add(line, mono_s, False)
        self.runs.flush(mono_s)
        self.ledger.booted()
        self.senses.failed = self.ledger.silent
        self._early = boots >= _SHORT_BOOTS
        self._offset_s = self.clock.now() - mono_s
        self._booted = True
        for text in notices:
            self.notify(text)

    def _refresh(self):
        """Read HEARTBEAT.md again when it has changed."""
        now, mono_s, trusted = self.time()
        signature = self.stores.signature()
        if signature == self._signature:
            return
        first = self._signature is None and self.tasks is None
        old = self.tasks or ()
        self.tasks = None
        self._work = False
        if signature is not None and self.every_s:
            from tenner.schedule.index import scan

            index = scan(self.stores.lines(), self.every_s, self._seed, old)
            self._take(index, old, now, mono_s)
            self._report(index)
        self._signature = signature
        for task in old:
            if task.pending and task not in (self.tasks or ()):
                self.close(task, task.pending, now, trusted)
        if self.tasks and not first:
            self.ledger.save_tasks(self.tasks)
        self._said = None

    def _take(self, index, old, now, mono_s):
        self.tasks = index.tasks
        self._work = index.work
        for task in index.tasks:
            if task in old:
                continue
            known = self.ledger.adopt(task)
            if old or self._trusted:
                task.base_s = mono_s
            if self._trusted and not known:
                task.seat(now, mono_s)
            if task.beat and self._early and mono_s < _FIRST_BEAT_S:
                # Boots as short as the last ones never last an interval.
                task.base_s = _FIRST_BEAT_S - task.every_s
        if self._trusted:
            self.ledger.adopted()
        log("heartbeat", "HEARTBEAT.md: %d timed tasks" % len(index.tasks))

    def _report(self, index):
        if index.problems_crc == self.ledger.state.get("p", 0):
            return
        if index.problems:
            self.notify("\n".join(index.problems) + "\nBrackets stay as text for the model.")
        self.ledger.state["p"] = index.problems_crc
        self.ledger.save()

    def _watch_clock(self):
        """Seat the tasks anew when the clock becomes trusted or jumps: nothing runs in a burst."""
        now, mono_s, trusted = self.time()
        jump_s = now - mono_s - self._offset_s
        self._offset_s = now - mono_s
        if self.every_s and self.ledger.state.get("b") and mono_s >= self.every_s:
            self.ledger.state["b"] = 0
            self.ledger.save()
        became = trusted and not self._trusted
        if became or (trusted and abs(jump_s) > _JUMP_S):
            self._trusted = True
            self._reseat(now, mono_s, 0 if became else jump_s)
        elif not trusted and self._trusted:
            self._trusted = False
            for task in self.tasks or ():
                task.base_s = mono_s

    def _reseat(self, now, mono_s, jump_s):
        seated = 0
        for task in self.tasks or ():
            if task.pending:
                # Its due time belongs to the clock that was in force before.
                self.close(task, task.pending, now, bool(jump_s))
            # After a leap forward a grid starts anew, but what stands at a time of day and was
            # leaped over is caught up once.
            if (
                task.ran
                or task.last <= 0
                or task.last > now + task.horizon_s()
                or (jump_s > 0 and task.every_s)
            ):
                task.seat(now, mono_s)
                seated += 1
        self.ledger.adopted()
        if self.tasks:
            self.ledger.save_tasks(self.tasks)
        if not seated and not jump_s:
            return
        what = "the clock moved by %d s" % jump_s if jump_s else "the clock is set"
        log("heartbeat", "%s: %d tasks start anew" % (what, seated))
