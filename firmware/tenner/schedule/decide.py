# tenner schedule.decide: the one decision, run now or why not, as a pure function.
# MIT license; Copyright (c) 2026 the tenner authors
"""Nine checks in a fixed order; the first that fails gives the reason."""

from tenner.schedule.due import due_at
from tenner.store.hours import Hours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.schedule.task import Moment, Task
    from tenner.store.posix_tz import Zone

# The action when a check fails, one for each check.
_ACTIONS = ("off", "wait", "skip", "skip", "skip", "skip", "retry", "retry", "retry")


class Question:
    """The facts by which `decide` judges `tasks`; they are None without a HEARTBEAT.md."""

    #: A person has asked for it; it is an alarm, watched in quiet hours too; it needs a model; the
    #: beat has something to do, and is not switched off.
    forced: bool | tuple[int, ...] = False
    watch = False
    model = True
    has_work = True
    enabled = True
    #: Active hours (Hours or None).
    hours: Hours | None = None
    #: Of the conditions of these tasks, once the sensors were read: (met, checked, tasks without
    #: one).
    conditions = (1, 0, 0)
    #: Tokens left for today, None without a limit, and that limit.
    tokens_left: int | None = None
    tokens_per_day = 0
    #: The holder of the lane ("telegram:1234") or None; seconds the present turn has taken, or
    #: None.
    busy: str | None = None
    running_s: int | None = None
    #: True, or the missing link ("wifi").
    online: bool | str = True

    def __init__(self, moment: "Moment", tasks: "list[Task] | None", zone: "Zone") -> None:
        self.moment = moment
        self.tasks = tasks
        self.zone = zone


def decide(question: Question) -> tuple[str, str]:
    """Return (action, reason): "run", or "off", "wait", "skip" (this occurrence is over) or
    "retry"."""
    for action, (_, reason) in zip(_ACTIONS, chain(question)):
        if reason:
            # At an unknown hour no occurrence is over.
            return "wait" if reason.endswith("hours (clock not set)") else action, reason
    return "run", "due"


def chain(question: Question) -> "Iterator[tuple[str, str | None]]":
    """Yield every check with its reason, None where it passes."""
    forced = question.forced
    tasks = question.tasks
    reason = "disabled (no HEARTBEAT.md)" if tasks is None else None
    yield "file", reason if question.enabled else "disabled (config)"
    # Without a file the other checks have nothing to judge.
    if tasks is None:
        return
    yield "due", None if forced else _not_due(question)
    yield "active hours", None if forced else _quiet(question)
    nothing = not question.has_work and not any(task.key for task in tasks)
    yield "work", "nothing to do" if nothing else None
    met, checked, free = question.conditions
    shut = checked and not (met or free or forced)
    yield "sensors", "no condition met (%d checked)" % checked if shut else None
    reason = None
    if question.model and question.tokens_left is not None and question.tokens_left <= 0:
        reason = "daily token budget spent (%d)" % question.tokens_per_day
    yield "budget", reason
    busy = question.busy
    yield "lane", "busy (%s)" % busy if busy and question.model else None
    since = question.running_s
    yield "running", None if since is None else "already running (since %d s)" % since
    online = question.online
    yield "online", None if online is True else "offline (%s)" % (online or "network")


def _not_due(question):
    moment = question.moment
    times = [due_at(task, moment, question.zone) for task in question.tasks]
    times = [due for due in times if due is not None]
    if not times:
        return "not due (clock not set)"
    left = min(times) - moment.now
    return "not due (%d s left)" % left if left > 0 else None


def _quiet(question):
    tasks = question.tasks
    hours = None if question.watch else question.hours
    if not question.moment.trusted:
        # The time of day is unknown, and the owner wants no noise at night.
        own = tasks and all(task.hours or task.urgent for task in tasks)
        return "quiet hours (clock not set)" if hours and not own else None
    local = question.zone.local(question.moment.now)
    minute = local[3] * 60 + local[4]
    # A task's own hours win, and stop it alone: all of them must say no.
    windows = [Hours(task.hours) if task.hours else hours for task in tasks if not task.urgent]
    windows = windows if tasks else [hours]
    shut = [window for window in windows if window and not window.active(minute)]
    return (
        "quiet hours (%s)" % shut[0].quiet() if shut and len(shut) == (len(tasks) or 1) else None
    )
