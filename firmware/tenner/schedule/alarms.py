# tenner schedule.alarms: the life of an alarm: clear, pending, active, acknowledged, muted.
# MIT license; Copyright (c) 2026 the tenner authors
"""
An item with a condition is an alarm. An episode begins when the condition has held for its time,
and ends when the values have passed `reset`; without one they must be a margin away from the
number (schedule.decide) at two looks in a row. A message is owed until it is in the outbox,
over reboots too; meanwhile no new episode begins.

An episode is a plain list, so that its code need not stay in memory: task.condition.alarm, None
while all is clear.
"""

from tenner.chart import series
from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import decide, saved_state
from tenner.schedule.task import Condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tenner.schedule.task import Moment, Task
    from tenner.schedule.types import Look

#: The places in the list. ID: the number of the episode, for people. START: UTC second of its
#: beginning. VALUE: the value then. LOW, HIGH: the extremes since. OWED: the messages owed. TOLD:
#: UTC second of the last one; while the beginning is owed, since when it waits for a model.
#: MISSES: looks in a row at which it seemed over. REPEATS: repeated messages. END_S: UTC second of
#: its end, or at which its item left the file. LAST: the value seen last. `WHAT`: the condition's
#: value and operator. LIMIT: the numbers that the value met last.
#: SINCE: UTC second since which nobody has acknowledged it, None before it was told.
ID = const(0)
START = const(1)
VALUE = const(2)
LOW = const(3)
HIGH = const(4)
OWED = const(5)
TOLD = const(6)
MISSES = const(7)
FLAGS = const(8)
REPEATS = const(9)
END_S = const(10)
LAST = const(11)
WHAT = const(12)
LIMIT = const(13)
SINCE = const(14)

#: The messages that may be owed.
BEGIN = const(1)
END = const(2)
REPEAT = const(4)
#: These go to the next one whom `escalate` names.
NEXT = const(8)
NEXT_END = const(16)

# Seconds whose readings a reboot may forget.
_KEEP_S = const(300)

#: Flags. PROMISED: the owner was promised its end, MOVED: it ended because its limit was moved,
#: GONE: its item is gone from the file, and the owner knows. PASSED: the next one is told.
OVER = const(1)
ACKNOWLEDGED = const(2)
PROMISED = const(4)
MOVED = const(8)
GONE = const(16)
PASSED = const(32)


def is_alarm(task: "Task") -> bool:
    """Return whether the item has episodes; at fixed times of the day its condition is only a
    question."""
    return task.condition is not None and not task.cron


def needs_model(task: "Task") -> bool:
    """Return whether the task asks a model next: of an alarm only its beginning does, as long as
    it lasts."""
    if task.notify or task.gave_up or not is_alarm(task):
        return not (task.notify or task.gave_up)
    alarm = task.condition.alarm
    if not alarm:
        return True
    lasts = not alarm[FLAGS] & OVER or task.condition.op in decide.EVENTS
    return bool(alarm[OWED] & BEGIN) and lasts


def advance(occurrences: "Look", task: "Task", readings: dict) -> None:
    """Update the alarm from the readings. Call it at every look."""
    condition = task.condition
    service = occurrences.service
    moment = occurrences.moment
    alarm = _restored(condition)
    reference = condition.reference
    newest = _newest(condition)
    met = decide.is_met(condition, readings, moment.mono_s, alarm is not None)
    kept = _newest(condition)
    if condition.reference != reference or (
        kept != newest and _is_worth_a_write(service, newest, kept)
    ):
        service.dirty = True
    if alarm and not alarm[FLAGS] & OVER:
        _pass_on(occurrences, task, moment)
    if met is None:
        # The condition may not have held all the time.
        _no_more(service, condition)
        return
    value = decide.number(condition, readings)
    if isinstance(value, str):
        value = None
    condition.seen = value
    if alarm is None:
        _wait_or_begin(service, task, moment, met, value)
    elif not alarm[FLAGS] & OVER:
        _go_on(service, task, moment, met, value)


def _newest(condition):
    """Return the time of the newest reading that `drops by` and `rises by` compare with; None
    without any."""
    times = [term.past[-1][0] for term in decide.terms(condition) if term.past]
    return max(times) if times else None


def _is_worth_a_write(service, before, newest):
    """Return whether to write the kept readings for the next boot: once in five minutes."""
    if before is None or newest is None:
        return True
    return (before + service.offset_s) // _KEEP_S != (newest + service.offset_s) // _KEEP_S


