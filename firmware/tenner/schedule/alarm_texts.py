# tenner schedule.alarm_texts: the texts of alarms for people, and the readings in them.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import alarms, decide
from tenner.sensors import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.schedule.task import Condition, Moment, Task
    from tenner.schedule.types import Told, Watching
    from tenner.store.posix_tz import Zone

# A longer time means that the clock was set in between.
_LONGEST_S = const(400 * 86400)
_TEXT = const(60)
# The name of a board that was given none.
_UNNAMED = const("tenner")


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


def board(service: "Told") -> str:
    """Return `kitchen: `, which begins each message of a board with a name of its own, or ""."""
    name = service.app.config.get("name")
    return "%s: " % name if name and name != _UNNAMED else ""


def sign(condition: "Condition") -> str:
    """Return the unit of a condition's value with a space before it, or ""."""
    unit = units.unit(condition.value)
    if condition.imperial:
        unit = units.imperial(0, unit)[1]
    return " " + unit if unit else ""


def shown(text: str) -> str:
    """Return the beginning of an item's text."""
    text = text.split("\n")[0]
    return text[:_TEXT] + " ..." if len(text) > _TEXT else text


def limits(condition: "Condition") -> str:
    """Return `limit 30`, `limits 17 to 26` or `alarm at 1`, of joined conditions all; "" for a
    change."""
    return ", ".join([_limit(term) for term in decide.terms(condition) if _limit(term)])


def _limit(term):
    op = term.op
    number = decide.shown(term, term.number, op in decide.MOVES)
    if op in decide.EVENTS:
        return ""
    if op[0] in "<>":
        return "limit " + number
    if op == "outside":
        return "limits %s to %s" % (number, decide.shown(term, term.number2))
    if op in ("==", "!="):
        return "alarm %s %s" % ("at" if op == "==" else "unless", number)
    return "alarm when it %s %s within %s" % (op, number, span(term.within_s))


def about(condition: "Condition") -> str:
    """Return the template `room.temperature {room.temperature} (limit 30)`."""
    found = []
    for term in decide.terms(condition):
        found.append("%s {%s}%s" % (term.name(), term.name(), _in_brackets(_limit(term))))
    return (" or " if condition.either else " and ").join(found)


def value(service: "Told", condition: "Condition", number: str) -> str:
    """Return `room.temperature 31.5 °C (limit 30)`."""
    return "%s %s%s%s" % (
        condition.name(),
        number,
        sign(condition),
        _in_brackets(limits(condition)),
    )


def begun(condition: "Condition", template: str) -> str:
    """Return the template of an alarm's first message: the item's own, value and limit."""
    for term in decide.terms(condition):
        if "{%s}" % term.name() not in template and "{%s:" % term.name() not in template:
            return "%s%s %s" % (template, _stop(template), about(condition))
    return template.rstrip() + _in_brackets(limits(condition))


def _in_brackets(text):
    return " (%s)" % text if text else ""


def _stop(text):
    return "" if text.rstrip()[-1:] in ".!?:" else ":"


def extremes(task: "Task", sign: str = "") -> str:
    """Return `, highest 35.2`, or the extremes that matter to its operator."""
    alarm = task.condition.alarm
    if alarm[alarms.HIGH] is None:
        return ""
    op = task.condition.op
    low, high = [decide.shown(task.condition, alarm[one]) for one in (alarms.LOW, alarms.HIGH)]
    if op[0] == ">" or op == "rises by":
        return ", highest %s%s" % (high, sign)
    if op[0] == "<" or op == "drops by":
        return ", lowest %s%s" % (low, sign)
    if op == "outside":
        return ", %s to %s%s" % (low, high, sign)
    return ""


def others(service: "Told", task: "Task") -> "list[Task]":
    """Return the other alarms on the same value that are under way, or that its last value
    meets."""
    found = []
    mine = task.condition
    for other in service.tasks or ():
        its = other.condition
        if other is task or not alarms.is_alarm(other) or its.name() != mine.name():
            continue
        met = alarms.is_open(other) or its.since_s is not None
        if not met and mine.alarm and its.op not in decide.EVENTS + decide.MOVES:
            last = mine.alarm[alarms.LAST]
            met = last is not None and decide.is_met(its, {its.sensor: {its.value: last}}, 0)
        if met:
            found.append(other)
    return found


