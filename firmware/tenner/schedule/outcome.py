# tenner schedule.outcome: notes a run before it starts, and says after it what came of it.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.schedule import tasks as times
from tenner.schedule.book import Book
from tenner.schedule.runs import name_of

_BACK_OFF_S = (30, 60, 300, 900, 3600)
_TELL_AFTER = 3
_SENT = {"yes": "sent", "queued": "queued", "repeat": "said before", "no": "nothing to say"}


class Run(Book):
    """
    Some tasks that run together, one line each. `begun` is what begin() gave: (start, whether the
    clock was trusted, what takes each task back).
    """

    def __init__(self, heartbeat, begun=None):
        Book.__init__(self, heartbeat)
        self._begun = begun

    def begin(self, tasks):
        """Note the run, then count the occurrences as run."""
        now, mono_s, trusted = self.time()
        self._begun = (now, trusted, [times.begin(task, now, mono_s, trusted) for task in tasks])
        if trusted:
            self.ledger.begin(now, self.heartbeat.tasks)
        return self._begun

    def end(self, line):
        """The occurrences are over; the first line carries the cost, the others say with whom."""
        start, trusted, begun = self._begun
        first = None
        gates = False
        for task, due, pending, *_ in begun:
            if task.gate:
                gates = True
                if task.opened is not None:
                    from tenner.schedule.gates import fire

                    fire(task.gate, task.opened)
                    task.opened = None
            if first is None:
                first = task
                entry = dict(line)
                if pending:
                    entry["tokens"] = entry.get("tokens", 0) + pending[3]
            else:
                entry = {"r": line["r"], "with": name_of(first.key)}
                if "sent" in line:
                    entry["sent"] = line["sent"]
            self.write(task, due, entry, start, trusted)
        if trusted:
            self.ledger.end(start)
            if gates:
                self.ledger.save_tasks(self.heartbeat.tasks)

    def take_back(self, reason, failed=0, tokens=0):
        """Nothing came of it: the occurrences wait, unless newer ones have come meanwhile."""
        start, trusted, begun = self._begun
        for before in begun:
            task, due, pending = before[:3]
            tries, spent = (pending[2], pending[3]) if pending else (0, 0)
            waiting = [due, reason, tries + failed, spent + tokens]
            tokens = 0
            if task.pending or task.asked:
                self.close(task, waiting, start, trusted)
            else:
                times.take_back(task, before)
                task.pending = waiting
        if trusted:
            self.ledger.end(start)
            self.ledger.save_tasks(self.heartbeat.tasks)

    async def deliver(self, text):
        """Give a text to the owner unless it was said before: "yes", "queued" or "repeat"."""
        heartbeat = self.heartbeat
        if heartbeat.repeats(text):
            return "repeat"
        if await heartbeat.deliver(text):
            heartbeat.confirm(text)
            return "yes"
        heartbeat.queued(text)
        return "queued"


# --- tasks that need no model


async def alerts(heartbeat, tasks):
    """Send the texts of `notify` tasks. (action, reason)"""
    from tenner.schedule import prompt
    from tenner.schedule.senses import Senses

    answer = ("run", "nothing sent")
    senses = Senses(heartbeat.part("sensors"), heartbeat.notify, heartbeat.failed)
    for task in tasks:
        run = Run(heartbeat)
        run.begin([task])
        known = {}
        if task.opened is not None:
            known["%s.%s" % (task.gate.sensor, task.gate.value)] = task.opened
        text = prompt.text_of(run.stores, task.line)
        text = await senses.fill(text or "", known)
        try:
            sent = await run.deliver(text)
        except OSError as error:
            reason = "not sent (%s)" % error
            run.take_back(reason, 1)
            run.hold_off(reason, True)
            answer = run.say("retry", reason)
            continue
        run.end({"r": "ran", "tokens": 0, "sent": sent})
        log("heartbeat", "line %d: %s: %s" % (task.line, _SENT[sent], text))
        run.has_run(True)
        answer = ("run", _SENT[sent])
    return answer


# --- what came of a model's turn


async def settle(run, how, what, tokens):
    """Write down how a turn has ended; deliver its answer. (action, reason)"""
    if how == "skipped":
        log("heartbeat", "the model decided to skip (%d tokens)" % tokens)
        return _end(run, {"r": "ran", "why": "decided to skip", "tokens": tokens, "sent": "no"})
    if how == "busy":
        reason = "lane busy (%s)" % what
        run.take_back(reason, 0, tokens)
        run.hold_off(reason)
        return run.say("retry", reason)
    if how == "put back":
        tokens += what.args[0].tokens() if what.args else 0
        log("heartbeat", "put back: a person came first (%d tokens spent)" % tokens)
        reason = "put back (a person came first)"
        run.take_back(reason, 0, tokens)
        run.heartbeat.put_backs += 1
        run.hold_off(reason)
        return "retry", reason
    if how == "failed":
        return _failed(run, str(what) or repr(what), tokens)
    return await _done(run, what, tokens)


async def _done(run, result, tokens):
    tokens += result.tokens()
    line = {"r": "ran", "tokens": tokens, "ms": result.ms}
    if result.estimated:
        line["est"] = True
    if result.interrupted == "stop":
        line["why"] = "stopped by the owner"
        line["sent"] = "no"
        return _end(run, line)
    if result.error is not None:
        return _failed(run, result.error, tokens)
    from tenner.schedule import ack

    text = ack.deliver(result.text or "", run.heartbeat.config.get("heartbeat.ack_max_chars"))
    try:
        line["sent"] = await run.deliver(text) if text else "no"
    except OSError as error:
        return _failed(run, "the answer could not be sent (%s)" % error, tokens)
    log("heartbeat", "ran: %s (%d tokens, %d ms)" % (_SENT[line["sent"]], tokens, result.ms))
    return _end(run, line)


def _end(run, line):
    run.end(line)
    run.has_run()
    _recovered(run)
    return "run", _SENT[line["sent"]]


def _failed(run, sentence, tokens):
    heartbeat = run.heartbeat
    saved = heartbeat.saved
    failures = saved["f"] = saved.get("f", 0) + 1
    wait_s = _BACK_OFF_S[min(failures, len(_BACK_OFF_S)) - 1]
    heartbeat.not_before_s = run.time()[1] + wait_s
    heartbeat.waits[0] = sentence
    run.take_back(sentence, 1, tokens)
    log("heartbeat", "failed (%d in a row): %s; again in %d s" % (failures, sentence, wait_s))
    if failures >= _TELL_AFTER and not saved.get("n"):
        heartbeat.notify(
            "The heartbeat has failed %d times in a row: %s I go on trying, and will say when it "
            "works again." % (failures, sentence if sentence[-1:] == "." else sentence + ".")
        )
        saved["n"] = 1
    run.ledger.save()
    return "retry", "failed: %s" % sentence


def _recovered(run):
    saved = run.heartbeat.saved
    failures = saved.get("f")
    if not failures:
        return
    saved["f"] = 0
    run.heartbeat.not_before_s = 0
    log("heartbeat", "works again after %d failures" % failures)
    if saved.get("n"):
        saved["n"] = 0
        run.heartbeat.notify("The heartbeat works again, after %d failures." % failures)
    run.ledger.save()
