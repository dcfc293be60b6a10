# tenner schedule.outcome: settles the result of a turn: delivers the answer, tries again, reports failures.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent import background
from tenner.agent.errors import LaneBusy, Preempted
from tenner.log import log
from tenner.schedule import cron_tick, dedup, digest
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.run_log import SENT
from tenner.schedule.strip_ack import strip_ack

_BACK_OFF_S = (30, 60, 300, 900, 3600)
_TELL_AFTER = 3
_LATE_S = 86400
_WHO = {"heartbeat": "heartbeat", "cron": "running of jobs"}


async def settle(service, request, result):
    """
    Log how a run has ended, and deliver its answer. `result`: that of the turn, a text that needed no
    turn, None when the model decided to skip, or the exception. (action, reason)
    """
    tasks = request.tasks
    line = {"r": "ran", "tokens": request.tokens, "sent": "no"}
    if request.bit:
        line["al"] = request.bit
    error = text = None
    outage = False
    if isinstance(result, LaneBusy):
        return _wait(service, tasks, "lane busy (%s)" % result.args[0], request.tokens)
    if isinstance(result, Preempted):
        service.preemptions += 1
        tokens = request.tokens + (result.args[0].tokens() if result.args else 0)
        return _wait(service, tasks, "preempted by a user message", tokens)
    if isinstance(result, str):
        text = result
    elif isinstance(result, Exception):
        error = str(result) or repr(result)
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
            error = result.error
            outage = result.outage
        else:
            at_most = 0
            if request.payload is None:
                at_most = service.app.config.get("heartbeat.ack_max_chars")
            text = strip_ack(result.text or "", at_most)
    text = text and _late(service, tasks[0]) + text
    if text and request.sent is None:
        try:
            # Kept, for where memory is short this is called again.
            request.sent = await _deliver(service, text, request)
        except OSError as reason:
            error = "the answer could not be sent (%s)" % reason
    line["sent"] = request.sent or "no"
    tokens = line["tokens"]
    occurrences = Occurrences(service)
    if error:
        return _failed(occurrences, request, error, tokens, outage)
    occurrences.end(tasks, line, request.bit)
    sent = SENT[line["sent"]]
    name = "job " + tasks[0].key if request.payload else "ran"
    if request.bit:
        name = "alarm " + request.mark[3:].split(".")[0]
    log(service.area, "%s: %s (%d tokens)" % (name, line.get("why") or sent, tokens))
    if tasks[0].key == digest.KEY:
        # A power cut may have kept an alarm from noting that its message is held.
        for mark in digest.marks(service):
            dedup.confirm(service, mark)
        occurrences.log.files.release()
    if service.failures and request.needs_model:
        _recovered(occurrences)
    return "run", sent


async def put_off(service, tasks, error):
    """Let the tasks wait for memory; the outbox knows a text that it has already by its mark."""
    occurrences = Occurrences(service)
    if tasks:
        occurrences.requeue(tasks, str(error), 1)
        return occurrences.retry(tasks, "out of memory")
    return "retry", "out of memory"


async def tell(service, text, channel, chat):
    """Send a text to a chat."""
    service.app.deliver(channel, chat, text)


def _wait(service, tasks, reason, tokens):
    occurrences = Occurrences(service)
    occurrences.requeue(tasks, reason, 0, tokens)
    return occurrences.retry(tasks, reason)


async def _deliver(service, text, request):
    """Give a text to a person: "yes", "queued", "held", or "repeat" when the owner was told before."""
    payload = request.payload
    if request.hold:
        digest.hold(service, service.app.clock.now(), request.mark, text)
        return "held"
    if payload is None:
        if request.mark in digest.marks(service):
            return "held"
        return await dedup.deliver(service, text, request.mark)
    deliver = service.deliver or background.deliver
    return await deliver(service.app, text, False, payload.get("channel"), payload.get("chat"))


def _late(service, task):
    """Return the words before the text of a task that was due more than a day ago."""
    run = task.run
    if run is None or not run.trusted or run.due <= 0 or run.start - run.due <= _LATE_S:
        return ""
    return "(late: this was due on %s) " % service.app.get("zone").short(run.due)


def _failed(occurrences, request, sentence, tokens, outage):
    tasks = request.tasks
    # An unreachable model is no failure of a job.
    if request.payload is not None and not (outage and request.needs_model):
        return cron_tick.failed(occurrences, tasks[0], sentence, tokens)
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
            "The %s has failed %d times in a row: %s I go on trying, and will say when it "
            "works again." % (_WHO[area], failures, sentence.rstrip(".") + ".")
        )
    occurrences.requeue(tasks, sentence, 1, tokens)
    return "retry", "failed: %s" % sentence


def _recovered(occurrences):
    service = occurrences.service
    sentence = "The %s works again, after %d failures." % (_WHO[service.area], service.failures)
    log(service.area, sentence)
    if service.told:
        service.app.agent.notify(sentence)
    service.failures = service.told = service.not_before_s = 0
    occurrences.save()