def _restored(condition):
    """Return the episode under way, or None; one of an older version has fewer places."""
    alarm = condition.alarm
    if alarm:
        alarm[FLAGS] &= ~GONE
        while len(alarm) <= SINCE:
            alarm.append(None)
    return alarm


def _wait_or_begin(service, task, moment, met, value):
    condition = task.condition
    if not met:
        _no_more(service, condition)
        return
    if condition.since_s is None:
        condition.since_s = moment.mono_s
        if condition.for_s:
            log("heartbeat", "%s: pending" % decide.describe(condition, value))
            service.dirty = True
    if moment.mono_s - condition.since_s < condition.for_s:
        return
    condition.since_s = None
    # Never used again: the number identifies a message.
    service.episodes = (service.episodes or moment.now % 1000) + 1
    flags = OVER if condition.op in decide.EVENTS else 0
    now = moment.now
    condition.alarm = [service.episodes, now, value, value, value, BEGIN, 0, 0, flags, 0, 0, value]
    condition.alarm += [_about(condition), _limit(condition), None]
    service.dirty = True
    log(
        "heartbeat",
        "%s: alarm %d" % (decide.describe(condition, value), service.episodes),
    )


def _no_more(service, condition):
    """Note that the condition holds no more, for the next boot too."""
    if condition.since_s is not None:
        service.dirty = service.dirty or condition.for_s > 0
    condition.since_s = None


def _go_on(service, task, moment, met, value):
    condition = task.condition
    alarm = condition.alarm
    if value is not None:
        alarm[LAST] = value
        alarm[LOW] = value if alarm[LOW] is None else min(alarm[LOW], value)
        alarm[HIGH] = value if alarm[HIGH] is None else max(alarm[HIGH], value)
    if met:
        alarm[MISSES] = 0
        alarm[LIMIT] = _limit(condition)
        due = task.repeat_s and not alarm[OWED] and not alarm[FLAGS] & ACKNOWLEDGED
        if due and _since(moment, alarm[TOLD]) >= task.repeat_s:
            alarm[OWED] = REPEAT
            service.dirty = True
        return
    alarm[MISSES] += 1
    if alarm[MISSES] < 2 and not decide.has_reset(condition):
        return
    service.dirty = True
    alarm[FLAGS] |= OVER
    alarm[END_S] = moment.now
    if service.files is None:
        series.note(service.app.state, condition.name(), alarm[START], moment.now)
    if alarm[OWED] & NEXT:
        alarm[FLAGS] &= ~PASSED
    alarm[OWED] &= ~(REPEAT | NEXT)
    if alarm[FLAGS] & PASSED:
        alarm[OWED] |= NEXT_END
    if _met_before(condition, alarm):
        alarm[FLAGS] |= MOVED
    tells = (task.notify or task.resolve) and condition.op not in decide.MOVES
    if tells or alarm[FLAGS] & (ACKNOWLEDGED | PROMISED):
        alarm[OWED] |= END
    log("heartbeat", "%s: alarm %d over" % (decide.describe(condition, value), alarm[ID]))
    if not alarm[OWED]:
        condition.alarm = None


def _limit(condition):
    """Return the numbers that the value is compared with."""
    return [condition.number, condition.number2]


def _met_before(condition, alarm):
    """Return whether the last value would still meet the limit before an edit of the item."""
    limit, value = alarm[LIMIT], alarm[LAST]
    if not limit or limit == _limit(condition) or value is None or condition.also:
        return False
    before = Condition()
    before.op = condition.op
    before.number, before.number2 = limit
    return bool(decide.is_met(before, {"": {"": value}}, 0))


def _since(moment, at):
    """Return the seconds since a message was sent; since the boot when the clock was set back."""
    return moment.now - at if moment.now >= at else moment.mono_s


def seen(task: "Task") -> "tuple[tuple[int, float], ...]":
    """Return the (time, value) with which an alarm began, and those of the last look."""
    alarm = task.condition.alarm
    found = [(alarm[START], alarm[VALUE])]
    if task.last > alarm[START]:
        found.append((task.last, alarm[LAST]))
    return tuple([one for one in found if one[1] is not None])


