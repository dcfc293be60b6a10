# tenner schedule.requests: the next request of due tasks: a text to send, or a turn of a model.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.port.compat import const
from tenner.schedule import alarm_texts, alarms, cron_jobs, due, heartbeat_tasks, notices, prose
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.outcome import own_text, pass_over
from tenner.schedule.strip_ack import SILENCE
from tenner.schedule.task import Request
from tenner.store.outbox_item import covers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.llm.reply import Reply
    from tenner.schedule.task import Task
    from tenner.schedule.types import Service

# One message tells at most so many alarms.
_MOST = const(6)
# An alarm that is told later than this names its beginning.
_LATE_S = const(300)
# The key of the task that stands for an offer.
_PROSE = const("prose")


async def next_request(
    service: "Service", tasks: "list[Task]", answer: tuple[str, str | None], alerts: bool
) -> Request | None:
    """
    Take tasks out of the list `tasks` and return the Request for them, noted as begun; None when
    nothing is left to be done. `answer` is the outcome of the request before; `alerts`: of texts
    that go out while a model thinks.
    """
    if service.area == "cron":
        return _next_job(service, tasks)
    # The board may have told a task while it waited here.
    tasks[:] = [task for task in tasks if (task.notify or task.alert) == alerts]
    return _next_tasks(service, tasks, answer) if tasks else None


async def compose(heartbeat: "Service", request: Request) -> None:
    """Write the text of `request` from its `items`, which it loses."""
    if request.needs_model:
        await _fill(heartbeat, request)
        request.text = heartbeat_tasks.prompt(heartbeat, request)
    else:
        occurrences = Occurrences(heartbeat)
        request.text = await _alert_text(occurrences, request)
    # Not before: where memory is short this is called again.
    request.items = None


def choose(heartbeat: "Service", request: Request, reply: "Reply") -> None:
    """Go on with the tasks that a model has chosen, on their own model, or with none."""
    lines = heartbeat_tasks.choice(request.lines, reply)
    request.choose = False
    request.tokens = reply.tokens_in + reply.tokens_out
    request.model = request.tasks[0].model
    request.needs_model = lines != []
    request.lines = lines
    request.text = None


# --- of the heartbeat


def _next_tasks(heartbeat, tasks, answer):
    """
    Take the next alert, or all tasks of the next model, out of `tasks`; return the Request for
    them. Its text is None while `compose` has to write it from the items of the file.
    """
    first = tasks[0]
    is_alert = first.notify or first.alert
    if not is_alert and answer[0] != "run":
        return None
    if first.key == _PROSE:
        tasks[:] = []
        return prose.request(heartbeat)
    group = _together(heartbeat, tasks) if is_alert else _group(heartbeat, tasks)
    behind = [task for task in tasks if task not in group]
    occurrences = Occurrences(heartbeat)
    if not is_alert:
        # The others wait, and must be on flash for a power cut.
        occurrences.defer(behind, "busy (heartbeat)")
    occurrences.begin(group)
    request = Request(group, None)
    if is_alert:
        request.needs_model = False
        _describe(occurrences, first, request)
        if len(group) > 1:
            request.mark = alarms.together(group)
    else:
        _address(occurrences, request)
        behind += prose.waits(heartbeat, group)
    # Not before: where memory is short this is called again.
    tasks[:] = behind
    return request


def _owes(task):
    """Return whether the owner must be told of a task: its condition is met."""
    return task.condition is not None and not task.asked


def _together(heartbeat, tasks):
    """Return the first alert, and if it is the beginning of an alarm those of others that one
    message can tell with it."""
    joining = [task for task in tasks if _can_join(task)]
    if tasks[0] not in joining or len(joining) < 2:
        return tasks[:1]
    # After a power cut one of them may be on its way.
    items = heartbeat.app.get("delivery").outbox.items
    known = notices.marks(heartbeat)
    group = []
    for task in joining:
        if len(group) < _MOST:
            mark = alarms.mark(task, alarms.BEGIN)
            on_way = mark in known or any(covers(item.alert, mark) for item in items)
            if not on_way and not notices.is_repeat(heartbeat, mark):
                group.append(task)
    return group if tasks[0] in group else tasks[:1]


def _can_join(task):
    if not task.condition or task.asked or task.hold or task.chart_s:
        return False
    return alarms.is_alarm(task) and alarms.next_owed(task) == alarms.BEGIN


