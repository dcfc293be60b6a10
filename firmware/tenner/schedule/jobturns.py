# tenner schedule.jobturns: runs one job of CRON.json and says what came of it.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.lane import LaneBusy, PutBack


async def run(cron, job):
    """Run the job now, or let it wait for budget, lane or network."""
    book = _book(cron)
    entry = _entry_of(cron, job.key)
    if entry is None or (not job.notify and _stopped(cron, book, job)):
        return
    begun = book.begin([job])
    # Nothing but this may be alive while a turn runs.
    book = None
    line = {"r": "ran", "tokens": 0}
    waits = failed = None
    try:
        failed = await _run(cron, job, entry, line)
    except LaneBusy as busy:
        waits = "lane busy (%s)" % busy.args[0]
    except PutBack:
        waits = "put back (a person came first)"
    except Exception as error:
        # Also what only a bug raises: a failed job must never pass for a quiet one.
        failed = str(error) or repr(error)
    book = _book(cron, begun)
    if waits:
        book.take_back(waits)
        book.wait(job, waits)
    elif failed:
        book.failed(job, failed, line["tokens"])
    else:
        book.done(job, line)


async def _run(cron, job, entry, line):
    """Fill the run's line; the sentence that says what has failed, or None."""
    payload = entry["payload"]
    text = payload["message"]
    if not job.notify:
        zone = cron.part("zone")
        if job.tz:
            from tenner.schedule.zone import Zone

            zone = Zone(job.tz)
        time_text = zone.tell(cron.clock.now(), cron.clock.trusted)

        def pieces():
            yield 'The job "%s" is due:\n' % (entry.get("name") or job.key)
            yield payload["message"]
            yield "\n\nTime: %s\n" % time_text

        result = await cron.run_turn(pieces, kind="cron", model=payload.get("model"))
        from tenner.schedule import ack
        from tenner.schedule.book import ran

        line.update(ran(result))
        if "sent" in line or result.error is not None:
            return None if "sent" in line else result.error
        text = ack.deliver(result.text or "")
    line["sent"] = "no"
    if text:
        sent = await cron.deliver(text, payload.get("channel"), payload.get("chat"))
        line["sent"] = "yes" if sent else "queued"
    return None


def _book(cron, begun=None):
    from tenner.schedule.cronbook import CronBook

    return CronBook(cron, begun)


def _entry_of(cron, key):
    """The job's entry as it stands in the file, or None when that cannot be read any more."""
    from tenner.schedule import jobs

    try:
        for _, entry in jobs.read(cron.file):
            if jobs.id_of(entry) == key:
                return entry
    except (ValueError, OSError):
        # Looked at again at the next wake, and reported.
        cron.signature = None
    return None


def _stopped(cron, book, job):
    """Whether the job cannot run now; what follows from that is done."""
    budget = cron.part("budget")
    left = budget.left("cron")
    busy = cron.lane.busy()
    online = cron.online()
    if left is not None and left <= 0:
        book.pass_over(job, "daily token budget spent (%d)" % budget.per_day)
    elif busy:
        book.wait(job, "lane busy (%s)" % busy)
    elif online is not True:
        book.wait(job, "offline (%s)" % (online or "network"))
    else:
        return False
    return True
