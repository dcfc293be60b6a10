# tenner schedule.outcome: settles a turn: ends its occurrences, retries, reports failures.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.errors import LaneBusy, Preempted
from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import alarm_texts, alarms, decide, notices, prose
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.saved_state import SENT
from tenner.schedule.strip_ack import in_capitals, strip_ack, unusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner import overlay
    from tenner.schedule.task import Request, Task
    from tenner.schedule.types import Service

_BACK_OFF_S = (30, 60, 300, 900, 3600)
# The mark of an offer (schedule.prose).
_OFFER = const("pr:")
_TELL_AFTER = 3
#: Failures in a row after which a job is switched off.
MAX_FAILURES = const(5)
_LATE_S = const(86400)
# Longer ago the clock was not set yet.
_UNSET_S = const(366 * 86400)
# Characters of a failure that go into an alarm's text.
_WHY = const(300)
_WHO = {"heartbeat": "heartbeat", "cron": "running of jobs"}


async def note(service: "Service", request: "Request") -> None:
    """Replace the `result` of a request by plain data."""
    result = request.result
    line: dict = {"r": "ran", "tokens": request.tokens, "sent": "no"}
    if request.bit:
        line["al"] = request.bit
    request.line = line
    request.answer = request.why = None
    if isinstance(result, LaneBusy):
        request.wait = "busy (%s)" % result.args[0]
    elif isinstance(result, Preempted):
        service.preemptions += 1
        request.wait = "preempted by a user message"
        line["tokens"] += result.args[0].tokens() if result.args else 0
    elif isinstance(result, str):
        request.answer = result
    elif isinstance(result, Exception):
        request.error = str(result) or repr(result)
    elif result is None:
        line["why"] = "decided to skip"
    else:
        line["tokens"] += result.tokens()
        line["ms"] = result.ms
        if result.estimated:
            line["est"] = True
        if result.interrupted == "stop":
            line["why"] = "stopped by the owner"
        elif result.error is not None:
            request.error = result.error
            request.outage = result.outage
        else:
            request.answer = result.text or ""
            request.why = getattr(result, "unusable", None)
    # Not before: where memory is short this is called again.
    request.result = None


async def judge(service: "Service", request: "Request") -> tuple[str, str] | None:
    """Find the text to send and its address. Return (action, reason) if the tasks wait for another
    try, else None."""
    if request.needs_model and str(request.mark)[:3] == _OFFER:
        return prose.failed(service, request)
    if request.wait:
        occurrences = Occurrences(service)
        # The board may have told an alarm meanwhile.
        tasks = [task for task in request.tasks if task.run]
        occurrences.requeue(tasks, request.wait, 0, request.line["tokens"])
        return occurrences.retry(tasks, request.wait) if tasks else ("retry", request.wait)
    text = request.answer
    owes = request.owes
    if owes and request.needs_model:
        text = _owed(service, request, owes)
    elif text and request.needs_model:
        at_most = 0
        if request.payload is None:
            at_most = service.app.config.get("heartbeat.ack_max_chars")
        text = strip_ack(in_capitals(text), at_most)
    if text and request.sent is None:
        try:
            _give(
                service,
                (_late(service, request.tasks[0]) if request.tasks else "") + text,
                request,
            )
        except OSError as reason:
            request.error = "the answer could not be sent (%s)" % reason
    return None


def _owed(service, request, task):
    """Return the text about an alarm or a job, None where the model has given none: then an alarm
    is told next, and a job's own message takes its place."""
    text = request.answer or ""
    why = request.error or request.why or request.line.get("why")
    condition = task.condition
    value = (
        None
        if condition is None or task.trigger_value is None
        else decide.shown(condition, task.trigger_value)
    )
    request.why = why = why or unusable(text, value)
    if why:
        log(service.area, "no text of a model for %s: %s" % (task.name(), why))
    if condition is None:
        if not why:
            return strip_ack(in_capitals(text))
        return None if task.told == task.run.due else own_text(request.payload, why[:_WHY])
    if not _is_late(request, task):
        if not why and value and value not in text:
            # The model may speak of something else.
            text += "\n%s." % alarm_texts.value(service, condition, value)
        return None if why else alarm_texts.board(service) + str(strip_ack(text))
    # The board has told it meanwhile.
    request.tasks = [one for one in request.tasks if one is not task]
    request.owes = None
    request.bit = 0
    request.mark = "ad:" + str(request.mark)[3:]
    if why:
        return None
    about = decide.describe(condition, None)
    return "%s(later, about %s) %s" % (alarm_texts.board(service), about, strip_ack(text))


