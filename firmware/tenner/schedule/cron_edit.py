# tenner schedule.cron_edit: lists and changes the jobs, for commands and the cron tool.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.schedule import cron_jobs, due
from tenner.schedule.cronexpr import Cron
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.reload import reload
from tenner.schedule.task import Moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.schedule.types import Service


_SHOWN = const(3)  # times of a job that the owner is asked about


def lines(cron: "Service") -> "Iterator[str]":
    """Yield one line for each job of the file: its id, its time, its next run."""
    zone = cron.app.get("zone")
    moment = Moment(cron.app.clock)
    keys = []
    try:
        for _, entry in cron_jobs.read(cron.file):
            try:
                job = cron_jobs.job_of(entry, zone)
            except (ValueError, OverflowError):
                continue  # the owner is told when the service reads it
            if job.key not in keys:
                keys.append(job.key)
                yield _line(cron, entry, job, moment, zone)
    except ValueError as error:
        yield cron_jobs.BROKEN % error


def _line(cron, entry, job, moment, zone):
    due.start_timer(job, moment)
    for known in cron.tasks or ():
        if cron_jobs.is_same(known, job):
            job.off_since, job.why, job.failures = known.off_since, known.why, known.failures
            if cron.was_trusted == moment.trusted:
                job = known
    due_s = due.due_at(job, moment, zone)
    if due_s is not None:
        text = "next " + zone.short(due_s)
    elif job.off_since or 0 < job.at <= job.last:
        text = "off: " + (job.why or "done")
    else:
        text = "waits for the clock to be set" if job.enabled else "disabled"
    if job.failures:
        text += ", failed %d times in a row" % job.failures
    when = "every %d s" % job.every_s
    if job.cron or job.at:
        when = "cron " + job.cron if job.cron else "at " + zone.short(job.at)
    if job.cron and job.tz:
        when += " in %s" % entry["schedule"]["tz"]
    return "%s (%s): %s" % (job.key, when, text)


def add(cron: "Service", entry: dict) -> str:
    """
    Add an entry, in the place of one with the same id, and return `times` of it; ValueError names
    the mistake. The service reads a new job when the memory is free.
    """
    app = cron.app
    job = cron_jobs.job_of(entry, app.get("zone"))
    if job.at and app.clock.trusted and job.at <= app.clock.now():
        raise ValueError(
            "that time is over; it is %s now" % app.get("zone").short(app.clock.now())
        )
    keys = cron_jobs.keys(cron.file)
    if job.key not in keys:
        cron_jobs.check_room(len(keys))
    cron_jobs.rewrite(cron.file, job.key, entry)
    if job.key in cron.saved or any(job.key == other.key for other in cron.tasks or ()):
        _restart(cron, job.key)
    cron.poke()
    return _when(cron, job)


def times(cron: "Service", entry: dict) -> str:
    """Return in words when the job of an entry would run, with the next three times; ValueError if
    it is wrong."""
    return _when(cron, cron_jobs.job_of(entry, cron.app.get("zone")))


def _when(cron, job):
    zone = cron.app.get("zone")
    clock = cron.app.clock
    if job.at:
        return "once, at " + zone.short(job.at)
    if job.every_s:
        return "every %d s" % job.every_s
    text = "cron " + job.cron
    if not clock.trusted:
        return text + ", once the clock is set"
    at = clock.now()
    found = []
    for _ in range(_SHOWN):
        at = Cron(job.cron).next_after(at, zone)
        found.append(zone.short(at))
    return text + ", next " + ", ".join(found)


def remove(cron: "Service", key: str) -> None:
    """Remove a job; ValueError for an unknown id."""
    _check(cron, key)
    cron_jobs.rewrite(cron.file, key, None)
    cron.poke()


def enable(cron: "Service", key: str, enabled: bool) -> None:
    """Switch a job on, also after failures, or off; ValueError for an unknown id."""
    _check(cron, key)
    entry = cron_jobs.find(cron.file, key)
    entry["enabled"] = enabled
    cron_jobs.rewrite(cron.file, key, entry)
    _restart(cron, key)
    cron.poke()


def _check(cron, key):
    keys = cron_jobs.keys(cron.file)
    if key not in keys:
        raise ValueError('there is no job "%s"; jobs: %s' % (key, ", ".join(keys) or "none"))


def _restart(cron, key):
    """Forget why a job was off, and count from now."""
    occurrences = Occurrences(cron)
    if key in cron.saved or all(key != job.key for job in cron.tasks or ()):
        reload(occurrences)
    for job in cron.tasks or ():
        if job.key == key:
            job.failures = job.off_since = job.not_before_s = 0
            job.why = ""
            if occurrences.moment.trusted:
                due.start_timer(job, occurrences.moment)
    occurrences.save()