def is_muted(condition: "Condition", moment: "Moment") -> bool:
    """Return whether the messages of a condition's alarm wait."""
    left_s = condition.muted - moment.now
    if left_s > condition.mute_s > 0:
        # The clock was another one then, as it is before it is set.
        left_s = condition.mute_s - moment.mono_s
    return left_s > 0


def follow_clock(
    condition: "Condition", moved_s: int, written: "tuple[int, int] | None", now: int
) -> None:
    """
    Move the times of a condition with the clock. `written`: only those between two times by the
    old clock, None for all.
    """

    def moved(at):
        return at + moved_s if written is None or written[0] <= at <= written[1] else at

    condition.told = condition.told and min(moved(condition.told), now)
    if condition.mute_s:
        # Never longer than was asked for.
        condition.muted = min(moved(condition.muted - condition.mute_s), now) + condition.mute_s
    alarm = condition.alarm
    if isinstance(alarm, list):
        alarm[START] = moved(alarm[START])
        alarm[TOLD] = alarm[TOLD] and min(moved(alarm[TOLD]), now)
        alarm[END_S] = moved(alarm[END_S])
        if len(alarm) > SINCE and alarm[SINCE]:
            alarm[SINCE] = min(moved(alarm[SINCE]), now)


def _pass_on(occurrences, task, moment):
    """Let the next one be told when nobody has acknowledged the alarm in time. The time begins
    when the first message has left, and a sensor that fails does not stop it."""
    alarm = task.condition.alarm
    stops = alarm[FLAGS] & (ACKNOWLEDGED | PROMISED | PASSED) or alarm[OWED] & BEGIN
    if not task.escalate or stops or occurrences.is_held(task):
        return
    if alarm[SINCE] is None:
        alarm[SINCE] = moment.now
    elif _since(moment, alarm[SINCE]) >= task.escalate[0]:
        alarm[OWED] |= NEXT
        alarm[FLAGS] |= PASSED
    else:
        return
    occurrences.service.dirty = True


def next_owed(task: "Task") -> int:
    """Return the next message owed: BEGIN, END or REPEAT; 0 for none."""
    alarm = task.condition.alarm
    if not alarm:
        return 0
    for bit in (BEGIN, END, REPEAT, NEXT, NEXT_END):
        if alarm[OWED] & bit:
            return bit
    return 0


def told(task: "Task", bit: int, now: int, is_held: bool = False) -> None:
    """Note that the owner has this message, or that it waits for the end of quiet hours."""
    condition = task.condition
    alarm = condition.alarm
    if not alarm:
        return
    alarm[OWED] &= ~bit
    alarm[TOLD] = now
    if not is_held:
        condition.told = now
    if bit == REPEAT:
        alarm[REPEATS] += 1
    if condition.op in decide.EVENTS:
        condition.reference = alarm[VALUE]
    if alarm[FLAGS] & OVER and not alarm[OWED]:
        condition.alarm = None


def mark(task: "Task", bit: int) -> str:
    """Return the mark that identifies a message; `al:` has buttons (channels.delivery)."""
    alarm = task.condition.alarm
    if bit == REPEAT:
        return "al:%d.%d" % (alarm[ID], alarm[REPEATS])
    text = "%s:%d" % ("ae" if bit in (END, NEXT_END) else "al", alarm[ID])
    return text + ".e" if bit in (NEXT, NEXT_END) else text


def together(tasks: "Sequence[Task]") -> str:
    """Return the mark of a message that tells of the beginnings of these alarms: `al:12+13`."""
    return "al:" + "+".join([str(task.condition.alarm[ID]) for task in tasks])


def _about(condition):
    return "%s %s" % (condition.name(), condition.op)


def hand_over(kept: "Sequence", tasks: "Sequence[Task]") -> bool:
    """
    Hand the alarm of an item that has left the file to one of `tasks` that watches the same;
    return whether there was one. `kept`: saved_state.kept of the item.
    """
    alarm = kept[0]
    for task in tasks:
        condition = task.condition
        # Another form of the same direction, such as `>=` for `>`, is the same alarm.
        about = condition and condition.name() + " " + condition.op[0]
        if about and is_alarm(task) and not condition.alarm and alarm[WHAT].startswith(about):
            saved_state.restore(task, kept[:4])
            alarm[WHAT] = _about(condition)
            return True
    return False


def is_open(task: "Task") -> bool:
    """Return whether an episode is under way."""
    alarm: "Any" = task.condition and task.condition.alarm
    return bool(alarm) and not alarm[FLAGS] & OVER
