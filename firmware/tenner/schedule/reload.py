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
from tenner.schedule.task import Task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.schedule.occurrences import Occurrences

_FIRST_BEAT_S = const(60)
_JUMP_S = const(30)
_MAX_PROBLEMS = const(5)
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
    for task in old:
        if task.condition and task.condition.alarm and task not in (service.tasks or ()):
            condition = task.condition
            kept = (condition.alarm, condition.reference, condition.muted)
            alarms.hand_over(service, kept, service.tasks or ())
        if task.pending and task not in (service.tasks or ()):
            occurrences.supersede(task, task.pending)
    service.dirty = service.dirty or bool(old)
    service.last_logged = None


def prune(occurrences: "Occurrences", tasks: "Sequence[Task]") -> None:
    """Forget the state of tasks that have left the file."""
    service = occurrences.service
    names = [task.name() for task in tasks]
    for name in list(service.saved):
        if name not in names:
            gone = Task()
            gone.key = name
            saved = service.saved.pop(name)
            if saved.kept and isinstance(saved.kept[0], list):
                alarms.hand_over(service, saved.kept, tasks)
            gone.pending = saved.pending
            if gone.pending:
                occurrences.supersede(gone, gone.pending)
            service.dirty = True


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
    """Notify the owner once of the mistakes in the file."""
    text = "\n".join(problems)
    check = crc32(text.encode())
    if check != service.problems:
        service.problems = check
        service.dirty = True
        if text:
            service.app.agent.notify(text)


def _follow_clock(occurrences):
    """Restart the tasks when the clock becomes trusted or jumps, so that nothing runs in a
    burst."""
    service = occurrences.service
    moment = occurrences.moment
    offset_s = moment.now - moment.mono_s
    jump_s = offset_s - service.offset_s
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
