# tenner schedule.jobturns: runs one job of CRON.json and says what came of it.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.lane import LaneBusy, PutBack


async def run(cron, job):
    """Run the job now, or let it wait for budget, lane or network."""
    entry = _begin(cron, job)
    if entry is None:
        return
    line = {"r": "ran", "tokens": 0}
    try:
        await _run(cron, job, entry, line)
    except LaneBusy as busy:
        _book(cron).put_back(job, "lane busy (%s)" % busy.args[0])
    except PutBack:
        _book(cron).put_back(job, "put back (a person came first)")
    except Exception as error:
        # Also what only a bug raises: a failed job must never pass for a quiet one.
        _book(cron).failed(job, str(error) or repr(error), line["tokens"])


async def _run(cron, job, entry, line):
    payload = entry["payload"]
    text = payload["message"]
    if payload["kind"] == "agent_turn":
        name = entry.get("name") or job.id
        time_text = _time_text(cron, job)
        result = await cron.run_turn(
            lambda: _pieces(name, text, time_text), kind="cron", model=payload.get("model")
        )
        line["tokens"] = result.tokens()
        line["ms"] = result.ms
        if result.estimated:
            line["est"] = True
        if result.interrupted == "stop":
            line["why"] = "stopped by the owner"
            return _book(cron).done(job, line)
        if result.error is not None:
            return _book(cron).failed(job, result.error, line["tokens"])
        from tenner.schedule import ack

        text = ack.deliver(result.text or "")
    line["sent"] = "no"
    if text:
        sent = await cron.deliver(text, payload.get("channel"), payload.get("chat"))
        line["sent"] = "yes" if sent else "queued"
    _book(cron).done(job, line)


def _book(cron):
    from tenner.schedule.cronbook import CronBook

    return CronBook(cron)


def _begin(cron, job):
    """The job's entry, after its run was noted; None when it cannot run now."""
    from tenner.schedule import cronwake

    entry = cronwake.entry_of(cron, job.id)
    if entry is None:
        return None
    book = _book(cron)
    if entry["payload"]["kind"] == "agent_turn" and _stopped(cron, book, job):
        return None
    book.begin(job)
    return entry


def _time_text(cron, job):
    zone = cron.part("zone")
    if job.tz is not None:
        from tenner.schedule.zone import Zone

        zone = Zone(job.tz)
    return zone.tell(cron.clock.now(), cron.clock.trusted)


def _stopped(cron, book, job):
    """Whether the job cannot run now; what follows from that is done."""
    budget = cron.part("budget")
    left = budget.left("cron")
    if left is not None and left <= 0:
        book.skip(job, "daily token budget spent (%d)" % budget.per_day)
        return True
    busy = cron.lane.busy()
    if busy:
        book.wait(job, "lane busy (%s)" % busy)
        return True
    online = cron.online()
    if online is not True:
        book.wait(job, "offline (%s)" % (online or "network"))
        return True
    return False


def _pieces(name, text, time_text):
    yield 'The job "%s" is due:\n' % name
    yield text
    yield "\n\nTime: %s\n" % time_text
