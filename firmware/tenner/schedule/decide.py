# tenner schedule.decide: pure functions: run now or why not, and whether a condition holds.
# MIT license; Copyright (c) 2026 the tenner authors
"""The decision has nine checks in a fixed order; the first that fails gives the reason."""

from tenner.port.compat import const
from tenner.schedule.due import due_at
from tenner.sensors import units
from tenner.store.hours import Hours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.schedule.task import Condition, Moment, Task
    from tenner.store.posix_tz import Zone

# The action when a check fails, one for each check.
_ACTIONS = ("off", "wait", "skip", "skip", "skip", "skip", "retry", "retry", "retry")

#: Operators of events, which are over at once; all others last.
EVENTS = ("changes", "changes by")
#: Operators of moves, which last as long as their time window; nobody wants to hear of their end.
MOVES = ("drops by", "rises by")
# Percent of the number, for a condition without `reset`; of the width, for `outside`.
_MARGIN_PERCENT = const(1)
_WIDTH_PERCENT = const(5)
# Readings that are kept for `drops by` and `rises by`.
_PAST = const(24)


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


def terms(condition: "Condition") -> "tuple[Condition, ...]":
    """Return the conditions that `and` or `or` joins, the first one first."""
    return (condition,) + tuple(condition.also)


def number(condition: "Condition", readings: dict) -> float | str:
    """Return the number that a condition is about, or a sentence (str) that says why it has
    none."""
    found = readings.get(condition.sensor, "it was not asked")
    if isinstance(found, str):
        return found
    value = found.get(condition.value)
    # A NaN is the one number that differs from itself.
    if isinstance(value, (bool, int, float)) and value == value:
        return +value
    return "it gives no number %s; it gives %s" % (
        condition.value,
        ", ".join(sorted(found)) or "nothing",
    )


def is_met(
    condition: "Condition", readings: dict, mono_s: int, is_on: bool = False
) -> bool | None:
    """
    Return whether the condition is met, None when a sensor that matters does not answer. `is_on`:
    its alarm is, so the values must pass `reset`. Call it at every look, or it misses changes.
    """
    unknown = False
    found = []
    for term in terms(condition):
        value = number(term, readings)
        if isinstance(value, str):
            unknown = True
        else:
            found.append(_holds(term, value, mono_s, is_on))
    if condition.either:
        return True if True in found else None if unknown else False
    return False if False in found else None if unknown else True


def has_reset(condition: "Condition") -> bool:
    """Return whether every part of it says where it ends."""
    return all(term.reset is not None for term in terms(condition))


def _holds(term, value, mono_s, is_on):
    op = term.op
    if op in EVENTS:
        if term.reference is None:
            term.reference = value
        return abs(value - term.reference) >= (term.number or 1e-9)
    if op in MOVES:
        return _moved(term, value, mono_s)
    low = high = term.number
    if op == "outside":
        high = term.number2
        margin = (high - low) * _WIDTH_PERCENT / 100 if is_on else 0
        return not low + margin <= value <= high - margin
    if op == "==":
        return value == low
    if op == "!=":
        return value != low
    if value == low:
        holds = op in (">=", "<=")
    else:
        holds = op[0] == (">" if value > low else "<")
    if holds or not is_on:
        return holds
    end = term.reset
    if end is None:
        margin = abs(low) * _MARGIN_PERCENT / 100
        end = low + margin if op[0] == "<" else low - margin
    return value > end if op[0] == ">" else value < end


def _moved(term, value, mono_s):
    """Return whether the value has gone down, or up, by so much within the time."""
    falls = term.op == "drops by"
    # Only a reading that is higher, or lower, than all later ones can still matter.
    past = term.past = [
        one
        for one in term.past
        if 0 <= mono_s - one[0] <= term.within_s and (one[1] > value if falls else one[1] < value)
    ]
    values = [one[1] for one in past] + [value]
    by = max(values) - value if falls else value - min(values)
    if not past or (mono_s - past[-1][0]) * _PAST >= term.within_s:
        past.append((mono_s, value))
    return by >= term.number


def shown(term: "Condition", value: float, is_difference: bool = False) -> str:
    """Return a number of a condition in the owner's unit."""
    if term.imperial:
        value = units.imperial(value, units.unit(term.value), is_difference)[0]
    return units.show(value)


def describe(condition: "Condition", value: float | None = None) -> str:
    """Return `room.temperature 31.5 > 30 for 180 s`; without `value` as in the file."""
    texts = [_describe(term, value if term is condition else None) for term in terms(condition)]
    text = (" or " if condition.either else " and ").join(texts)
    return text + (" for %d s" % condition.for_s if condition.for_s else "")


def _describe(term, value):
    text = term.name()
    if value is not None:
        text += " " + shown(term, value)
    text += " " + term.op
    if term.op != "changes":
        text += " " + shown(term, term.number, term.op in EVENTS + MOVES)
    if term.number2 is not None:
        text += "..%s" % shown(term, term.number2)
    return text + (" within %d s" % term.within_s if term.within_s else "")
