# tenner schedule.outcome: settles what a turn came to: delivers the answer, tries again, tells of failures.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.schedule.book import SENT, Book

_BACK_OFF_S = (30, 60, 300, 900, 3600)
_TELL_AFTER = 3


async def settle(box, begun, result, tokens=0, to=None):
    """
    Write down how a run has ended, and deliver its answer. `result`: of the turn, a text that needed
    none, None when the model decided to skip, or what was raised. `to`: a job's payload. (action, reason)
    """
    from tenner.agent.lane import LaneBusy, PutBack

    error = None
    text = ""
    line = {"r": "ran", "tokens": tokens, "sent": "no"}
    if isinstance(result, (LaneBusy, PutBack)):
        if isinstance(result, LaneBusy):
            error = "lane busy (%s)" % result.args[0]
        else:
            error = "put back (a person came first)"
            box.put_backs += 1
            tokens += result.args[0].tokens() if result.args else 0
            log(box.area, "%s, %d tokens spent" % (error, tokens))
        run = Book(box, begun)
        run.take_back(error, 0, tokens)
        run.hold_off(error)
        return run.say("retry", error)
    if isinstance(result, str):
        text = result
    elif isinstance(result, Exception):
        error = str(result) or repr(result)
    elif result is None:
        line["why"] = "decided to skip"
    else:
        line["tokens"] = tokens + result.tokens()
        line["ms"] = result.ms
        if result.estimated:
            line["est"] = True
        if result.interrupted == "stop":
            line["why"] = "stopped by the owner"
        elif result.error is not None:
            error = result.error
        else:
            from tenner.schedule.ack import deliver

            at_most = 0 if to else box.app.config.get("heartbeat.ack_max_chars")
            text = deliver(result.text or "", at_most)
    if text:
        try:
            line["sent"] = await _deliver(box, text, to)
        except OSError as reason:
            error = "the answer could not be sent (%s)" % reason
    run = Book(box, begun)
    if error:
        if to:
            from tenner.schedule.cronwake import failed
        elif isinstance(result, str):
            failed = _not_sent
        else:
            failed = _failed
        return failed(run, error, line["tokens"])
    sent = SENT[line["sent"]]
    run.end(line)
    run.has_run(isinstance(result, str))
    box.put_backs = 0
    name = "%s ran" % begun[2][0][0].key if to else "ran"
    log(box.area, "%s: %s (%d tokens)" % (name, line.get("why") or sent, line["tokens"]))
    if not to and not isinstance(result, str):
        _recovered(run)
    return "run", sent


async def _deliver(box, text, to):
    """Give a text to a person: "yes", "queued", or "repeat" when the owner was told before."""
    if to:
        return await box.app.part("scheduled").deliver_job(text, to.get("channel"), to.get("chat"))
    from tenner.schedule.dedup import deliver

    return await deliver(box, text)


def _not_sent(run, sentence, tokens):
    """An alert that needs no model."""
    run.take_back(sentence, 1)
    run.hold_off(sentence, True)
    return run.say("retry", sentence)


def _failed(run, sentence, tokens):
    box = run.box
    saved = box.saved
    failures = saved["f"] = saved.get("f", 0) + 1
    wait_s = _BACK_OFF_S[min(failures, len(_BACK_OFF_S)) - 1]
    box.not_before_s = run.mono_s + wait_s
    box.waits[0] = sentence
    log("heartbeat", "failed (%d in a row): %s; again in %d s" % (failures, sentence, wait_s))
    if failures >= _TELL_AFTER and not saved.get("n"):
        saved["n"] = 1
        box.app.agent.notify(
            "The heartbeat has failed %d times in a row: %s I go on trying, and will say when it "
            "works again." % (failures, sentence.rstrip(".") + ".")
        )
    run.take_back(sentence, 1, tokens)
    return "retry", "failed: %s" % sentence


def _recovered(run):
    saved = run.box.saved
    failures = saved.get("f")
    if failures:
        sentence = "The heartbeat works again, after %d failures." % failures
        log("heartbeat", sentence)
        if saved.get("n"):
            run.box.app.agent.notify(sentence)
        saved["f"] = saved["n"] = run.box.not_before_s = 0
        run.save()
