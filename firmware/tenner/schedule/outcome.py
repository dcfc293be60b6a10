# tenner schedule.outcome: settles what a turn came to: delivers the answer, tries again, tells of failures.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log

_BACK_OFF_S = (30, 60, 300, 900, 3600)
_TELL_AFTER = 3


async def settle(box, tasks, result, tokens=0, to=None):
    """
    Write down how a run has ended, and deliver its answer. `result`: of the turn, a text that needed
    none, None when the model decided to skip, or what was raised. `to`: a job's payload. (action, reason)
    """
    from tenner.agent.lane import LaneBusy, PutBack

    line = {"r": "ran", "tokens": tokens, "sent": "no"}
    error = text = None
    if isinstance(result, LaneBusy):
        return _wait(box, tasks, "lane busy (%s)" % result.args[0], tokens)
    if isinstance(result, PutBack):
        box.put_backs += 1
        tokens += result.args[0].tokens() if result.args else 0
        return _wait(box, tasks, "put back (a person came first)", tokens)
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
        else:
            from tenner.schedule.ack import deliver

            at_most = 0 if to else box.app.config.get("heartbeat.ack_max_chars")
            text = deliver(result.text or "", at_most)
    if text:
        try:
            line["sent"] = await _deliver(box, text, to)
        except OSError as reason:
            error = "the answer could not be sent (%s)" % reason
        # What delivers makes room for what writes it down.
        await box.app.rest()
    from tenner.schedule.book import SENT, Book

    tokens = line["tokens"]
    book = Book(box)
    if error:
        if to:
            from tenner.schedule.cronwake import failed

            return failed(book, tasks, error, tokens)
        if text is result:
            # An alert that needs no model.
            book.take_back(tasks, error, 1)
            return book.retry(tasks, error)
        return _failed(book, tasks, error, tokens)
    book.end(tasks, line)
    sent = SENT[line["sent"]]
    name = tasks[0].key + " ran" if to else "ran"
    log(box.area, "%s: %s (%d tokens)" % (name, line.get("why") or sent, tokens))
    if box.saved.get("f") and text is not result:
        _recovered(book)
    return "run", sent


def _wait(box, tasks, reason, tokens):
    from tenner.schedule.book import Book

    book = Book(box)
    book.take_back(tasks, reason, 0, tokens)
    return book.retry(tasks, reason)


async def _deliver(box, text, to):
    """Give a text to a person: "yes", "queued", or "repeat" when the owner was told before."""
    # Garbage of the steps before would be in the way of what delivers.
    await box.app.let_go()
    if to:
        return await box.app.part("scheduled").deliver_job(text, to.get("channel"), to.get("chat"))
    from tenner.schedule.dedup import deliver

    return await deliver(box, text)


def _failed(book, tasks, sentence, tokens):
    box = book.box
    saved = box.saved
    failures = saved["f"] = saved.get("f", 0) + 1
    wait_s = _BACK_OFF_S[min(failures, len(_BACK_OFF_S)) - 1]
    box.not_before_s = book.mono_s + wait_s
    box.waits[0] = sentence
    log("heartbeat", "failed (%d in a row): %s; again in %d s" % (failures, sentence, wait_s))
    if failures >= _TELL_AFTER and not saved.get("n"):
        saved["n"] = 1
        box.app.agent.notify(
            "The heartbeat has failed %d times in a row: %s I go on trying, and will say when it "
            "works again." % (failures, sentence.rstrip(".") + ".")
        )
    book.take_back(tasks, sentence, 1, tokens)
    return "retry", "failed: %s" % sentence


def _recovered(book):
    box = book.box
    saved = box.saved
    sentence = "The heartbeat works again, after %d failures." % saved["f"]
    log("heartbeat", sentence)
    if saved.get("n"):
        box.app.agent.notify(sentence)
    saved["f"] = saved["n"] = box.not_before_s = 0
    book.save()