def ended(task: "Task", said: str, about: str, sign: str, active: str) -> str:
    """
    Return `back to normal: "Hot!"; room.temperature 27.8 °C (limit 30); 14 min, highest 35.2 °C`.
    `said`: the text of the alarm, `about`: the filled template of that name, `active`: the alarms
    that go on.
    """
    alarm = task.condition.alarm
    if alarm[alarms.FLAGS] & alarms.MOVED:
        word, _, number = limits(task.condition).partition(" ")
        verb = "are" if word == "limits" else "is"
        head = "no longer an alarm: its %s %s %s now; " % (word, verb, number)
    else:
        head = "over: " if active else "back to normal: "
    lasted = span(alarm[alarms.END_S] - alarm[alarms.START])
    text = _named(head, said, about, lasted) + extremes(task, sign)
    return text + (". Still active: %s." % active if active else "")


def goes_on(
    task: "Task", said: str, about: str, sign: str, now: int, head: str = "still: "
) -> str:
    """Return `still: "Hot!"; room.temperature 35 °C (limit 30); 2 h, highest 35.2 °C`."""
    lasted = span(now - task.condition.alarm[alarms.START])
    return _named(head, said, about, lasted) + extremes(task, sign)


def _named(head, said, about, lasted):
    pieces = ['"%s"' % said] if said else []
    return head + "; ".join(pieces + [about] + ([lasted] if lasted else []))


def state(task: "Task", moment: "Moment", zone: "Zone") -> str:
    """Return the state of an alarm in words: `active since 11:31, waits for reset 28`."""
    condition = task.condition
    if alarms.is_muted(condition, moment):
        return "muted until " + _clock(condition.muted, moment, zone)
    alarm = condition.alarm
    if not alarm:
        if condition.since_s is None or alarm:
            return "active" if alarm else "clear"
        left_s = max(condition.for_s - (moment.mono_s - condition.since_s), 0)
        return "pending, %s left" % (span(left_s) or "0 s")
    if alarm[alarms.FLAGS] & alarms.OVER:
        return "over, to be told"
    word = "acknowledged" if alarm[alarms.FLAGS] & alarms.ACKNOWLEDGED else "active"
    text = "%s since %s" % (word, _clock(alarm[alarms.START], moment, zone))
    if condition.reset is not None:
        text += ", waits for reset %s" % decide.shown(condition, condition.reset)
    return text


def _clock(utc, moment, zone):
    """Return `11:31`, with the date when it is another day's."""
    if not moment.trusted:
        return "?"
    text = zone.short(utc)
    return text[11:] if text[:10] == zone.short(moment.now)[:10] else text


async def read_sensors(heartbeat: "Watching", names: "Sequence[str]") -> dict:
    """Return the readings of these sensors, {value: number} each; a sentence (str) where one does
    not answer."""
    sensors = heartbeat.app.get("sensors")
    found = {}
    for name in names:
        try:
            found[name] = await sensors.read(name)
        except MemoryError:
            raise
        except Exception as error:
            # Any exception of a driver, an owner's own too, is a sensor that does not answer.
            found[name] = str(error) or type(error).__name__
    return found


async def fill(
    heartbeat: "Watching", template: str, known: "dict[str, float | None]", asks: bool = True
) -> str:
    """
    Return a template with readings for its `{sensor.value}` or `{sensor.value:.1f}`; `known` are
    those at hand, by their names. Without `asks` no sensor is read, and others are left out.
    """
    text, *rest = template.split("{")
    readings = {}
    for piece in rest:
        name, closing, after = piece.partition("}")
        name, colon, form = name.partition(":")
        sensor, dot, value = name.rpartition(".")
        if not closing or not dot or " " in name:
            text += "{" + piece
            continue
        found = known.get(name)
        if found is None and not asks:
            text += "\u2026" + after
            continue
        if found is None:
            if sensor not in readings:
                readings.update(await read_sensors(heartbeat, (sensor,)))
            found = readings[sensor]
            if not isinstance(found, str):
                found = found.get(value)
        if isinstance(found, (bool, int, float)) and found == found:
            sign = units.unit(value)
            if heartbeat.app.config.get("units") == "imperial":
                found, sign = units.imperial(found, sign)
            # Not twice, when the owner has written the unit behind it.
            word = after.strip().split(" ")[0].rstrip(".,;:!?)").lower()
            if word and word.lstrip("\u00b0") == sign.lower().lstrip("\u00b0"):
                sign = ""
            text += _formatted(found, form) + (" " + sign if sign else "")
        else:
            log("heartbeat", "notify: no value of %s: %s" % (name, found))
            text += "(no value)"
        text += after
    return text


def _formatted(value, form):
    """Return the number as `.1f` or `.0f` asks for; any other form is that of `units.show`."""
    if len(form) == 3 and form[0] == "." and form[1] in "0123456789" and form[2] == "f":
        return "%.*f" % (int(form[1]), value)
    return units.show(value)
