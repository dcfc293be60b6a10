# tenner schedule.heartbeat_requests: the heartbeat's next request: a text to send, or tasks for a model.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.port.compat import const
from tenner.schedule import alarm_texts, alarms, digest, heartbeat_tasks, sensor_values
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.task import Request

# An alarm that is told later than this names its beginning.
_LATE_S = const(300)


async def next_request(heartbeat, tasks, answer):
    """Take the next alert, or all tasks of the next model, out of `tasks`; return the Request for them."""
    first = tasks[0]
    is_alert = first.notify or first.alert
    if not is_alert and answer[0] != "run":
        return None
    group = [first]
    if not is_alert:
        group = [task for task in tasks if task.model == first.model]
    behind = [task for task in tasks if task not in group]
    occurrences = Occurrences(heartbeat)
    if not is_alert:
        # The others wait, and must be on flash for a power cut.
        occurrences.defer(behind, "lane busy (heartbeat)")
    occurrences.begin(group)
    if is_alert:
        request = Request(group, None)
        request.needs_model = False
        request.text = await _text(occurrences, first, request)
    else:
        request = _asked(heartbeat, group)
    # Not before: where memory is short this is called again.
    tasks[:] = behind
    return request


def _asked(heartbeat, group):
    """Return the Request of tasks that need a model."""
    config = heartbeat.app.config
    request = Request(group, None)
    request.choose = config.get("heartbeat.mode") == "decide"
    request.model = config.get("heartbeat.model") or None
    if not request.choose:
        request.model = group[0].model or request.model
    request.text = heartbeat_tasks.prompt(heartbeat, group, None, request.choose)
    for task in group:
        if task.condition and not task.asked and alarms.next_owed(task) == alarms.BEGIN:
            request.bit = alarms.BEGIN
            request.mark = request.mark or alarms.mark(task, alarms.BEGIN)
    return request


def choose(heartbeat, request, reply):
    """Go on with the tasks that a model has chosen, on their own model, or with none."""
    request.choose = False
    request.tokens = reply.tokens_in + reply.tokens_out
    only = heartbeat_tasks.choice(heartbeat, request.tasks, reply)
    request.model = request.tasks[0].model
    request.needs_model = only != []
    request.text = None
    if only != []:
        request.text = heartbeat_tasks.prompt(heartbeat, request.tasks, only)


async def _text(occurrences, task, request):
    """Return the text of an alert, and note its kind and mark in `request`."""
    heartbeat = occurrences.service
    if task.key == digest.KEY:
        text, request.mark = digest.text(occurrences)
        return text
    bit = 0
    if task.condition and not task.asked and alarms.is_alarm(task):
        bit = alarms.next_owed(task)
    if not bit:
        request.mark = "tr:%d" % occurrences.moment.now if task.condition else None
        return await _filled(heartbeat, task, task.trigger_value)
    request.bit = bit
    request.mark = alarms.mark(task, bit)
    request.hold = task.hold
    now = occurrences.moment.now
    alarm = task.condition.alarm
    if bit == alarms.END:
        return alarm_texts.ended(task)
    if bit == alarms.REPEAT:
        return alarm_texts.goes_on(task, now)
    text = await _filled(heartbeat, task, alarm[alarms.VALUE])
    if not task.hold and now - alarm[alarms.START] >= _LATE_S:
        text += " (at %s)" % occurrences.zone.short(alarm[alarms.START])[11:]
    if not task.notify:
        text += " (It is over, and no model was asked.)"
    return text


async def _filled(heartbeat, task, value):
    """Return the text of an item, with readings for its `{sensor.value}`."""
    found = heartbeat_tasks.read(heartbeat, [task])[1]
    known = {}
    if value is not None:
        known[task.condition.name()] = value
    await overlay.enter("BEAT_READ")
    return await sensor_values.fill(heartbeat, found[0][1] if found else "", known)
