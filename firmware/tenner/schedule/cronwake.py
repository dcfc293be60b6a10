# tenner schedule.cronwake: one look at the jobs: which are due.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import watch
from tenner.schedule.cronbook import CronBook

_KEEP_S = const(86400)


class CronWake(CronBook):
    """Lives for one wake, or for one change of the jobs."""

    def look(self):
        """Take in what has changed since the last wake."""
        watch.look(self)
        now, _, trusted = self.time()
        for job in self.box.tasks or ():
            # One-shot jobs that are done stay in the list for a day.
            if trusted and job.off and job.at and now - job.off > _KEEP_S:
                from tenner.schedule import jobs

                try:
                    jobs.rewrite(self.box.file, job.key, None)
                except ValueError as error:
                    # It stays for another day; the owner has been told of the entry that is wrong.
                    log("cron", "%s is not taken out: %s" % (job.key, error))
                    job.off = now
        watch.refresh(self)

    def collect(self):
        """The jobs to run now; those that do not wait for a run end here."""
        self.look()
        found = []
        for job in self.due():
            if job.skip and self.time()[2] and job.due < self.box.start_s:
                self.pass_over(job, "missed while off")
            elif not self.wait_of(job):
                found.append(job)
        return found

    def start_anew(self, key):
        """Forget why a job was off, and count from now."""
        from tenner.schedule.slots import seat

        self.look()
        now, mono_s, trusted = self.time()
        for job in self.box.tasks or ():
            if job.key == key:
                job.failures = job.off = job.not_before_s = 0
                job.why = ""
                if trusted:
                    seat(job, now, mono_s)
        self.save_tasks()
        self.box.poke()
