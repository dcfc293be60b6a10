# tenner schedule.watch: takes in what changes round the heartbeat: boots, HEARTBEAT.md, the clock.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import tasks

_JUMP_S = const(30)
_FIRST_BEAT_S = const(60)
_SHORT_BOOTS = const(3)


class Watch:
    """Keeps the list of tasks up to date; `book` is the wake it works for."""

    def __init__(self, book):
        self._book = book
        self._heartbeat = book.heartbeat
        self._ledger = book.ledger

    def look(self):
        """Take in what has changed since the last wake."""
        if not self._heartbeat.booted:
            self._boot()
        self._refresh()
        self._watch_clock()

    def _boot(self):
        boots, notices, lines = self._ledger.boot()
        mono_s = self._book.time()[1]
        for line in lines:
            self._book.runs.add(line, mono_s)
        self._ledger.booted()
        self._heartbeat.early = boots >= _SHORT_BOOTS
        self._heartbeat.offset_s = self._heartbeat.clock.now() - mono_s
        self._heartbeat.booted = True
        for text in notices:
            self._heartbeat.notify(text)

    def _refresh(self):
        """Read HEARTBEAT.md again when it has changed."""
        now, mono_s, trusted = self._book.time()
        signature = self._book.stores.signature()
        if signature == self._heartbeat.signature:
            return
        first = self._heartbeat.signature is None and self._heartbeat.tasks is None
        old = self._heartbeat.tasks or ()
        self._heartbeat.tasks = None
        self._heartbeat.work = False
        if signature is not None and self._heartbeat.every_s:
            from tenner.schedule import slots
            from tenner.schedule.index import scan

            seed = slots.seed(self._heartbeat.port.device_id())
            index = scan(self._book.stores.lines(), self._heartbeat.every_s, seed, old)
            self._take(index, old, now, mono_s)
            self._report(index)
        self._heartbeat.signature = signature
        for task in old:
            if task.pending and task not in (self._heartbeat.tasks or ()):
                self._book.close(task, task.pending, now, trusted)
        if self._heartbeat.tasks and not first:
            self._ledger.save_tasks(self._heartbeat.tasks)
        self._heartbeat.said = None

    def _take(self, index, old, now, mono_s):
        self._heartbeat.tasks = index.tasks
        self._heartbeat.work = index.work
        for task in index.tasks:
            if task in old:
                continue
            known = self._ledger.adopt(task)
            if old or self._heartbeat.was_trusted:
                task.base_s = mono_s
            if self._heartbeat.was_trusted and not known:
                tasks.seat(task, now, mono_s)
            if task.beat and self._heartbeat.early and mono_s < _FIRST_BEAT_S:
                # Boots as short as the last ones never last an interval.
                task.base_s = _FIRST_BEAT_S - task.every_s
        if self._heartbeat.was_trusted:
            self._ledger.adopted()
        log("heartbeat", "HEARTBEAT.md: %d timed tasks" % len(index.tasks))

    def _report(self, index):
        if index.problems_crc == self._ledger.state.get("p", 0):
            return
        if index.problems:
            self._heartbeat.notify(
                "\n".join(index.problems) + "\nBrackets stay as text for the model."
            )
        self._ledger.state["p"] = index.problems_crc
        self._ledger.save()

    def _watch_clock(self):
        """Seat the tasks anew when the clock becomes trusted or jumps: nothing runs in a burst."""
        now, mono_s, trusted = self._book.time()
        jump_s = now - mono_s - self._heartbeat.offset_s
        self._heartbeat.offset_s = now - mono_s
        if (
            self._heartbeat.every_s
            and self._ledger.state.get("b")
            and mono_s >= self._heartbeat.every_s
        ):
            self._ledger.state["b"] = 0
            self._ledger.save()
        became = trusted and not self._heartbeat.was_trusted
        if became or (trusted and abs(jump_s) > _JUMP_S):
            self._heartbeat.was_trusted = True
            self._reseat(now, mono_s, 0 if became else jump_s)
        elif not trusted and self._heartbeat.was_trusted:
            self._heartbeat.was_trusted = False
            for task in self._heartbeat.tasks or ():
                task.base_s = mono_s

    def _reseat(self, now, mono_s, jump_s):
        seated = 0
        for task in self._heartbeat.tasks or ():
            if task.pending:
                # Its due time belongs to the clock that was in force before.
                self._book.close(task, task.pending, now, bool(jump_s))
            # After a leap forward a grid starts anew, but what stands at a time of day and was
            # leaped over is caught up once.
            if (
                task.ran
                or task.last <= 0
                or task.last > now + tasks.horizon_s(task)
                or (jump_s > 0 and task.every_s)
            ):
                tasks.seat(task, now, mono_s)
                seated += 1
        self._ledger.adopted()
        if self._heartbeat.tasks:
            self._ledger.save_tasks(self._heartbeat.tasks)
        if not seated and not jump_s:
            return
        what = "the clock moved by %d s" % jump_s if jump_s else "the clock is set"
        log("heartbeat", "%s: %d tasks start anew" % (what, seated))
