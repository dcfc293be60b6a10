# tenner schedule.jobedit: lists and changes the jobs, for commands and the cron tool.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.schedule import jobs
from tenner.schedule.book import Book
from tenner.schedule.slots import seat
from tenner.schedule.watch import look


def lines(cron):
    """Yield one line for each job: its id, its time, what is next."""
    book = _look(cron)
    zone = book.zone
    if not cron.tasks:
        yield "no jobs"
    for job in cron.tasks or ():
        due = book.due_at(job)
        if due is not None:
            text = "next " + zone.short(due)
        elif job.off or 0 < job.at <= job.last:
            text = "off: " + (job.why or "done")
        else:
            text = "waits for the clock to be set" if job.enabled else "disabled"
        if job.failures:
            text += ", failed %d times in a row" % job.failures
        when = "every %d s" % job.every_s
        if job.cron or job.at:
            when = "cron " + job.cron if job.cron else "at " + zone.short(job.at)
        yield "%s (%s): %s" % (job.key, when, text)


def add(cron, entry):
    """Add an entry, in the place of one with the same id; ValueError says what is wrong with it."""
    book = _look(cron)
    job = jobs.job_of(entry, book.zone)
    if job.at and book.trusted and job.at <= book.now:
        raise ValueError("that time is over; it is %s now" % book.zone.short(book.now))
    jobs.full([other for other in cron.tasks or () if other.key != job.key])
    jobs.rewrite(cron.file, job.key, entry)
    _start_anew(cron, job.key)


def remove(cron, key):
    """Take a job out."""
    enable(cron, key, None)


def enable(cron, key, enabled=True):
    """Switch a job on, whatever switched it off, or off; None takes it out."""
    keys = [job.key for job in _look(cron).box.tasks or ()]
    if key not in keys:
        raise ValueError('there is no job "%s"; jobs: %s' % (key, ", ".join(keys) or "none"))

    entry = jobs.find(cron.file, key)
    if enabled is None:
        entry = None
    else:
        entry["enabled"] = enabled
    jobs.rewrite(cron.file, key, entry)
    _start_anew(cron, key)


def _look(cron):
    book = Book(cron)
    look(book)
    return book


def _start_anew(cron, key):
    """Forget why a job was off, and count from now."""
    book = _look(cron)
    for job in cron.tasks or ():
        if job.key == key:
            job.failures = job.off = job.not_before_s = 0
            job.why = ""
            if book.trusted:
                seat(job, book.now, book.mono_s)
    book.save()
    cron.poke()
