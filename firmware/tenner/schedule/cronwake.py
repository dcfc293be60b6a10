# tenner schedule.cronwake: one look at the jobs: which are due, and how a run of one ends.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import watch
from tenner.schedule.book import Book
from tenner.schedule.slots import zone_of

_BACK_OFF_S = (30, 60, 300, 900, 3600)
#: Failures in a row after which a job is switched off.
_MAX_FAILURES = const(5)
_KEEP_S = const(86400)


async def step(cron, forced=False, aside=False):
    """Collect the jobs that are due, then run them one after the other."""
    book = Book(cron)
    watch.look(book)
    for job in cron.tasks or ():
        if job.failures >= _MAX_FAILURES and not job.off:
            _switch_off(book, job, "been interrupted %d times" % job.failures)
        _tidy(book, job)
    watch.refresh(book)
    # All of them first: what one job takes must not move the times of the others.
    due = []
    for job in book.due():
        if job.skip and book.trusted and job.due < cron.start_s:
            _pass_over(book, job, "missed while off")
        elif book.wait_of(job):
            book.hold([job], cron.waits[job.notify])
        else:
            due.append(job)
    while due:
        job = due.pop(0)
        if job in cron.tasks:
            await _run(cron, job, due)
    Book(cron).close()


def _tidy(book, job):
    """One-shot jobs that are done stay in the list for a day."""
    if (
        not job.at
        or not book.trusted
        or not 0 <= job.at <= max(job.off, job.last) < book.now - _KEEP_S
    ):
        return
    from tenner.schedule import jobs

    try:
        jobs.rewrite(book.box.file, job.key, None)
    except ValueError as error:
        # It stays for another day; the owner has been told of the entry that is wrong.
        log("cron", "%s is not taken out: %s" % (job.key, error))
        job.off = book.now


async def _run(cron, job, behind):
    """Run the job now, or let it wait for budget, lane or network; those behind it wait meanwhile."""
    book = Book(cron)
    entry = _entry_of(cron, job.key)
    if entry is None:
        return
    payload = entry["payload"]
    result = payload["message"]
    if not job.notify:
        action, reason = book.decide([job], True, True, True)
        if action == "skip":
            _pass_over(book, job, reason)
            return
        if action != "run":
            book.retry([job], reason)
            return
        book.hold(behind, "lane busy (cron)")
        time_text = zone_of(job, book.zone).tell(book.now, book.trusted)
        name = entry.get("name") or job.key
        result = 'The job "%s" is due:\n%s\n\nTime: %s\n' % (name, result, time_text)
    book.begin([job])
    # Nothing but this may be alive while a turn runs.
    book = entry = None
    if not job.notify:
        cron.running_s = cron.app.clock.mono_s()
        try:
            model = payload.get("model")
            result = await cron.app.part("scheduled").run_turn(result, "cron", model)
        except Exception as error:
            # Also what only a bug raises: a failed job must never pass for a quiet one.
            result = error
        finally:
            cron.running_s = None
    from tenner.schedule.outcome import settle

    await settle(cron, [job], result, 0, payload)


def _entry_of(cron, key):
    """The job's entry as it stands in the file, or None when that cannot be read any more."""
    from tenner.schedule.jobs import find

    try:
        return find(cron.file, key)
    except (ValueError, OSError):
        # Looked at again at the next wake, and reported.
        cron.signature = None
        return None


def failed(book, jobs, sentence, tokens):
    """The run has failed; the fifth time in a row the job is switched off. (action, reason)"""
    job = jobs[0]
    job.failures += 1
    log("cron", "%s failed (%d in a row): %s" % (job.key, job.failures, sentence))
    if job.failures >= _MAX_FAILURES:
        _switch_off(book, job, "failed %d times: %s" % (job.failures, sentence))
    if job.at and not job.off:
        # It has no next time: this one is tried again.
        job.not_before_s = book.mono_s + _BACK_OFF_S[job.failures - 1]
        book.take_back(jobs, sentence, 1, tokens)
    else:
        book.end(jobs, {"r": "failed", "why": sentence, "tokens": tokens})
    return "retry", sentence


def _switch_off(book, job, why):
    job.off = max(book.now, 1)
    job.why = why
    book.box.stale = True
    book.box.app.agent.notify(
        'The job "%s" is off now, it has %s. `/cron` shows the jobs; ask me to enable it again.'
        % (job.key, why.rstrip("."))
    )


def _pass_over(book, job, reason):
    """This occurrence is not run."""
    log("cron", "%s skipped: %s" % (job.key, reason))
    if job.at:
        job.why = "skipped: " + reason
        book.box.app.agent.notify(
            'The job "%s", due at %s, was not run: %s.'
            % (job.key, book.zone.short(job.due), reason)
        )
    book.skip(job, reason)
    book.box.stale = True
