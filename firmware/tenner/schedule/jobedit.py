# tenner schedule.jobedit: lists and changes the jobs, for commands and the cron tool.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.schedule import jobs
from tenner.schedule.cronbook import CronBook
from tenner.schedule.slots import due_at


def lines(cron):
    """Yield one line for each job: its id, its time, what is next."""
    book = CronBook(cron)
    book.look()
    zone = book.zone
    if not cron.tasks:
        yield "no jobs"
    for job in cron.tasks or ():
        due = due_at(job, *book.time(), zone)
        if due is not None:
            text = "next " + zone.short(due)
        elif job.off:
            text = "off: " + job.why
        else:
            text = "waits for the clock to be set" if job.enabled else "disabled"
        if job.failures:
            text += ", failed %d times in a row" % job.failures
        when = "every %d s" % job.every_s
        if job.cron or job.at:
            when = "cron " + job.cron if job.cron else "at " + zone.short(job.at)
        yield "%s (%s): %s" % (job.key, when, text)


def add(cron, entry):
    """Add an entry, in the place of one with the same id."""
    book = CronBook(cron)
    book.look()
    job = jobs.job_of(entry, book.zone)
    now, _, trusted = book.time()
    if job.at and trusted and job.at <= now:
        raise ValueError("that time is over; it is %s now" % book.zone.short(now))
    jobs.full([other for other in cron.tasks or () if other.key != job.key])
    jobs.rewrite(cron.file, job.key, entry)
    book.start_anew(job.key)


def change(cron, key, enabled):
    """Set a job's "enabled"; None takes the job out."""
    book = CronBook(cron)
    book.look()
    keys = [job.key for job in cron.tasks or ()]
    if key not in keys:
        raise ValueError('there is no job "%s"; jobs: %s' % (key, ", ".join(keys) or "none"))

    def edit(entry):
        entry["enabled"] = enabled
        return entry

    jobs.rewrite(cron.file, key, None if enabled is None else edit)
    book.start_anew(key)
