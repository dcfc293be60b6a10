# tenner schedule.cronwake: one look at the jobs: which are due, and when the next one will be.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.schedule import jobs
from tenner.schedule.cronwatch import CronWatch


def due(cron):
    """The jobs to run now; those that do not wait for a run end here."""
    return _Wake(cron).due()


def plan(cron):
    """Work out when to wake again."""
    cron.wake_at_s = _Wake(cron).next()


def entry_of(cron, job_id):
    """The job's entry as it stands in the file, or None when that cannot be read any more."""
    try:
        for _, entry in jobs.read(cron.port.path("workspace/CRON.json")):
            if entry.get("id") == job_id:
                return entry
    except (ValueError, OSError):
        # Looked at again at the next wake, and reported.
        cron.signature = None
    return None


class _Wake(CronWatch):
    def due(self):
        cron = self.cron
        self.wake()
        now, mono_s, trusted = self.time()
        found = []
        for job in cron.jobs:
            at = job.due_at(now, mono_s, trusted, self.zone)
            if at is None or at > now:
                continue
            if job.waits and trusted:
                newer = job.overtaken(at, now, self.zone)
                if newer is not None:
                    self.write(job, {"r": "skipped", "why": job.waits}, now, mono_s)
                    at = newer
            job.due = at
            if trusted and job.missed == "skip" and at < cron.start_s:
                self._pass_over(job, now, mono_s)
            elif cron.not_before_s.get(job.id, 0) <= mono_s:
                found.append(job)
        return [] if mono_s < cron.retry_at_s else found

    def _pass_over(self, job, now, mono_s):
        """It fell due while the board was off, and is not to be caught up."""
        self.end(job, {"r": "skipped", "why": "missed while off"}, now, mono_s)
        if job.kind == "at":
            self.switch_off(job, "missed while off")
            self.cron.notify(
                'The job "%s" was due at %s, while I was off; it was not run.'
                % (job.id, self.zone.short(job.due))
            )

    def next(self):
        """Monotonic second at which a job is due, None when none ever is."""
        cron = self.cron
        now, mono_s, trusted = self.time()
        best = None
        for job in cron.jobs:
            at = job.due_at(now, mono_s, trusted, self.zone)
            if at is None:
                continue
            left = at - now
            if left <= 0:
                left = max(cron.retry_at_s, cron.not_before_s.get(job.id, 0)) - mono_s
            left = max(left, 0)
            if best is None or left < best:
                best = left
        return None if best is None else mono_s + best