def _is_late(request, task):
    """Return whether the board has told the alarm while its turn ran."""
    if not request.bit:
        return task.run is None
    alarm = task.condition.alarm
    owed = alarm and alarm[alarms.OWED] & alarms.BEGIN and alarms.mark(task, alarms.BEGIN)
    return task.gave_up is not None or owed != request.mark


async def settle(service: "Service", request: "Request") -> tuple[str, str]:
    """End the occurrences of a request whose answer was sent, or let them wait. (action,
    reason)"""
    tasks = request.tasks
    line = request.line
    line["sent"] = request.sent or "no"
    tokens = line["tokens"]
    occurrences = Occurrences(service)
    if request.tells:
        return _told(occurrences, request)
    if str(request.mark)[:3] == _OFFER:
        return prose.settle(service, request)
    task = request.owes
    if request.why and task and task.condition:
        # The board tells it next.
        occurrences.give_up(task, request.why[:_WHY])
        rest = [one for one in tasks if one is not task]
        occurrences.requeue([task], request.why, 0, 0 if rest else tokens)
        request.tasks = tasks = rest
    elif request.why and request.sent:
        task.told = task.run.due
    if request.error:
        return _failed(occurrences, request, request.error, tokens, request.outage)
    if not tasks:
        return "run", SENT[line["sent"]]
    if request.sent == "yes" and request.payload is None and request.address[0] is not True:
        notices.confirm(service, request.address[0])
    occurrences.end(tasks, line, request.bit)
    sent = SENT[line["sent"]]
    name = "job " + tasks[0].key if request.payload else "ran"  # type: ignore[operator]
    if request.bit:
        name = "alarm " + request.mark[3:].split(".")[0]
    log(service.area, "%s: %s (%d tokens)" % (name, line.get("why") or sent, tokens))
    if tasks[0].key == notices.DIGEST:
        # A power cut may have kept an alarm from noting that its message is held.
        marks = notices.marks(service)
        for mark in marks:
            notices.confirm(service, mark)
        for held in service.tasks or ():
            alarm = held.condition and held.condition.alarm
            if isinstance(alarm, list) and alarms.mark(held, alarms.BEGIN) in marks:
                held.condition.told = occurrences.moment.now
        occurrences.log.files.release()
    if service.failures and request.needs_model:
        _recovered(occurrences)
    return "run", sent


async def put_off(
    service: "Service", tasks: "list[Task]", error: "overlay.OutOfMemory"
) -> tuple[str, str]:
    """Let the tasks wait for memory; the outbox knows a text that it has already by its mark."""
    occurrences = Occurrences(service)
    if tasks:
        occurrences.requeue(tasks, str(error), 1)
        return occurrences.retry(tasks, "out of memory")
    return "retry", "out of memory"


def _give(service, text, request):
    """
    Note the text and to whom it goes; "held" or "repeat" as its outcome if it is not sent now. An
    episode of an alarm is known by its mark, with any text; other texts by their words, for
    `heartbeat.dedup_h`.
    """
    request.text = text
    payload = request.payload
    if request.hold:
        notices.hold(service, service.app.clock.now(), request.mark, text)
        request.sent = "held"
    elif payload is not None:
        request.address = False, payload.get("channel"), payload.get("chat")
    elif request.mark in notices.marks(service):
        request.sent = "held"
    else:
        mark = request.mark or notices.mark_of(service, text)
        request.address = (mark or True,) + request.to
        if mark and notices.is_repeat(service, mark):
            request.sent = "repeat"


def _late(service, task):
    """Return the words before the text of a task that was due more than a day ago."""
    run = task.run
    if run is None or not run.trusted or not _LATE_S < run.start - run.due < _UNSET_S:
        return ""
    return "(late: this was due on %s) " % service.app.get("zone").short(run.due)


