# tenner schedule.jobedit: lists and changes the jobs, for commands and the cron tool.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.schedule import jobs
from tenner.schedule.cronwatch import MAX_JOBS, CronWatch
from tenner.schedule.job import Job
from tenner.schedule.zone import iso_local


def lines(cron):
    """Yield one line for each job: its id, its time, what is next."""
    watch = CronWatch(cron)
    watch.wake()
    now, mono_s, trusted = watch.time()
    if not cron.jobs:
        yield "no jobs"
    for job in cron.jobs:
        due = job.due_at(now, mono_s, trusted, watch.zone)
        if due is not None:
            text = "next %s" % _local(watch.zone, due)
        elif job.off:
            text = "off: " + job.why
        elif not job.enabled:
            text = "disabled"
        else:
            text = "waits for the clock to be set"
        if job.failures:
            text += ", failed %d times in a row" % job.failures
        if job.kind == "at":
            when = _local(watch.zone, job.when)
        else:
            when = "%d s" % job.when if job.kind == "every" else job.when
        yield "%s (%s %s): %s" % (job.id, job.kind, when, text)


def add(cron, entry):
    """Add an entry, in the place of one with the same id."""
    watch = CronWatch(cron)
    watch.wake()
    wrong = jobs.check(entry, watch.zone)
    if wrong:
        raise ValueError(wrong)
    if len(cron.jobs) >= MAX_JOBS:
        raise ValueError("there are %d jobs already; remove one first" % len(cron.jobs))
    now, _, trusted = watch.time()
    job = Job(entry, watch.zone)
    if job.kind == "at" and trusted and job.when <= now:
        raise ValueError("that time is over; it is %s now" % _local(watch.zone, now))
    jobs.rewrite(watch.path, lambda old: None if old.get("id") == job.id else old, entry)
    watch.start_anew(job.id)


def change(cron, job_id, edit):
    """Put `edit(entry)` in the place of a job's entry; None takes it out."""
    watch = CronWatch(cron)
    watch.wake()
    if not any(job.id == job_id for job in cron.jobs):
        known = ", ".join([job.id for job in cron.jobs]) or "none"
        raise ValueError('there is no job "%s"; jobs: %s' % (job_id, known))
    jobs.rewrite(watch.path, lambda entry: edit(entry) if entry.get("id") == job_id else entry)
    watch.start_anew(job_id)


def enable(cron, job_id, enabled):
    def edit(entry):
        entry["enabled"] = enabled
        return entry

    change(cron, job_id, edit)


def take_out(path, job_id):
    """Remove the entry of a job that is done."""
    jobs.rewrite(path, lambda entry: None if entry.get("id") == job_id else entry)


def _local(zone, utc):
    return iso_local(zone, utc)[:16].replace("T", " ")
