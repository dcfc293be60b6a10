# tenner schedule.command: /heartbeat, /alarms, /trigger, /why and /cron.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json

from tenner import overlay
from tenner.channels import question
from tenner.port.compat import const
from tenner.schedule import alarm_texts, alarms, decide, heartbeat_tasks, notices, status
from tenner.schedule.line_words import duration
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.reload import reload
from tenner.schedule.task import Condition
from tenner.sensors import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tenner.schedule.types import Service
    from tenner.types import Reporting

_MUTE_S = const(3600)
_WHO = const(32)
# Of more alarms than these an answer says the number.
_NAMED = const(3)
_HELP = const(
    "expected: ack ID, mute ID [2h], unmute ID, why ID, or all for ID; /alarms shows the IDs"
)


def command(
    app: "Reporting", name: str, args: str, channel: str, chat: int | str
) -> "str | Coroutine[Any, Any, str]":
    """Return the answer to one of these, or a coroutine that returns it; see
    channels.commands."""
    if name == "cron":
        return _cron(app.get("cron"))
    service = app.get("heartbeat")
    if name == "why":
        return status.why(service, args)
    if name == "alarms":
        return answer(service, args)
    if name == "trigger":
        return _trigger(service, args, channel, chat)
    words = args.split()
    if words and words[0] in ("use", "ask", "off"):
        if not question.is_owner(app, channel, chat):
            return "Only the owner changes the lines."
        return status.answer(service, words)
    return status.heartbeat(service, args)


def _cron(jobs):
    lines = list(jobs.lines())
    if not lines:
        return "No jobs. Ask for one, or write CRON.json."
    return "\n".join(lines + [status.zone_note(jobs)[2:]]).rstrip()


def _trigger(service, args, channel, chat):
    lines = True
    if args:
        if not args.encode().isdigit():
            return "expected the number of a line of HEARTBEAT.md, or nothing"
        lines = (int(args),)
    asyncio.create_task(service.trigger(channel, chat, lines))
    return "Running the heartbeat now."


async def answer(service: "Service", args: str = "") -> str:
    """Return the answer to `/alarms [ack|mute|unmute|why ID [DURATION]]`; the ID of a line is
    `line 5`."""
    await overlay.step("COMMAND", status.reread, service)
    words = args.split()
    if words and words != ["json"]:
        return await overlay.step("COMMAND", act, service, words)
    next_s = await overlay.step("COMMAND", status.times, service)
    # Steps of their own: memory has no room for the rows' code beside that of the lines.
    rows = await overlay.step("COMMAND", _rows, service, next_s, bool(words))
    if words:
        return "\n".join([json.dumps(one) for _, one in rows]) or "[]"
    lines = []
    for task, one in rows:
        lines.append(await overlay.step("COMMAND", _line, service, task, one))
    return await overlay.step("COMMAND", _joined, service, rows, lines)


async def _rows(service, next_s, is_json):
    """Return (task, its dict) of each line with a condition."""
    found = zip(service.tasks or (), status.tasks(service, next_s, is_json))
    return [(task, one) for task, one in found if "state" in one]


async def _joined(service, rows, lines):
    if any(":" in one["state"] for _, one in rows):
        lines.append(status.zone_note(service)[2:])
    return "\n".join(lines) or "no alarms: no line has a condition"


async def act(service: "Service", words: list[str]) -> str:
    """Return the answer to `[ack|mute|unmute|why, ID, DURATION]`, without a look at the file, for
    which a board that serves its page has no memory."""
    action, *rest = words
    if rest[:1] == ["line"]:
        rest = ["line " + "".join(rest[1:2])] + rest[2:]
    if action not in ("ack", "mute", "unmute", "why") or not rest:
        return _HELP
    tasks = _find(service, rest[0], action)
    if not tasks:
        return _none(rest[0])
    if action == "why":
        return "\n\n".join(await _each(_why, service, tasks))
    amount = " ".join(rest[1:])
    try:
        answer = _change(Occurrences(service), tasks, action, amount)
    except ValueError:
        return '"%s" is no duration; expected one such as 30m, 2h' % amount
    names = "%d alarms" % len(tasks)
    if len(tasks) <= _NAMED:
        names = ", ".join(await _each(_named, service, tasks))
    text = answer % names
    active = []
    for task in tasks if action == "ack" else ():
        for other in alarm_texts.others(service, task):
            if other not in tasks and other not in active:
                active.append(other)
    if active:
        text += " Still active: %s." % ", ".join(await _each(_said, service, active))
    return alarm_texts.board(service) + text


