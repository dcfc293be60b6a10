# tenner schedule.saved_state: the state that outlives a reboot, and the log of the outcomes.
# MIT license; Copyright (c) 2026 the tenner authors
"""
state/heartbeat.json and state/cron.json have counters by "" and by task

    [last run, the run under way: [due, start, whether due again], the wait: [due, why, tries,
    tokens, asked for], ...]

and behind that the values of a condition, with its measurements, or of a job. A run is noted there
before it begins, an occurrence when it begins to wait. Without its line in the log at the next
boot, the run was cut short, or the occurrence still waits.

state/runs.jsonl has a line for each occurrence that fell due:

    {"t":1790000000,"due":1789999980,"k":"1f3a9c","n":7,"r":"ran","tokens":812,"ms":2300,"sent":"yes"}
    {"t":1790000000,"due":1789999980,"k":"beat","r":"skipped","why":"quiet hours (22:00-07:00)"}

`k` is the task or "beat", `n` its line in HEARTBEAT.md, `job` stands there instead for a job;
`up`: seconds since boot, where the clock was not set. Checks that met no condition are gathered
for up to a minute.
"""

import json

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import schedule_files
from tenner.schedule.task import Occurrence, SavedTask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.schedule.schedule_files import ScheduleFiles
    from tenner.schedule.task import Condition, Moment, Task
    from tenner.schedule.types import Log, State

#: Boots in a row that were too short for a beat, after which the next beat comes early.
SHORT_BOOTS = const(3)
# Lines that may have been written since the state was, beside two for each task.
_TAIL = const(24)
# Lines of the log that are gathered, for so long; so many by a disk that takes nothing.
_GATHER_LINES = const(12)
_GATHER_S = const(60)
_MOST_HELD = const(24)
#: The outcomes of an answer, as people read them.
SENT = {
    "yes": "shown at the console",
    "queued": "message queued",
    "held": "held until quiet hours end",
    "repeat": "told before",
    "no": "nothing to report",
}


def kept(task: "Task") -> list:
    """Return further values that outlive a reboot: of the task's condition, or of a job."""
    of = task.condition
    if of:
        muted = [of.muted, of.mute_s] if of.mute_s else of.muted
        return [of.alarm, of.reference, muted, of.told]
    if task.once:
        return [task.at]
    return (
        [task.failures, task.off_since, task.why, task.told] if isinstance(task.key, str) else []
    )


def restore(task: "Task", values: "Sequence") -> None:
    """Give a task the values of `kept`; those that an older version did not have stay."""
    of = task.condition
    values = list(values) + kept(task)[len(values) :]
    if of:
        alarm, of.reference, muted, of.told = values[:4]
        of.alarm = alarm if alarm and isinstance(alarm, list) else None
        of.muted, of.mute_s = muted if isinstance(muted, list) else (muted, 0)
    elif task.once:
        task.at = values[0]
    elif isinstance(task.key, str):
        task.failures, task.off_since, task.why, task.told = values[:4]


def current(service: "State", task: "Task") -> SavedTask:
    """Return the persistent state of a task (SavedTask)."""
    saved = service.saved.get(task.name())
    if saved:
        # The clock these belong to is not in force yet.
        last, run, pending = saved.last, saved.run, saved.pending
    else:
        last, run, pending = task.last, None, task.pending if service.was_trusted else None
    if task.run:
        run = [task.run.due, task.run.start, _is_due_again(service, task)]
    values = kept(task)
    if saved:
        values += saved.kept[len(values) :]
    elif task.condition and service.was_trusted:
        values += _measured(task.condition, service.offset_s)
    return SavedTask(last, run, pending, values)


def _measured(condition, offset_s):
    """Return since when the condition holds, and the readings that `drops by` and `rises by`
    compare with, by the clock."""
    values = [None if condition.since_s is None else condition.since_s + offset_s]
    for term in (condition,) + tuple(condition.also):
        if term.within_s:
            values.append([(one[0] + offset_s, one[1]) for one in term.past])
    return values if values != [None] else []


