# tenner schedule.reload: applies changes to a service: boots, its file, the clock.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`scan(occurrences, old)` of a service reads its file and returns (tasks, sentences for the owner),
with those of `old` that are unchanged.
"""

from binascii import crc32

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import alarms, due, saved_state
from tenner.schedule.task import SavedTask, Task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.schedule.occurrences import Occurrences
    from tenner.schedule.types import Look

_FIRST_BEAT_S = const(60)
_JUMP_S = const(30)
_MAX_PROBLEMS = const(5)
# An alarm whose item is gone is kept for so long, and so many of them.
_GONE_S = const(86400)
_MOST_GONE = const(4)
# The place in the saved values of a condition where its measurements by the clock begin.
_MEASURED = const(4)


def reload(occurrences: "Occurrences") -> None:
    """Apply the changes since the last look: a boot, the file, the clock."""
    service = occurrences.service
    moment = occurrences.moment
    if not service.booted:
        saved_state.load(service, occurrences.log, moment)
    read_again(occurrences)
    if service.tasks is None:
        service.has_work = False
        prune(occurrences, ())
    _follow_clock(occurrences)
    if service.short_boots and service.every_s and moment.mono_s >= service.every_s:
        service.short_boots = 0
        service.dirty = True


def read_again(occurrences: "Occurrences") -> None:
    """Read the file again when it has changed."""
    signature = occurrences.log.files.signature()
    if signature != occurrences.service.signature:
        _read(occurrences, signature)


def _read(occurrences, signature):
    service = occurrences.service
    old = service.tasks or ()
    if signature is None:
        service.tasks = None
    else:
        # A scan that fails leaves the old tasks.
        service.tasks, problems = service.scan(occurrences, old)
        for task in service.tasks or ():
            if task not in old:
                _adopt(occurrences, task, old)
        _report(service, problems)
        log(service.area, "%s: %d tasks" % (service.file, len(service.tasks or ())))
    service.signature = signature
    tasks = service.tasks or ()
    new = [task for task in tasks if task not in old]
    for task in old:
        if task in tasks:
            continue
        waits = service.saved.get(task.name())
        if waits and waits.pending and not task.pending:
            # Of the time before a boot whose clock is not set yet.
            task.pending = waits.pending
            waits.pending = None
        if task.condition and isinstance(task.condition.alarm, list):
            saved = SavedTask(task.last, None, None, saved_state.kept(task))
            _part_with(occurrences, task.name(), saved, new)
        if task.pending:
            occurrences.supersede(task, task.pending)
    service.dirty = service.dirty or bool(old)
    service.last_logged = None


def prune(occurrences: "Look", tasks: "Sequence[Task]") -> None:
    """Forget the state of tasks that have left the file."""
    service = occurrences.service
    names = [task.name() for task in tasks]
    old = service.tasks or ()
    # Those that have no state of their own.
    new = [task for task in tasks if task not in old and task.name() not in service.saved]
    moment = occurrences.moment
    for name in list(service.saved):
        saved = service.saved[name]
        gone_s = moment.now - (_gone_at(saved) or moment.now)
        if moment.trusted and not 0 <= gone_s < _GONE_S:
            service.saved.pop(name)
            service.dirty = True
        elif name not in names:
            gone = Task()
            gone.key = name
            service.saved.pop(name)
            gone.pending = saved.pending
            if gone.pending:
                occurrences.supersede(gone, gone.pending)
                saved.pending = None
            if saved.kept and isinstance(saved.kept[0], list):
                _part_with(occurrences, name, saved, new)
            service.dirty = service.dirty or name not in service.saved


def _part_with(occurrences, name, saved, new):
    """
    Give the alarm of an item that is gone to one of the `new` that watches the same. Without one
    it is kept for a day: an item that comes back unchanged goes on with it.
    """
    service = occurrences.service
    alarm = saved.kept[0]
    told = alarm[alarms.FLAGS] & alarms.GONE
    if not told and alarms.hand_over(saved.kept, new):
        return
    if alarm[alarms.FLAGS] & alarms.OVER and not occurrences.is_off:
        return
    service.saved[name] = saved
    # A line with a mistake is there, and its owner hears of that.
    if not told and not occurrences.is_off:
        alarm[alarms.FLAGS] |= alarms.GONE
        alarm[alarms.END_S] = occurrences.moment.now
        service.dirty = True
        if not alarm[alarms.OWED] & alarms.BEGIN:
            service.app.agent.notify(
                (
                    "%s is no longer watched: its line in HEARTBEAT.md is gone. The alarm was "
                    "still active."
                )
                % alarm[alarms.WHAT].split(" ")[0]
            )
        gone = [one for one in service.saved if _gone_at(service.saved[one])]
        if len(gone) > _MOST_GONE:
            service.saved.pop(min(gone, key=lambda one: _gone_at(service.saved[one])))


def _gone_at(saved):
    """Return when the item of an alarm left the file, 0 for others."""
    alarm = saved.kept[0] if saved.kept else None
    is_gone = isinstance(alarm, list) and alarm[alarms.FLAGS] & alarms.GONE
    return alarm[alarms.END_S] if is_gone else 0


def _adopt(occurrences, task, old):
    """Let a new task go on where it was before the last reboot, or start it here."""
    service = occurrences.service
    moment = occurrences.moment
    saved = service.saved.get(task.name())
    if saved:
        due.set_last(task, saved.last)
        if task.free:
            task.phase_s = task.last % task.every_s
        if saved.run:
            # It was interrupted, and is due again.
            due.set_last(task, min(task.last, saved.run[0] - (task.every_s or 1)))
        saved_state.restore(task, saved.kept)
    if old or service.was_trusted:
        task.base_s = moment.mono_s
    if service.was_trusted:
        _trust(service, task)
        if not task.last:
            due.start_timer(task, moment)
            service.dirty = True
    if service.early and task.every_s == service.every_s and moment.mono_s < _FIRST_BEAT_S:
        # Boots as short as the last ones never last an interval.
        task.base_s = _FIRST_BEAT_S - task.every_s


def _trust(service, task):
    """Resume the wait and the measurements of a task: their clock is in force again."""
    saved = service.saved.pop(task.name(), None)
    if saved and saved.pending:
        task.pending = saved.pending
    if saved and task.condition:
        saved_state.resume(service, task.condition, saved.kept[_MEASURED:])


def complain(problems: list[str], text: str) -> None:
    """Add a sentence for the owner, up to a limit."""
    if len(problems) < _MAX_PROBLEMS:
        problems.append(text)
    else:
        problems[_MAX_PROBLEMS:] = ("... and more",)


def _report(service, problems):
    """Notify the owner once of each mistake in the file."""
    # Up to 0.2 it was one number.
    before = [] if isinstance(service.problems, int) else service.problems
    known = list(before)
    found = []
    new = []
    for text in problems:
        # Without its line, which other edits move.
        check = crc32((text.partition(": ")[2] or text).encode()) & 0xFFFFFF
        found.append(check)
        if check in known:
            known.remove(check)
        else:
            new.append(text)
    if found != before:
        service.problems = found
        service.dirty = True
    if new:
        service.app.agent.notify("\n".join(new))


def _follow_clock(occurrences):
    """Restart the tasks when the clock becomes trusted or jumps, so that nothing runs in a
    burst."""
    service = occurrences.service
    moment = occurrences.moment
    offset_s = moment.now - moment.mono_s
    moved_s = jump_s = offset_s - service.offset_s
    # Times that were written since the boot by a clock that was not set.
    written = None if service.was_trusted else (service.offset_s, moment.now - moved_s)
    service.offset_s = offset_s
    if moment.trusted and not service.was_trusted:
        jump_s = 0
    elif not moment.trusted or abs(jump_s) <= _JUMP_S:
        if service.was_trusted and not moment.trusted:
            service.was_trusted = False
            for task in service.tasks or ():
                task.base_s = moment.mono_s
        return
    service.was_trusted = True
    # Occurrences before this moment were missed; a task catches up once at most.
    service.start_s = moment.now
    restarted = 0
    for task in service.tasks or ():
        restarted += _restart_timer(occurrences, task, jump_s)
        if task.condition:
            alarms.follow_clock(task.condition, moved_s, written, moment.now)
    if restarted or jump_s:
        service.dirty = True
        what = "moved by %d s" % jump_s if jump_s else "is set"
        log(service.area, "the clock %s; timers restarted: %d" % (what, restarted))


def _restart_timer(occurrences, task, jump_s):
    """Adapt a task to the new clock; return whether its timer restarts."""
    service = occurrences.service
    now = occurrences.moment.now
    if task.at:
        _trust(service, task)
        if task.last > now and task.at > now and not task.once:
            # It ran, or was skipped, by a clock that was wrong.
            due.set_last(task, 0)
            task.why = ""
        return False
    if task.pending and not jump_s:
        # It fell due by an untrusted clock.
        occurrences.supersede(task, task.pending, False)
    _trust(service, task)
    # After a leap forward a grid restarts, but a skipped time of day is caught up once.
    # A last run in the future was another clock's.
    restart = (
        task.ran
        or task.last <= 0
        or task.last > now + (task.every_s or 86400)
        or (jump_s > 0 and task.every_s > 0)
    )
    if restart:
        if task.pending:
            occurrences.supersede(task, task.pending)
        due.start_timer(task, occurrences.moment)
    return restart
