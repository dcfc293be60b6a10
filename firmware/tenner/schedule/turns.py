# tenner schedule.turns: runs what the heartbeat has decided to run, and says what came of it.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.lane import LaneBusy, PutBack
from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import ack, prompt

_BACK_OFF_S = (30, 60, 300, 900, 3600)
_TELL_AFTER = const(3)


class Run:
    """Some tasks run together: noted before, one line each after."""

    def __init__(self, heartbeat, tasks):
        now, mono_s, trusted = heartbeat.time()
        self.heartbeat = heartbeat
        self.start = now
        self.trusted = trusted
        self.begun = [task.begin(now, mono_s, trusted) for task in tasks]
        if trusted:
            heartbeat.ledger.begin(now, heartbeat.tasks)

    def end(self, line):
        """The occurrences are over; the first line carries the cost, the others say with whom."""
        heartbeat = self.heartbeat
        first = None
        for task, due, pending, *_ in self.begun:
            if task.gate and task.opened is not None:
                task.gate.fire(task.opened)
                task.opened = None
            if first is None:
                first = task
                entry = dict(line)
                if pending:
                    entry["tokens"] = entry.get("tokens", 0) + pending[3]
            else:
                entry = {"r": line["r"], "with": heartbeat.name(first)}
                if "sent" in line:
                    entry["sent"] = line["sent"]
            heartbeat.write(task, due, entry, self.start, self.trusted)
        if self.trusted:
            heartbeat.ledger.end(self.start)
            if any(before[0].gate for before in self.begun):
                heartbeat.ledger.save_tasks(heartbeat.tasks)

    def take_back(self, reason, failed=0, tokens=0):
        """Nothing came of it: the occurrences wait, unless newer ones have come meanwhile."""
        heartbeat = self.heartbeat
        for before in self.begun:
            task, due, pending = before[:3]
            tries, spent = (pending[2], pending[3]) if pending else (0, 0)
            waiting = [due, reason, tries + failed, spent + tokens]
            tokens = 0
            if task.pending or task.asked:
                heartbeat.close(task, waiting, self.start, self.trusted)
            else:
                task.take_back(before)
                task.pending = waiting
        if self.trusted:
            heartbeat.ledger.end(self.start)
            heartbeat.ledger.save_tasks(heartbeat.tasks)


# --- tasks that need no model


async def run_alerts(heartbeat, tasks):
    """Send the texts of `notify` tasks. (action, reason)"""
    answer = ("run", "nothing sent")
    for task in tasks:
        run = Run(heartbeat, [task])
        known = {}
        if task.opened is not None:
            known["%s.%s" % (task.gate.sensor, task.gate.value)] = task.opened
        text = prompt.text_of(heartbeat.stores, task.line)
        text = await heartbeat.senses.fill(text or "", known)
        try:
            sent = await _deliver(heartbeat, text)
        except OSError as error:
            run.take_back("not sent (%s)" % error, 1)
            heartbeat.hold_off("not sent (%s)" % error, True)
            answer = heartbeat.say("retry", "not sent (%s)" % error)
            continue
        run.end({"r": "ran", "tokens": 0, "sent": sent})
        log("heartbeat", "line %d: %s: %s" % (task.line, _SENT[sent], text))
        heartbeat.has_run(True)
        answer = ("run", _SENT[sent])
    return answer


_SENT = {"yes": "sent", "queued": "queued", "repeat": "said before", "no": "nothing to say"}


async def _deliver(heartbeat, text):
    """Give a text to the owner unless it was said before: "yes", "queued" or "repeat"."""
    if heartbeat.repeats(text):
        return "repeat"
    if await heartbeat.deliver(text):
        heartbeat.confirm(text)
        return "yes"
    heartbeat.alerts().waiting(text)
    return "queued"


# --- tasks that need a model


async def run_groups(heartbeat, tasks):
    """Run tasks by a model, those of one model together. (action, reason) of the last."""
    models = []
    for task in tasks:
        if task.model not in models:
            models.append(task.model)
    answer = None
    for model in models:
        group = [task for task in tasks if task.model == model]
        answer = await _run_group(heartbeat, group, model)
        if answer[0] != "run":
            for task in tasks:
                # The groups behind this one have not begun.
                if models.index(task.model) > models.index(model) and not task.asked:
                    heartbeat.hold([task], answer[1])
            break
    return answer


