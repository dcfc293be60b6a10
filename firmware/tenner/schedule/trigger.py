# tenner schedule.trigger: how every alarm stands by the sensors, without changing any.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.schedule import alarm_texts, alarms, conditions, heartbeat_tasks, sensor_values
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.reload import reload
from tenner.schedule.task import Condition
from tenner.sensors import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.schedule.types import Service


async def preview(heartbeat: "Service") -> str:
    """Return a line for each condition: its values now, its state, and the text that it would
    send."""
    # The code that reads the file makes room for that of the sensors, and this for the rest.
    occurrences, tasks, names, texts = await overlay.step("BEAT", _prepared, heartbeat)
    readings, sent = await overlay.step("BEAT_READ", _readings, heartbeat, tasks, names, texts)
    text = ""
    for task in tasks:
        text += "line %d: %s\n" % (task.line, "; ".join(_pieces(occurrences, task, readings)))
        if task.line in sent:
            text += "    its text: %s\n" % sent[task.line]
    return text


async def _readings(heartbeat, tasks, names, texts):
    """Return the readings, and the text by the line of each task that would send one."""
    readings = await sensor_values.read(heartbeat, names)
    sent = {}
    for task in tasks:
        if task.notify:
            text = texts.get(task.line, "")
            if alarms.is_alarm(task):
                text = alarm_texts.board(heartbeat) + alarm_texts.begun(task.condition, text)
            sent[task.line] = await sensor_values.fill(heartbeat, text, {})
    return readings, sent


def _prepared(heartbeat):
    """Return (Occurrences, tasks with a condition, their sensors, their texts by line)."""
    occurrences = Occurrences(heartbeat)
    reload(occurrences)
    tasks = [task for task in heartbeat.tasks or () if task.condition]
    names = []
    for task in tasks:
        for term in conditions.terms(task.condition):
            if term.sensor not in names:
                names.append(term.sensor)
    texts = {}
    if tasks:
        for line, text in heartbeat_tasks.read(heartbeat, tasks)[1]:
            texts[line] = text
    return occurrences, tasks, names, texts


def _pieces(occurrences, task, readings):
    """Yield the parts of the line of one task."""
    condition = task.condition
    for term in conditions.terms(condition):
        value = conditions.number(term, readings)
        if isinstance(value, str):
            yield "%s: no value (%s)" % (term.name(), value)
        else:
            yield conditions.describe(_alone(term), None).replace(
                term.name(), "%s %s" % (term.name(), units.show(value)), 1
            )
    moment = occurrences.moment
    met = _is_met(condition, readings, moment.mono_s)
    yield "unknown" if met is None else "met" if met else "not met"
    yield alarm_texts.state(task, moment, occurrences.zone)


def _alone(term):
    """Return a copy of one condition, without those that are joined to it."""
    copy = Condition()
    copy.sensor, copy.value, copy.op = term.sensor, term.value, term.op
    copy.number, copy.number2 = term.number, term.number2
    copy.within_s, copy.for_s = term.within_s, term.for_s
    copy.reference, copy.past = term.reference, term.past
    return copy


def _is_met(condition, readings, mono_s):
    """Return `conditions.is_met` of copies: looking changes nothing."""
    copy = _alone(condition)
    copy.also = [_alone(term) for term in condition.also]
    copy.either = condition.either
    return conditions.is_met(copy, readings, mono_s)