async def _each(tell, service, tasks):
    """Return the texts of a function about each of the tasks."""
    found = []
    for task in tasks:
        found.append(await tell(service, task))
    return found


def _none(name):
    if name == "all":
        return "No alarm is active now; /alarms shows all of them."
    return "There is no alarm %s now; it may be over. /alarms shows those there are." % name


def _change(occurrences, tasks, action, amount):
    """Change the state of alarms; return the answer with a `%s` for them."""
    seconds = duration(amount) if amount and action == "mute" else _MUTE_S
    answers = [_change_one(occurrences, task, action, seconds) for task in tasks]
    occurrences.save()
    # Once all have changed, and once for each message: it may tell of several.
    marked = []
    for task in tasks:
        if task not in marked:
            marked += _mark(occurrences, task, action == "ack", amount)
    return ([one for one in answers if one] or ["Nothing to acknowledge, it is over: %s."])[0]


def _change_one(occurrences, task, action, seconds):
    """Change the state of an alarm; return the answer, "" if it is over."""
    condition = task.condition
    moment = occurrences.moment
    is_open = alarms.is_open(task)
    if action == "ack":
        if not is_open:
            return ""
        condition.alarm[alarms.FLAGS] |= alarms.ACKNOWLEDGED
        condition.alarm[alarms.OWED] &= ~(alarms.REPEAT | alarms.NEXT)
        answer = "Acknowledged: %s. I will say when it is over."
    elif action == "mute":
        condition.muted = moment.now + seconds
        condition.mute_s = seconds
        if is_open:
            condition.alarm[alarms.FLAGS] |= alarms.PROMISED
            condition.alarm[alarms.OWED] &= ~alarms.NEXT
        answer = "Muted for %s: %%s. You will hear of events afterwards." % (
            alarm_texts.span(seconds)
        )
    else:
        condition.muted = condition.mute_s = 0
        answer = "Not muted any more: %s."
    return answer


def _mark(occurrences, task, is_ack, who):
    """Show at the first message of an alarm how it stands now; `who` has acknowledged it
    (`is_ack`). Return the alarms of that message."""
    telegram = getattr(occurrences.service.app, "telegram", None)
    if not telegram or not alarms.is_open(task):
        return []
    id = notices.first(occurrences.service, alarms.mark(task, alarms.BEGIN))
    if not id:
        return []
    moment = occurrences.moment
    short = occurrences.zone.short
    fellows = _fellows(occurrences.service, task, id)
    open_ones = [one for one in fellows if not _is_acknowledged(one)]
    actions = ["mute", "why"]
    state = ""
    if len(open_ones) < len(fellows):
        at = " " + short(moment.now)[11:] if is_ack and moment.trusted else ""
        state = "\u2713 acknowledged%s %s" % (at, who[:_WHO] if is_ack else "")
    if open_ones:
        actions.insert(0, "ack")
        if state:
            state = "\u2713 %d of %d acknowledged" % (len(fellows) - len(open_ones), len(fellows))
    if all(alarms.is_muted(one.condition, moment) for one in fellows):
        actions[-2] = "unmute"
        state = "muted until " + short(task.condition.muted)[11:] if moment.trusted else "muted"
    telegram.mark(id, alarms.together(fellows)[3:], actions, state.strip())
    return fellows


def _fellows(service, task, id):
    """Return the alarms under way that the message `id` has told, `task` among them."""
    found = []
    for one in service.tasks:
        if alarms.is_open(one):
            mark = alarms.mark(one, alarms.BEGIN)
            if one is task or notices.first(service, mark) == id:
                found.append(one)
    return found


def _is_acknowledged(task):
    return bool(task.condition.alarm[alarms.FLAGS] & alarms.ACKNOWLEDGED)


async def _said(service, task):
    """Return `"Hot!" (limit 30)` of an alarm."""
    text = await _filled(service, task, status.text_of(service, task))
    return '"%s" (%s)' % (alarm_texts.shown(text), alarm_texts.limits(task.condition))