def _group(heartbeat, tasks):
    """Return the tasks for the first one's model: of those of which the owner must be told only
    one, for a text tells of one. A model that chooses has no choice about that one."""
    first = tasks[0]
    fellows = [task for task in tasks if task.model == first.model]
    if heartbeat.app.config.get("heartbeat.mode") == "decide":
        return [task for task in fellows if not _owes(task)] if not _owes(first) else [first]
    told = [task for task in fellows if _owes(task)][:1]
    return [task for task in fellows if task in told or not _owes(task)]


def _address(occurrences, request):
    """Note in `request` which model its tasks need, and of which the owner must be told."""
    app = occurrences.service.app
    config = app.config
    group = request.tasks
    for task in group:
        if not _owes(task):
            continue
        request.owes = task
        if app.port.small and task.waits_s is not None:
            # The turn has the memory, and nothing can be told until it ends.
            request.limit_s = max(occurrences.patience_left(task), 5)
        if alarms.is_alarm(task) and alarms.next_owed(task) == alarms.BEGIN:
            request.bit = alarms.BEGIN
            request.mark = alarms.mark(task, alarms.BEGIN)
            request.seen = alarms.seen(task)
    decides = config.get("heartbeat.mode") == "decide"
    request.choose = decides and not request.owes
    request.model = config.get("heartbeat.model") or None
    if not request.choose:
        request.model = group[0].model or (None if decides else request.model)


async def _fill(heartbeat, request):
    """Fill the templates in the items of a request: a model would repeat them."""
    general, found = request.items
    if not any("{" in text for _, text in found):
        return
    known = {}
    for task in request.tasks:
        if task.trigger_value is not None:
            known[task.condition.name()] = task.trigger_value
    filled = []
    for line, text in found:
        text = await overlay.step("BEAT_READ", alarm_texts.fill, heartbeat, text, known)
        filled.append((line, text))
    request.items = general, filled


def _describe(occurrences, task, request):
    """Note in `request` the kind and the mark of an alert, and its text if that is not in
    HEARTBEAT.md."""
    if task.key == notices.DIGEST:
        request.text, request.mark = notices.digest(occurrences)
        return
    bit = 0
    if task.condition and not task.asked and alarms.is_alarm(task):
        bit = alarms.next_owed(task)
    if not bit:
        request.mark = "tr:%d" % occurrences.moment.now if task.condition else None
        if task.notify and (task.cron or task.once) and not (task.condition or task.asked):
            # Days may be shorter than `heartbeat.dedup_h`.
            request.mark = "tr:%s-%d" % (task.name(), task.due)
        return
    request.bit = bit
    request.mark = alarms.mark(task, bit)
    request.hold = task.hold
    request.seen = alarms.seen(task)
    if bit in (alarms.NEXT, alarms.NEXT_END) and task.escalate:
        request.to = heartbeat_tasks.next_one(occurrences.service.app, task.escalate[1])
    if bit in (alarms.END, alarms.NEXT_END):
        request.others = alarm_texts.others(occurrences.service, task)


async def _alert_text(occurrences, request):
    """Return the text of an alert from that of its item, with readings for its
    `{sensor.value}`."""
    heartbeat = occurrences.service
    texts = dict(request.items[1])
    if len(request.tasks) == 1:
        task = request.tasks[0]
        board = alarm_texts.board(heartbeat) if task.condition else ""
        return board + await _one_text(occurrences, request, task, texts)
    lines = [alarm_texts.board(heartbeat) + "%d alarms:" % len(request.tasks)]
    for task in request.tasks:
        lines.append("\u2022 " + await _one_text(occurrences, request, task, texts))
    return "\n".join(lines)


async def _one_text(occurrences, request, task, texts):
    heartbeat = occurrences.service
    text = texts.get(task.line, "")
    condition = task.condition
    alarm = condition.alarm if request.bit else None
    value = alarm[alarms.VALUE] if alarm else task.trigger_value
    known = {} if value is None else {condition.name(): value}
    if alarm and request.bit != alarms.BEGIN:
        return await _further_text(occurrences, request, texts)
    if condition and not task.notify:
        about = alarm_texts.about(condition)
        text = "%s: %s" % (about, text) if text else about
    elif alarm:
        text = alarm_texts.begun(condition, text)
    text = await alarm_texts.fill(heartbeat, text, known)
    now = _now(occurrences)
    start = alarm[alarms.START] if alarm else now
    notes = ""
    if not task.hold and (task.gave_up or now - start >= _LATE_S):
        notes = "at %s" % occurrences.zone.short(start)[11:] if occurrences.moment.trusted else ""
    if task.gave_up:
        notes += ("; " if notes else "") + "the model did not answer: " + task.gave_up.rstrip(".")
    if notes:
        text += " (%s)" % notes
    if alarm and not (task.notify or task.gave_up):
        text += " (It is over, and no model was asked.)"
    return text