async def _run_group(heartbeat, tasks, model):
    run = Run(heartbeat, tasks)
    tokens = 0
    try:
        only = None
        if heartbeat.mode == "decide" and heartbeat.ask is not None:
            reply = await heartbeat.ask(_prompt(heartbeat, tasks, None, True), heartbeat.model)
            tokens = reply.tokens_in + reply.tokens_out
            only = _choice(heartbeat, tasks, reply)
            if only == []:
                log("heartbeat", "the model decided to skip (%d tokens)" % tokens)
                run.end({"r": "ran", "why": "decided to skip", "tokens": tokens, "sent": "no"})
                heartbeat.has_run()
                _recovered(heartbeat)
                return "run", "nothing to say"
        else:
            model = model or heartbeat.model
        result = await heartbeat.run_turn(
            _prompt(heartbeat, tasks, only), kind="heartbeat", model=model
        )
    except LaneBusy as busy:
        reason = "lane busy (%s)" % busy.args[0]
        run.take_back(reason, 0, tokens)
        heartbeat.hold_off(reason)
        return heartbeat.say("retry", reason)
    except PutBack as back:
        tokens += back.args[0].tokens() if back.args else 0
        log("heartbeat", "put back: a person came first (%d tokens spent)" % tokens)
        run.take_back("put back (a person came first)", 0, tokens)
        heartbeat.put_back()
        return "retry", "put back"
    except Exception as error:
        # Also what only a bug raises: a failed turn must never pass for a quiet one.
        return _failed(heartbeat, run, str(error) or repr(error), tokens)
    tokens += result.tokens()
    line = {"r": "ran", "tokens": tokens, "ms": result.ms}
    if result.estimated:
        line["est"] = True
    if result.interrupted == "stop":
        line["why"] = "stopped by the owner"
        line["sent"] = "no"
    elif result.error is not None:
        return _failed(heartbeat, run, result.error, tokens)
    else:
        text = ack.deliver(result.text or "", heartbeat.ack_max_chars)
        try:
            line["sent"] = await _deliver(heartbeat, text) if text else "no"
        except OSError as error:
            return _failed(heartbeat, run, "the answer could not be sent (%s)" % error, tokens)
    run.end(line)
    said = _SENT[line["sent"]]
    log("heartbeat", "ran: %s (%d tokens, %d ms)" % (said, tokens, result.ms))
    heartbeat.has_run()
    _recovered(heartbeat)
    return "run", said


def _prompt(heartbeat, tasks, only, numbered=False):
    """A function that gives the prompt's pieces afresh, the same each time."""
    now, _, trusted = heartbeat.time()
    time_text = prompt.tell_time(heartbeat.zone, now, trusted)
    plain = any(task.key == 0 for task in tasks)
    lines = [task.line for task in tasks if task.key]
    opened = [(task.gate, task.opened) for task in tasks if task.opened is not None]
    return lambda: prompt.pieces(
        heartbeat.stores,
        plain,
        lines,
        opened,
        heartbeat.sensors.unit,
        time_text,
        only,
        numbered,
    )


def _choice(heartbeat, tasks, reply):
    """[] to skip, the lines to run, or None for all of them."""
    from tenner.store import jsontext

    for call in reply.calls:
        if call.name == "heartbeat":
            break
    else:
        return []
    try:
        arguments = jsontext.loads(call.arguments_text)
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict) or arguments.get("action") != "run":
        return []
    numbers = arguments.get("tasks")
    plain = any(task.key == 0 for task in tasks)
    lines = [task.line for task in tasks if task.key]
    if not isinstance(numbers, list):
        return None
    # Numbers that mean nothing are no reason to drop what should run.
    return prompt.chosen(heartbeat.stores, plain, lines, numbers) or None


# --- failures


def _failed(heartbeat, run, sentence, tokens):
    state = heartbeat.ledger.state
    failures = state["f"] = state.get("f", 0) + 1
    wait_s = _BACK_OFF_S[min(failures, len(_BACK_OFF_S)) - 1]
    heartbeat.fail_for(wait_s, sentence)
    run.take_back(sentence, 1, tokens)
    log("heartbeat", "failed (%d in a row): %s; again in %d s" % (failures, sentence, wait_s))
    if failures >= _TELL_AFTER and not state.get("n"):
        heartbeat.notify(
            "The heartbeat has failed %d times in a row: %s I go on trying, and will say when it "
            "works again." % (failures, sentence if sentence[-1:] == "." else sentence + ".")
        )
        state["n"] = 1
    heartbeat.ledger.save()
    return "retry", "failed: %s" % sentence


def _recovered(heartbeat):
    state = heartbeat.ledger.state
    if not state.get("f"):
        return
    failures = state["f"]
    state["f"] = 0
    heartbeat.fail_for(0)
    log("heartbeat", "works again after %d failures" % failures)
    if state.get("n"):
        state["n"] = 0
        heartbeat.notify("The heartbeat works again, after %d failures." % failures)
    heartbeat.ledger.save()
