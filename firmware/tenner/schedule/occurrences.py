# tenner schedule.occurrences: due, waiting and running occurrences of the heartbeat or the jobs.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.schedule import alarms, due, notices, saved_state
from tenner.schedule.decide import Question, decide
from tenner.schedule.saved_state import RunLog
from tenner.schedule.task import Moment, Occurrence, Run
from tenner.store.hours import Hours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.agent.parts import Parts
    from tenner.schedule.task import Condition, Task
    from tenner.schedule.types import Service
    from tenner.store.posix_tz import Zone

_MAX_RETRY_S = const(30)
# An urgent alarm waits so long for a model.
_URGENT_S = const(20)


class Occurrences:
    """Lives for one look or one turn; all that lasts longer is in `service`, or on flash."""

    #: Has the file a line with a mistake, which is off?
    is_off = False

    def __init__(self, service: "Service") -> None:
        self.service = service
        self.moment = Moment(service.app.clock)
        self.log = RunLog(service, self.moment.mono_s)
        self.note = self.log.note

    # --- the log and the state

    @property
    def zone(self) -> "Zone":
        return self.service.app.get("zone")

    def write(
        self,
        task: "Task",
        due_s: int,
        line: dict,
        start: int | None = None,
        trusted: bool = True,
        can_wait: "bool | Condition | None" = False,
    ) -> None:
        """Put the line of an occurrence into the run log."""
        moment = self.moment
        entry = self.log.entry(task.name(), due_s, moment.now if start is None else start, None)
        if task.line:
            entry["n"] = task.line
        entry.update(line)
        if not (trusted and moment.trusted):
            entry["up"] = moment.mono_s
        self.log.add(entry, can_wait)

    def save(self) -> None:
        """Write the state, after the lines that tell how it came about."""
        self.service.dirty = True
        self.write_down()

    def close(self) -> None:
        """End the look: set the next wake, and write the changes."""
        self.service.wake_at_s = self.next_wake()
        self.write_down()

    def write_down(self, at_once: bool = False) -> None:
        """Write the changes; `at_once`: also lines of the log that could wait."""
        service = self.service
        try:
            self.log.flush(at_once)
            if service.dirty:
                saved_state.save(service, self.log.files)
        except OSError as error:
            # An alarm goes out, also where the disk takes nothing; the next look tries again.
            saved_state.not_stored(service, error)

    # --- due

    def due(self, forced: bool | tuple[int, ...] = False) -> "list[Task]":
        """
        Return the tasks whose occurrence has come; an older one that still waited ends here.
        `forced`: also those without a condition (True), or only those of these lines.
        """
        found = []
        moment = self.moment
        for task in self.service.tasks or ():
            at = self.due_at(task)
            task.asked = at is None or at > moment.now
            if task.asked and task.condition and not forced and self.is_overdue(task):
                # Its turn may run still, and its next look may be far.
                task.asked = False
                task.due = moment.now
                found.append(task)
                continue
            wanted = task.line in forced if isinstance(forced, tuple) else None
            if wanted is False:
                continue
            if task.asked and task.pending and task.pending.asked:
                task.due = task.pending.due
            elif not task.asked:
                task.due = due.newest(task, at, moment, self.zone)
                if task.pending and task.due > task.pending.due:
                    self.supersede(task, task.pending)
                elif task.pending:
                    task.due = task.pending.due
            elif wanted or (forced and not task.condition):
                task.due = moment.now
            else:
                continue
            found.append(task)
        return found

    def due_at(self, task: "Task") -> int | None:
        """Return when the next occurrence of a task falls due, None when it is held or off."""
        return due.due_at(task, self.moment, self.zone)

    def next_wake(self) -> int | None:
        """Return the monotonic second at which something is due, None when nothing ever is."""
        moment = self.moment
        now = moment.now
        waits = []
        for task in self.service.tasks or () if self.service.every_s != 0 else ():
            at = self.due_at(task)
            if task.waits_s is not None:
                waits.append(self.wait_of(task) if task.gave_up else self.patience_left(task))
            if task.pending and task.pending.asked:
                waits.append(self.wait_of(task))
            if at is None:
                continue
            left = at - now
            if left <= 0:
                left = self.wait_of(task)
                if moment.trusted:
                    coming = (due.after(task, now, self.zone) or now + left) - now
                else:
                    coming = task.every_s - (now - at) % task.every_s
                left = min(left, coming)
            waits.append(max(left, 0))
        if self.service.area == "heartbeat" and self.log.files.is_holding():
            until_s = self.service.alert_retry.until_s - moment.mono_s
            waits.append(max(notices.wait_s(self), until_s, 1))
        return moment.mono_s + min(waits) if waits else None

    def patience_left(self, task: "Task") -> int:
        """Return the seconds for which a task that waits for a model (`waits_s`) still does."""
        patience_s = self.service.app.config.get("heartbeat.patience")
        if task.urgent:
            patience_s = min(patience_s, _URGENT_S)
        return max(task.waits_s + patience_s - self.moment.mono_s, 0)

    def is_overdue(self, task: "Task") -> bool:
        """Return whether a task has waited too long for a model."""
        return task.waits_s is not None and not self.patience_left(task)

    def give_up(self, task: "Task", why: str | None = None) -> None:
        """Tell the task without the model, next. `why`: None if its time is over."""
        if why is None and task.run:
            why = "no answer in %d s" % (self.moment.mono_s - task.waits_s)
        elif why is None:
            reason = task.pending.reason if task.pending else self.service.model_retry.reason
            why = "no model was asked, " + (reason or "it took too long")
        task.gave_up = why
        task.alert = True

    def is_held(self, task: "Task") -> bool:
        """Return whether the messages of an alarm wait now."""
        return notices.why_held(self, task) is not None

    def _retry_of(self, task):
        is_alert = task.notify or task.alert
        return self.service.alert_retry if is_alert else self.service.model_retry

    def wait_of(self, task: "Task") -> int:
        """Return the seconds until a task that is due may be tried."""
        until_s = max(self._retry_of(task).until_s, task.not_before_s)
        if not (task.notify or task.alert):
            until_s = max(until_s, self.service.not_before_s)
        return max(until_s - self.moment.mono_s, 0)

    def question(
        self,
        tasks: "list[Task] | None",
        forced: bool | tuple[int, ...] = False,
        model: bool = True,
        late: bool = False,
    ) -> Question:
        """Return the Question for `decide`; without `late` only for the checks before budget and
        lane."""
        service = self.service
        app = service.app
        found = Question(self.moment, tasks, self.zone)
        found.forced = forced
        found.model = model
        found.has_work = service.has_work
        found.enabled = service.every_s != 0
        if service.window:
            found.hours = Hours(service.window)
        if late:
            lane = app.agent.lane
            found.busy = lane.busy()
            if not found.busy and service.preemptions >= 3 and lane.idle_s() < 60:
                found.busy = "conversation"
            found.online = app.online()
            budget = app.get("budget")
            found.tokens_left = budget.left(service.area)
            found.tokens_per_day = budget.per_day
            if service.running_s is not None and model:
                found.running_s = self.moment.mono_s - service.running_s
        return found

    def decide(self, *args: "Any") -> tuple[str, str]:
        """Return (action, reason) of `question(*args)`."""
        return decide(self.question(*args))

    # --- waiting

    def defer(self, tasks: "list[Task]", reason: str) -> None:
        """Let occurrences wait; one that has failed keeps the reason of its failure."""
        for task in tasks:
            if task.pending and not task.pending.tries:
                task.pending.reason = reason
            elif not task.pending and not task.asked:
                task.pending = Occurrence(task.due, reason)
                self.service.dirty = True

    def retry(self, tasks: "list[Task]", reason: str) -> tuple[str, str]:
        """Let the tasks wait for another try: 1 s, then twice as long each time, up to 30 s.
        (action, reason)"""
        self.defer(tasks, reason)
        retry = self._retry_of(tasks[0])
        retry.wait_s = min(retry.wait_s * 2, _MAX_RETRY_S) or 1
        retry.until_s = self.moment.mono_s + retry.wait_s
        retry.reason = reason
        return self.note("retry", reason)

    def waits_for(self, task: "Task") -> str:
        """Return why tasks like this one wait."""
        return self._retry_of(task).reason

    def supersede(self, task: "Task", waiting: Occurrence, trusted: bool = True) -> None:
        """End an occurrence that waited; its line in the log says why."""
        reason = waiting.reason
        if waiting.tries:
            reason = "failed %d times: %s" % (waiting.tries, reason)
        # The state on flash says while a task waits.
        can_wait = task.condition and not task.pending
        line: dict = {"r": "skipped", "why": reason}
        if waiting.tokens:
            line["tokens"] = waiting.tokens
        self.write(task, waiting.due, line, None, trusted, can_wait)
        if task.pending:
            self.service.dirty = True
            if task.pending is waiting:
                task.pending = None

    def skip(self, task: "Task", reason: str) -> None:
        """End the occurrence at hand without a run."""
        tokens = task.pending.tokens if task.pending else 0
        self.supersede(task, Occurrence(task.due, reason, 0, tokens))
        due.count_as_run(task, self.moment)
        task.waits_s = task.gave_up = None

    # --- running

    def begin(self, tasks: "list[Task]") -> None:
        """Note the run, and count the occurrences as run."""
        for task in tasks:
            # It has begun already if memory ran short after this and the caller tries again.
            if task.run is None:
                task.run = Run(task, self.moment.now, self.moment.trusted)
                due.count_as_run(task, self.moment)
        self.save()

    def end(self, tasks: "list[Task]", line: dict, bit: int = 0) -> None:
        """End the occurrences; the first line carries the cost, the others name it. `bit`: the
        sent message of alarms."""
        service = self.service
        ran = line["r"] == "ran"
        if ran:
            service.last_logged = "run"
            service.preemptions = 0
            retry = self._retry_of(tasks[0])
            retry.wait_s = retry.until_s = 0
        for task in tasks:
            if task.run is None:
                continue
            if ran:
                task.failures = 0
            task.trigger_value = task.waits_s = task.gave_up = None
            if bit and ran and task.condition:
                alarms.told(task, bit, self.moment.now, line["sent"] == "held")
            run = task.run
            entry = dict(line)
            if task is not tasks[0]:
                entry = {"r": line["r"], "sent": line["sent"], "with": tasks[0].name()}
            elif run.pending:
                entry["tokens"] += run.pending.tokens
            self.write(task, run.due, entry, run.start, run.trusted)
            task.run = None
        self.save()

    def requeue(self, tasks: "list[Task]", reason: str, failed: int = 0, tokens: int = 0) -> None:
        """Let occurrences without a result wait again, unless newer ones have come meanwhile."""
        for task in tasks:
            run = task.run
            if run is None:
                continue
            waiting = Occurrence(run.due, reason, failed, tokens)
            if run.pending:
                waiting.tries += run.pending.tries
                waiting.tokens += run.pending.tokens
            tokens = 0
            if task.pending:
                self.supersede(task, waiting, run.trusted)
            else:
                waiting.asked = run.asked
                run.undo(task)
                task.pending = waiting
            # Last: where memory is short this is called again.
            task.run = None
        self.save()


async def write_down(app: "Parts") -> None:
    """Write the state that the heartbeat and the jobs have only in memory to flash."""
    for name in ("heartbeat", "cron"):
        if app.has(name):
            Occurrences(app.get(name)).write_down(True)