def resume(service: "State", condition: "Condition", values: "Sequence") -> None:
    """Go on with the measurements from before a reboot."""
    offset_s = service.offset_s
    since = values[0] if values else None
    # Where it was looked at since the boot, it must have held then.
    if since is not None and (condition.seen is None or condition.since_s is not None):
        # The clock may have been set back.
        condition.since_s = min(since - offset_s, service.app.clock.mono_s())
    place = 1
    for term in (condition,) + tuple(condition.also):
        if term.within_s and place < len(values):
            term.past = [(one[0] - offset_s, one[1]) for one in values[place]] + list(term.past)
            place += 1


def _is_due_again(service, task):
    """Return whether a run of the task is due again when it is cut short; None for those of a
    heartbeat, which are not."""
    return task.run.trusted and not task.skip_missed if service.area == "cron" else None


# --- written


def save(service: "State", files: "ScheduleFiles") -> None:
    """Write the state of all tasks."""
    files.save(service.area, _pieces(service))
    service.dirty = False
    if service.app.agent.full == service.area:
        service.app.agent.full = ""
        service.app.agent.notify("I can write to my files again.")


def not_stored(service: "State", error: OSError) -> None:
    """Log that the state could not be stored, and notify the owner, once until it is."""
    agent = service.app.agent
    if not agent.full:
        agent.full = service.area
        log(service.area, "state not stored: %s" % error)
        agent.notify(
            "I cannot write to my files: %s. Alarms and answers still come, but after a restart "
            "some may come again." % error
        )


def _pieces(service):
    counters = {
        "short_boots": service.short_boots,
        "failures": service.failures,
        "told": service.told,
        "problems": service.problems,
        "episodes": service.episodes,
        "faults": service.faults,
    }
    yield '{"":%s' % json.dumps(counters)
    names = []
    for task in service.tasks or ():
        name = task.name()
        names.append(name)
        yield ",\n%s:%s" % (json.dumps(name), _text(current(service, task)))
    for name in service.saved:
        if name not in names:
            yield ",\n%s:%s" % (json.dumps(name), _text(service.saved[name]))
    yield "}\n"


def _text(saved):
    waits = saved.pending
    if waits:
        waits = [waits.due, waits.reason, waits.tries, waits.tokens, waits.asked]
    return json.dumps([saved.last, saved.run, waits] + list(saved.kept))


# --- read


def load(service: "State", run_log: "RunLog", moment: "Moment") -> None:
    """Read the state at the first look; log a run that the power cut interrupted."""
    found, bad = run_log.files.load(service.area)
    try:
        _restore(service, found or {})
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        # JSON, but not as this version writes it.
        bad = run_log.files.quarantine(service.area)
        _restore(service, {})
    if bad:
        service.app.agent.notify(
            "Schedule state was corrupt (saved as %s); timers restart now." % bad
        )
    # A full flash may have taken the marks of later alarms than the state.
    for number in run_log.files.numbers() if service.area == "heartbeat" else ():
        service.episodes = max(service.episodes, number)
    service.early = service.short_boots >= SHORT_BOOTS
    if service.short_boots < SHORT_BOOTS:
        service.short_boots += 1
        service.dirty = True
    _compare_all(service, run_log)
    for name in service.saved:
        _log_interrupted(service, run_log, name)
    service.offset_s = moment.now - moment.mono_s
    service.booted = True