async def _named(service, task):
    """Return `"Hot!"; room.temperature 31 °C (limit 30)` of an alarm."""
    text = await _filled(service, task, status.text_of(service, task))
    about = await _filled(service, task, alarm_texts.about(task.condition))
    return '"%s"; %s' % (alarm_texts.shown(text), about)


async def _filled(service, task, template):
    # With the value seen last: a command reads no sensor.
    known = {task.condition.name(): task.condition.seen}
    return await alarm_texts.fill(service, template, known, False)


def _find(service, name, action):
    """Return the tasks of alarms by their IDs (`17`, `17.2` of a repetition, `17+18`), by
    `line 5`, or by `all`: those under way, and for `mute` those that are clear, too."""
    found = []
    numbers = name.split(".")[0].split("+")
    for task in service.tasks or ():
        alarm = task.condition and task.condition.alarm
        if name == "all":
            is_meant = alarms.is_alarm(task) if "mute" in action else alarms.is_open(task)
        else:
            is_meant = task.condition and name == "line %d" % task.line
            is_meant = is_meant or isinstance(alarm, list) and str(alarm[alarms.ID]) in numbers
        if is_meant:
            found.append(task)
    return found


async def _line(service, task, one):
    text = alarm_texts.shown(await _filled(service, task, one["text"]))
    name = "alarm %d" % one["alarm"] if one["alarm"] is not None else "line %d" % one["line"]
    about = one["condition"] + status.seen(one, alarm_texts.sign(task.condition))
    return "%s: %s; %s; %s" % (name, one["state"], about, text)


async def _why(service, task):
    """Return the full description of an alarm."""
    for one in status.tasks(service, None):
        if one["line"] == task.line and "state" in one:
            lines = [await _line(service, task, one)]
            if isinstance(task.condition.alarm, list):
                about = await _filled(service, task, alarm_texts.about(task.condition))
                sign = alarm_texts.sign(task.condition)
                now = service.app.clock.now()
                lines.append(alarm_texts.goes_on(task, "", about, sign, now))
            told = one["told"]
            lines.append("last told " + (told + status.zone_note(service) if told else "never"))
            return "\n".join(lines)
    return _HELP


async def preview(heartbeat: "Service") -> str:
    """Return a line for each condition: its values now, its state, and the text that it would
    send."""
    # The code that reads the file makes room for that of the sensors, and this for the rest.
    occurrences, tasks, names, texts = _prepared(heartbeat)
    readings, sent = await overlay.step("BEAT_READ", _readings, heartbeat, tasks, names, texts)
    text = ""
    for task in tasks:
        text += "line %d: %s\n" % (task.line, "; ".join(_pieces(occurrences, task, readings)))
        if task.line in sent:
            text += "    its text: %s\n" % sent[task.line]
    return text


async def _readings(heartbeat, tasks, names, texts):
    """Return the readings, and the text by the line of each task that would send one."""
    readings = await alarm_texts.read_sensors(heartbeat, names)
    sent = {}
    for task in tasks:
        if task.notify:
            text = texts.get(task.line, "")
            if alarms.is_alarm(task):
                text = alarm_texts.board(heartbeat) + alarm_texts.begun(task.condition, text)
            sent[task.line] = await alarm_texts.fill(heartbeat, text, {})
    return readings, sent


def _prepared(heartbeat):
    """Return (Occurrences, tasks with a condition, their sensors, their texts by line)."""
    occurrences = Occurrences(heartbeat)
    reload(occurrences)
    tasks = [task for task in heartbeat.tasks or () if task.condition]
    names = []
    for task in tasks:
        for term in decide.terms(task.condition):
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
    for term in decide.terms(condition):
        value = decide.number(term, readings)
        if isinstance(value, str):
            yield "%s: no value (%s)" % (term.name(), value)
        else:
            yield decide.describe(_alone(term), None).replace(
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
    """Return `decide.is_met` of copies: looking changes nothing."""
    copy = _alone(condition)
    copy.also = [_alone(term) for term in condition.also]
    copy.either = condition.either
    return decide.is_met(copy, readings, mono_s)