def _now(occurrences):
    """Return the time by the clock of the last look, as an alarm has it: the clock may have been
    set since."""
    return occurrences.moment.mono_s + occurrences.service.offset_s


async def _further_text(occurrences, request, texts):
    """Return the text of a later message of an alarm, which names the first one."""
    heartbeat = occurrences.service
    task = request.tasks[0]
    condition = task.condition
    alarm = condition.alarm
    name = condition.name()
    last = {name: alarm[alarms.LAST]}
    is_end = request.bit in (alarms.END, alarms.NEXT_END)
    said = {name: alarm[alarms.VALUE]} if is_end else last
    said = await _said(heartbeat, texts, task, said)
    about = await alarm_texts.fill(heartbeat, alarm_texts.about(condition), last)
    sign = alarm_texts.sign(condition)
    if not is_end:
        head = "still: "
        if request.bit == alarms.NEXT and task.escalate:
            head = "not acknowledged for %s: " % alarm_texts.span(task.escalate[0])
        return alarm_texts.goes_on(task, said, about, sign, _now(occurrences), head)
    active = []
    for other in request.others:
        text = await _said(heartbeat, texts, other, last)
        active.append('"%s" (%s)' % (text, alarm_texts.limits(other.condition)))
    return alarm_texts.ended(task, said, about, sign, ", ".join(active))


async def _said(heartbeat, texts, task, known):
    """Return the beginning of an item's text."""
    text = await alarm_texts.fill(heartbeat, texts.get(task.line, ""), known, False)
    return alarm_texts.shown(text)


# --- of the jobs


def _next_job(cron, jobs):
    """Take jobs out of the list until one can run, and return the Request for it; the others wait
    or end."""
    while jobs:
        job = jobs[0]
        request = _request(cron, job, jobs[1:]) if job in cron.tasks else None
        # Not before: where memory is short this is called again.
        jobs.pop(0)
        if request is not None:
            return request
    return None


def _request(cron, job, behind):
    """Begin the job; None when it waits for budget, lane or network. The jobs behind it wait until
    it ends."""
    occurrences = Occurrences(cron)
    entry = _entry_of(cron, job.key)
    if entry is None:
        job.gave_up = None
        return None
    payload = entry["payload"]
    text = payload["message"]
    if job.gave_up:
        return _own(job, payload, job.gave_up)
    if not job.notify:
        action, reason = occurrences.decide([job], True, True, True)
        if action == "skip":
            request = _own(job, payload, "no model was asked, " + reason, reason)
            if request is None:
                pass_over(occurrences, job, reason)
            return request
        if action != "run":
            occurrences.retry([job], reason)
            return None
        occurrences.defer(behind, "busy (cron)")
        moment = occurrences.moment
        time_text = due.zone_of(job, occurrences.zone).tell(moment.now, moment.trusted)
        name = entry.get("name") or job.key
        text = 'The job "%s" is due:\n%s\n\nTime: %s\n' % (name, text, time_text)
    occurrences.begin([job])
    if not job.notify:
        cron.running_s = occurrences.moment.mono_s
    request = Request([job], text)
    request.needs_model = not job.notify
    request.model = payload.get("model")
    request.payload = payload
    if not job.notify and SILENCE not in payload["message"].upper():
        request.owes = job
    return request


def _own(job, payload, why, skips=None):
    """Return the Request that sends only the own message of a job; `skips`: for this reason its
    run is skipped then. None if it was sent already, or may be silent."""
    due_s = job.run.due if job.run else job.due
    if SILENCE in payload["message"].upper() or job.told == due_s:
        job.gave_up = job.waits_s = None
        job.alert = False
        return None
    request = Request([job], own_text(payload, why))
    request.needs_model = False
    request.payload = payload
    request.tells = True
    # The outbox knows it after a power cut.
    request.mark = "job-%s-%d" % (job.key, due_s)
    request.skips = skips
    return request


def _entry_of(cron, key):
    """Return the job's entry in the file, or None when that cannot be read any more."""
    try:
        return cron_jobs.find(cron.file, key)
    except (ValueError, OSError):
        # Looked at again at the next wake, and reported.
        cron.signature = None
        return None