def _restore(service, found):
    """Take over the value of the state file; an error says that its shape is another."""
    counters = found.pop("", {})
    get = counters.get
    # The second names are those up to 0.9.
    service.short_boots = _number(get("short_boots", get("b", 0)))
    service.failures = _number(get("failures", get("f", 0)))
    service.told = _number(get("told", get("n", 0)))
    service.problems = get("problems", get("p", 0))
    service.episodes = _number(get("episodes", 0))
    service.faults = get("faults")
    if not isinstance(service.faults, dict):
        service.faults = {}
    if not isinstance(service.problems, list):
        service.problems = 0
    service.saved = {}
    for name in found:
        last, run, waits, *values = found[name]
        _number(last or 0)
        for time in run[:2] if run else ():
            _number(time)
        service.saved[name] = SavedTask(last, run, waits and Occurrence(*waits), values)


def _number(value):
    if not isinstance(value, (int, float)):
        raise TypeError
    return value


def _compare_all(service, run_log):
    """Compare the noted runs and waits with the lines of the log."""
    for entry in run_log.tail(_TAIL + 2 * len(service.saved)):
        name = run_log.task_of(entry)
        if name is not None:
            _compare(service.saved.setdefault(name, SavedTask()), entry)


def _compare(saved, entry):
    due = entry["due"]
    if saved.run and (due, entry["t"]) == (saved.run[0], saved.run[1]):
        saved.run.append(entry["r"])
    if entry["r"] != "interrupted":
        if saved.pending and due == saved.pending.due:
            saved.pending = None
        if "up" not in entry:
            saved.last = max(saved.last, due)


def _log_interrupted(service, run_log, name):
    """Log the run of a task that was cut short."""
    saved = service.saved[name]
    if not saved.run:
        return
    due, start, again, *ends = saved.run
    if not ends:
        log(service.area, "a restart interrupted the run of %s" % name)
        run_log.add(run_log.entry(name, due, start, "interrupted", "restart"))
        service.dirty = True
        if again is not None:
            # A job that crashes the board must not do so forever.
            saved.kept[0] += 1
    if not again or ends not in ([], ["interrupted"]):
        saved.run = None


# --- the log


class RunLog:
    """Lives for one look or one turn; the lines that are held are the service's."""

    def __init__(self, service: "Log", mono_s: int) -> None:
        self._service = service
        self._mono_s = mono_s
        self.files = schedule_files.of(service)

    def note(self, action: str, reason: str) -> tuple[str, str]:
        """Log a decision when it differs from the last. (action, reason)"""
        service = self._service
        kind = reason.split("(")[0]
        # "not due" is news only after a run.
        if kind != service.last_logged and (
            action != "wait" or service.last_logged in (None, "run")
        ):
            service.last_logged = kind
            log(service.area, reason)
        return action, reason

    def task_of(self, entry: dict) -> str | None:
        """Return the name of the task that an entry is about, None when it is another
        service's."""
        return entry.get("job" if self._service.area == "cron" else "k")

    def entry(
        self, name: str, due: int, start: int, result: str | None, why: str | None = None
    ) -> dict:
        """Return a new entry."""
        found = {"t": start, "due": due, "r": result}
        found["job" if self._service.area == "cron" else "k"] = name
        if why is not None:
            found["why"] = why
        return found

    def add(self, entry: dict, can_wait: "bool | Condition | None" = False) -> None:
        """Keep an entry until the next write."""
        service = self._service
        # As text, which takes a third of the memory.
        service.held.append(json.dumps(entry, separators=(",", ":")))
        del service.held[:-_MOST_HELD]
        if not can_wait or service.written_s is None or len(service.held) >= _GATHER_LINES:
            service.written_s = self._mono_s - _GATHER_S

    def flush(self, at_once: bool = False) -> None:
        """Write the entries that are held, if they cannot wait or have waited for a minute."""
        service = self._service
        if service.held and (at_once or self._mono_s - service.written_s >= _GATHER_S):
            self.files.append(service.held)
            # Not before the append: a full disk must not lose them.
            service.held = []
            service.written_s = self._mono_s

    def tail(self, count: int) -> list[dict]:
        """Return the last `count` entries, oldest first."""
        held = [json.loads(line) for line in self._service.held]
        return (self.files.tail(count) + held)[-count:]
