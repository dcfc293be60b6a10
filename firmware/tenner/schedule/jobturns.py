# tenner schedule.jobturns: runs one job of CRON.json and says what came of it.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.lane import LaneBusy, PutBack
from tenner.schedule import ack, prompt

_SENT = {True: "yes", False: "queued"}


async def run(cron, job, entry):
    """Run the job now, or let it wait for budget, lane or network."""
    payload = entry["payload"]
    is_turn = payload["kind"] == "agent_turn"
    if is_turn and _stopped(cron, job):
        return
    cron.begin(job)
    tokens = 0
    line = {"r": "ran", "tokens": 0}
    try:
        text = payload["message"]
        if is_turn:
            time_text = prompt.tell_time(job.zone, cron.clock.now(), cron.clock.trusted)
            name = entry.get("name") or job.id
            result = await cron.run_turn(
                lambda: _pieces(name, text, time_text), kind="cron", model=payload.get("model")
            )
            tokens = line["tokens"] = result.tokens()
            line["ms"] = result.ms
            if result.estimated:
                line["est"] = True
            if result.interrupted == "stop":
                line["why"] = "stopped by the owner"
                return cron.done(job, line)
            if result.error is not None:
                return cron.failed(job, result.error, tokens)
            text = ack.deliver(result.text or "")
        if text:
            sent = await cron.deliver(text, payload.get("channel"), payload.get("chat"))
            line["sent"] = _SENT[bool(sent)]
        else:
            line["sent"] = "no"
    except LaneBusy as busy:
        return cron.put_back(job, "lane busy (%s)" % busy.args[0])
    except PutBack:
        return cron.put_back(job, "put back (a person came first)")
    except Exception as error:
        # Also what only a bug raises: a failed job must never pass for a quiet one.
        return cron.failed(job, str(error) or repr(error), tokens)
    cron.done(job, line)


def _stopped(cron, job):
    """Whether the job cannot run now; what follows from that is done."""
    left = cron.budget.left("cron") if cron.budget is not None else None
    if left is not None and left <= 0:
        cron.skip(job, "daily token budget spent (%d)" % cron.budget.per_day)
        return True
    busy = cron.lane.busy()
    if busy:
        cron.wait(job, "lane busy (%s)" % busy)
        return True
    online = cron.online()
    if online is not True:
        cron.wait(job, "offline (%s)" % (online or "network"))
        return True
    return False


def _pieces(name, text, time_text):
    yield 'The job "%s" is due:\n' % name
    yield text
    yield "\n\nTime: %s\n" % time_text
