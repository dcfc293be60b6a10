# tenner schedule.cron_edit: lists and changes the jobs, for commands and the cron tool.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.schedule import cron_jobs, due
from tenner.schedule.cronexpr import Cron
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.reload import reload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.schedule.service import CronJobs

_SHOWN = const(3)  # times of a job that the owner is asked about


def lines(cron: "CronJobs") -> "Iterator[str]":
    """Yield one line for each job: its id, its time, its next run."""
    occurrences = _refreshed(cron)
    zone = occurrences.zone
    if not cron.tasks:
        yield "no jobs"
    for job in cron.tasks or ():
        due_s = occurrences.due_at(job)
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
        yield "%s (%s): %s" % (job.key, when, text)


def add(cron: "CronJobs", entry: dict) -> None:
    """Add an entry, in the place of one with the same id; ValueError names the mistake."""
    occurrences = _refreshed(cron)
    job = cron_jobs.job_of(entry, occurrences.zone)
    if job.at and occurrences.moment.trusted and job.at <= occurrences.moment.now:
        raise ValueError(
            "that time is over; it is %s now" % occurrences.zone.short(occurrences.moment.now)
        )
    cron_jobs.full([other for other in cron.tasks or () if other.key != job.key])
    cron_jobs.rewrite(cron.file, job.key, entry)
    _restart(cron, job.key)


def times(cron: "CronJobs", entry: dict) -> str:
    """Return in words when the job of an entry would run, with the next three times; ValueError if
    it is wrong."""
    zone = cron.app.get("zone")
    clock = cron.app.clock
    job = cron_jobs.job_of(entry, zone)
    if job.at:
        return "once, at " + zone.short(job.at)
    if job.every_s:
        return "every %d s" % job.every_s
    text = "cron %s" % job.cron
    if clock.trusted:
        at = clock.now()
        found = []
        for _ in range(_SHOWN):
            at = Cron(job.cron).next_after(at, zone)
            found.append(zone.short(at))
        text += ", next " + ", ".join(found)
    return text


def enable(cron: "CronJobs", key: str, enabled: bool | None = True) -> None:
    """Switch a job on, also after failures, or off; None removes it."""
    keys = [job.key for job in _refreshed(cron).service.tasks or ()]
    if key not in keys:
        raise ValueError('there is no job "%s"; jobs: %s' % (key, ", ".join(keys) or "none"))

    entry = cron_jobs.find(cron.file, key)
    if enabled is None:
        entry = None
    else:
        entry["enabled"] = enabled
    cron_jobs.rewrite(cron.file, key, entry)
    _restart(cron, key)


def _refreshed(cron):
    occurrences = Occurrences(cron)
    reload(occurrences)
    return occurrences


def _restart(cron, key):
    """Forget why a job was off, and count from now."""
    occurrences = _refreshed(cron)
    for job in cron.tasks or ():
        if job.key == key:
            job.failures = job.off_since = job.not_before_s = 0
            job.why = ""
            if occurrences.moment.trusted:
                due.start_timer(job, occurrences.moment)
    occurrences.save()
    cron.poke()
