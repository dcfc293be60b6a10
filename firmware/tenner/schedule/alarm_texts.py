# tenner schedule.alarm_texts: the texts of alarms for people.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.schedule import alarms, conditions
from tenner.schedule.sensor_values import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.schedule.posix_tz import Zone
    from tenner.schedule.task import Moment, Task

# A longer time means that the clock was set in between.
_LONGEST_S = const(400 * 86400)


def span(seconds: int) -> str:
    """Return `14 min`, `2 h 5 min`, `3 d 2 h`; "" when the time is unknown."""
    if not 0 <= seconds < _LONGEST_S:
        return ""
    if seconds < 60:
        return "%d s" % seconds
    minutes = seconds // 60
    if minutes < 60:
        return "%d min" % minutes
    big, small, words = minutes // 60, minutes % 60, "%d h %d min"
    if big >= 48:
        big, small, words = big // 24, big % 24, "%d d %d h"
    return words % (big, small) if small else words[:4] % big


def extremes(task: "Task") -> str:
    """Return `, highest 35.2`, or the extremes that matter to its operator."""
    alarm = task.condition.alarm
    if alarm[alarms.HIGH] is None:
        return ""
    op = task.condition.op
    if op[0] == ">" or op == "rises by":
        return ", highest %s" % show(alarm[alarms.HIGH])
    if op[0] == "<" or op == "drops by":
        return ", lowest %s" % show(alarm[alarms.LOW])
    if op == "outside":
        return ", %s to %s" % (show(alarm[alarms.LOW]), show(alarm[alarms.HIGH]))
    return ""


def ended(task: "Task") -> str:
    """Return `back to normal: room.temperature 27.8; 14 min, highest 35.2`."""
    alarm = task.condition.alarm
    text = "back to normal: " + task.condition.name()
    if alarm[alarms.LAST] is not None:
        text += " " + show(alarm[alarms.LAST])
    lasted = span(alarm[alarms.END_S] - alarm[alarms.START])
    return text + ("; " + lasted if lasted else "") + extremes(task)


def goes_on(task: "Task", now: int) -> str:
    """Return `still room.temperature > 30: 35 after 2 h, highest 35.2`."""
    alarm = task.condition.alarm
    value = alarm[alarms.LAST]
    text = "still %s" % conditions.describe(task.condition, value)
    lasted = span(now - alarm[alarms.START])
    return text + ("; " + lasted if lasted else "") + extremes(task)


def state(task: "Task", moment: "Moment", zone: "Zone") -> str:
    """Return the state of an alarm in words: `active since 11:31, waits for reset 28`."""
    condition = task.condition
    if condition.muted > moment.now:
        return "muted until " + _clock(condition.muted, moment, zone)
    alarm = condition.alarm
    if not alarm or alarm is True:
        if condition.since_s is None or alarm:
            return "active" if alarm else "clear"
        left_s = max(condition.for_s - (moment.mono_s - condition.since_s), 0)
        return "pending, %s left" % (span(left_s) or "0 s")
    if alarm[alarms.FLAGS] & alarms.OVER:
        return "over, to be told"
    word = "acknowledged" if alarm[alarms.FLAGS] & alarms.ACKNOWLEDGED else "active"
    text = "%s since %s" % (word, _clock(alarm[alarms.START], moment, zone))
    if condition.reset is not None:
        text += ", waits for reset %s" % show(condition.reset)
    return text


def _clock(utc, moment, zone):
    """Return `11:31`, with the date when it is another day's."""
    if not moment.trusted:
        return "?"
    text = zone.short(utc)
    return text[11:] if text[:10] == zone.short(moment.now)[:10] else text
