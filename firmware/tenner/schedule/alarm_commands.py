# tenner schedule.alarm_commands: /alarms: lists, acknowledges, mutes and explains alarms.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner import overlay
from tenner.port.compat import const
from tenner.schedule import alarm_texts, alarms, conditions, status
from tenner.schedule.amounts import duration
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.sensor_values import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.schedule.service import Service

_MUTE_S = const(3600)
_HELP = const("expected: ack ID, mute ID [2h], unmute ID, why ID; /alarms shows the IDs")


async def command(service: "Service", args: str = "") -> str:
    """Return the answer to `/alarms [ack|mute|unmute|why ID [DURATION]]`; the ID of a line is
    `line 5`."""
    await overlay.step("COMMAND", status.reread, service)
    words = args.split()
    if words and words != ["json"]:
        return await overlay.step("COMMAND", act, service, words)
    next_s = await overlay.step("COMMAND", status.times, service)
    lines = await overlay.step("COMMAND", _list, service, next_s, json.dumps if words else _line)
    return "\n".join(lines) or ("[]" if words else "no alarms: no line has a condition")


async def _list(service, next_s, make):
    return [make(one) for one in status.tasks(service, next_s) if "state" in one]


async def act(service: "Service", words: list[str]) -> str:
    """Return the answer to `[ack|mute|unmute|why, ID, DURATION]`, without a look at the file, for
    which a board that serves its page has no memory."""
    action, *rest = words
    if rest[:1] == ["line"]:
        rest = ["line " + "".join(rest[1:2])] + rest[2:]
    if action not in ("ack", "mute", "unmute", "why") or not rest:
        return _HELP
    task = _find(service, rest[0])
    if task is None:
        return "There is no alarm %s now; it may be over. /alarms shows those there are." % rest[0]
    if action == "why":
        return _why(service, task)
    try:
        return _change(Occurrences(service), task, action, " ".join(rest[1:]))
    except ValueError:
        return '"%s" is no duration; expected one such as 30m, 2h' % " ".join(rest[1:])


def _change(occurrences, task, action, amount):
    condition = task.condition
    moment = occurrences.moment
    if action == "ack":
        if not alarms.is_open(task) or condition.alarm is True:
            return "Nothing to acknowledge: it is over."
        condition.alarm[alarms.FLAGS] |= alarms.ACKNOWLEDGED
        condition.alarm[alarms.OWED] &= ~alarms.REPEAT
        answer = "Acknowledged: %s. I will say when it is over." % conditions.describe(condition)
    elif action == "mute":
        seconds = duration(amount) if amount else _MUTE_S
        condition.muted = moment.now + seconds
        answer = "Muted for %s: %s. You will hear of events afterwards." % (
            alarm_texts.span(seconds),
            conditions.describe(condition),
        )
    else:
        condition.muted = 0
        answer = "Not muted any more: %s." % conditions.describe(condition)
    occurrences.save()
    return answer


def _find(service, name):
    """Return the task of an alarm by its ID (`17`, `17.2` of a repetition), or by `line 5`, or
    None."""
    for task in service.tasks or ():
        alarm = task.condition and task.condition.alarm
        if name == "line %d" % task.line and task.condition:
            return task
        if isinstance(alarm, list) and name.split(".")[0] == str(alarm[alarms.ID]):
            return task
    return None


def _line(one):
    text = status.shown(one["text"])
    value = one["value"]
    name = "alarm %d" % one["alarm"] if one["alarm"] is not None else "line %d" % one["line"]
    about = one["condition"] + ("" if value is None else " (now %s)" % show(value))
    return "%s: %s; %s; %s" % (name, one["state"], about, text)


def _why(service, task):
    """Return the full description of an alarm."""
    for one in status.tasks(service, None):
        if one["line"] == task.line and "state" in one:
            lines = [_line(one)]
            alarm = task.condition.alarm
            if isinstance(alarm, list):
                lines.append(alarm_texts.goes_on(task, service.app.clock.now()))
            lines.append("last told %s" % (one["told"] or "never"))
            return "\n".join(lines)
    return _HELP
