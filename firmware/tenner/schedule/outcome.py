# tenner schedule.outcome: sends the alerts of the heartbeat, and settles what a turn of it came to.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.schedule.book import SENT, ran
from tenner.schedule.ledger import Ledger

_BACK_OFF_S = (30, 60, 300, 900, 3600)
_TELL_AFTER = 3


async def _deliver(heartbeat, text):
    """Give a text to the owner unless it was said before: "yes", "queued" or "repeat"."""
    dedup = heartbeat.dedup()
    mark = dedup.mark(text)
    if mark and dedup.repeats(mark):
        return "repeat"
    sent = await heartbeat.deliver(text, mark)
    if mark and sent == "yes":
        dedup.confirm(mark)
    return sent


async def alerts(heartbeat, tasks):
    """Send the texts of `notify` tasks. (action, reason)"""
    from tenner.schedule import turns
    from tenner.schedule.gates import Senses, name_of

    answer = ("run", "nothing sent")
    senses = Senses(heartbeat)
    for task in tasks:
        run = Ledger(heartbeat)
        run.begin([task])
        known = {}
        if task.opened is not None:
            known[name_of(task.gate)] = task.opened
        text = await senses.fill(turns.text_of(run.stores, task.line), known)
        try:
            sent = await _deliver(heartbeat, text)
        except OSError as error:
            reason = "not sent (%s)" % error
            run.take_back(reason, 1)
            run.hold_off(reason, True)
            answer = run.say("retry", reason)
            continue
        run.end({"r": "ran", "tokens": 0, "sent": sent})
        log("heartbeat", "line %d: %s: %s" % (task.line, SENT[sent], text))
        run.has_run(True)
        answer = ("run", SENT[sent])
    return answer


async def settle(heartbeat, begun, result, tokens):
    """
    Write down how a turn has ended, and deliver its answer. `result`: of the turn, None when the
    model decided to skip, or what was raised. (action, reason)
    """
    from tenner.agent.lane import LaneBusy, PutBack

    run = Ledger(heartbeat, begun)
    if isinstance(result, LaneBusy):
        return run.say(*_wait(run, "lane busy (%s)" % result.args[0], tokens))
    if isinstance(result, PutBack):
        heartbeat.put_backs += 1
        tokens += result.args[0].tokens() if result.args else 0
        log("heartbeat", "put back: a person came first (%d tokens spent)" % tokens)
        return _wait(run, "put back (a person came first)", tokens)
    if isinstance(result, Exception):
        return _failed(run, str(result) or repr(result), tokens)
    if result is None:
        line = {"r": "ran", "why": "decided to skip", "sent": "no", "tokens": tokens}
    else:
        line = ran(result)
        line["tokens"] += tokens
    if "sent" not in line:
        if result.error is not None:
            return _failed(run, result.error, line["tokens"])
        from tenner.schedule import ack

        text = ack.deliver(result.text or "", heartbeat.config.get("heartbeat.ack_max_chars"))
        try:
            line["sent"] = await _deliver(heartbeat, text) if text else "no"
        except OSError as error:
            return _failed(run, "the answer could not be sent (%s)" % error, line["tokens"])
    run.end(line)
    run.has_run()
    heartbeat.put_backs = 0
    log(
        "heartbeat",
        "ran: %s (%d tokens)" % (line.get("why") or SENT[line["sent"]], line["tokens"]),
    )
    _recovered(run)
    return "run", SENT[line["sent"]]


def _wait(run, reason, tokens):
    run.take_back(reason, 0, tokens)
    run.hold_off(reason)
    return "retry", reason


def _failed(run, sentence, tokens):
    heartbeat = run.box
    saved = heartbeat.saved
    failures = saved["f"] = saved.get("f", 0) + 1
    wait_s = _BACK_OFF_S[min(failures, len(_BACK_OFF_S)) - 1]
    heartbeat.not_before_s = run.time()[1] + wait_s
    heartbeat.waits[0] = sentence
    log("heartbeat", "failed (%d in a row): %s; again in %d s" % (failures, sentence, wait_s))
    if failures >= _TELL_AFTER and not saved.get("n"):
        heartbeat.notify(
            "The heartbeat has failed %d times in a row: %s I go on trying, and will say when it "
            "works again." % (failures, sentence.rstrip(".") + ".")
        )
        saved["n"] = 1
    run.take_back(sentence, 1, tokens)
    run.save()
    return "retry", "failed: %s" % sentence


def _recovered(run):
    saved = run.box.saved
    failures = saved.get("f")
    if failures:
        sentence = "The heartbeat works again, after %d failures." % failures
        log("heartbeat", sentence)
        if saved.get("n"):
            run.box.notify(sentence)
        saved["f"] = saved["n"] = run.box.not_before_s = 0
        run.save()