def _failed(occurrences, request, sentence, tokens, outage):
    tasks = request.tasks
    # An unreachable model is no failure of a job.
    if request.payload is not None and not (outage and request.needs_model):
        return _job_failed(occurrences, tasks[0], sentence, tokens)
    if not request.needs_model:
        occurrences.requeue(tasks, sentence, 1)
        return occurrences.retry(tasks, sentence)
    service = occurrences.service
    service.failures += 1
    failures = service.failures
    wait_s = _BACK_OFF_S[min(failures, len(_BACK_OFF_S)) - 1]
    service.not_before_s = occurrences.moment.mono_s + wait_s
    service.model_retry.reason = sentence
    area = service.area
    log(area, "failed (%d in a row): %s; retry in %d s" % (failures, sentence, wait_s))
    if failures >= _TELL_AFTER and not service.told:
        service.told = 1
        service.app.agent.notify(
            "The %s has failed %d times in a row: %s%s I go on trying, and will say when it "
            "works again."
            % (_WHO[area], failures, sentence.rstrip(".") + ".", _about(request.owes))
        )
    occurrences.requeue(tasks, sentence, 1, tokens)
    return "retry", "failed: %s" % sentence


def _about(task):
    """Return a sentence that names the alarm or job that failed."""
    if task is None:
        return ""
    if task.condition is None:
        return " This was the job %s." % task.key
    return " This was the alarm %s." % decide.describe(task.condition, task.trigger_value)


def _told(occurrences, request):
    """Settle a request that sent a job's own message while its run waits or lasts."""
    job = request.tasks[0]
    job.gave_up = job.waits_s = None
    job.alert = False
    if request.error:
        # Tried again a little later.
        job.waits_s = occurrences.moment.mono_s
        return "retry", request.error
    job.told = job.run.due if job.run else job.due
    if request.skips:
        pass_over(occurrences, job, request.skips)
    occurrences.save()
    return "run", SENT[request.line["sent"]]


def _recovered(occurrences):
    service = occurrences.service
    sentence = "The %s works again, after %d failures." % (_WHO[service.area], service.failures)
    log(service.area, sentence)
    if service.told:
        service.app.agent.notify(sentence)
    service.failures = service.told = service.not_before_s = 0
    occurrences.save()


# --- of jobs


def own_text(payload: dict, why: str) -> str:
    """Return the text of a job that no model has answered."""
    return "%s (the model did not answer: %s)" % (payload["message"], why.rstrip("."))


def _job_failed(occurrences, job, sentence, tokens):
    """Note a failed run; the fifth in a row switches the job off. (action, reason)"""
    job.failures += 1
    log("cron", "job %s failed (%d in a row): %s" % (job.key, job.failures, sentence))
    if job.failures >= MAX_FAILURES:
        switch_off(occurrences, job, "failed %d times: %s" % (job.failures, sentence))
    if job.at and not job.off_since:
        # It has no next time: this one is tried again.
        job.not_before_s = occurrences.moment.mono_s + _BACK_OFF_S[job.failures - 1]
        occurrences.requeue([job], sentence, 1, tokens)
    else:
        occurrences.end([job], {"r": "failed", "why": sentence, "tokens": tokens})
    return "retry", sentence


def switch_off(occurrences: Occurrences, job: "Task", why: str) -> None:
    """Run the job no more, and tell the owner."""
    job.off_since = max(occurrences.moment.now, 1)
    job.why = why
    occurrences.service.dirty = True
    occurrences.service.app.agent.notify(
        'The job "%s" is off now, it has %s. `/cron` shows the jobs; ask me to enable it again.'
        % (job.key, why.rstrip("."))
    )


def pass_over(occurrences: Occurrences, job: "Task", reason: str) -> None:
    """Skip this occurrence."""
    log("cron", "job %s skipped: %s" % (job.key, reason))
    if job.at:
        job.why = "skipped: " + reason
        occurrences.service.app.agent.notify(
            'The job "%s", due at %s, was not run: %s.'
            % (job.key, occurrences.zone.short(job.due), reason)
        )
    occurrences.skip(job, reason)
    occurrences.service.dirty = True
