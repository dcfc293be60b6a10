# tenner schedule.cronwatch: takes in what changes round the jobs: boots, CRON.json, the clock.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import jobs
from tenner.schedule.cronbook import MAX_FAILURES, CronBook
from tenner.schedule.job import Job

_JUMP_S = const(30)
_KEEP_S = const(86400)
#: Jobs kept in memory, about 200 bytes each on a board.
MAX_JOBS = 64


class CronWatch(CronBook):
    """Keeps the list of jobs up to date."""

    def __init__(self, cron):
        CronBook.__init__(self, cron)
        self.zone = cron.part("zone")

    def wake(self):
        """Take in what has changed since the last wake."""
        if self.cron.known is None:
            self._boot()
        self._refresh()
        self._watch_clock()

    def _boot(self):
        from tenner.store import files

        files.make_dirs(self.folder)
        self.cron.known = {}
        path = self.folder + "/cron.json"
        if files.exists(path):
            from tenner.store import jsontext

            try:
                self.cron.known = jsontext.loads(files.read_text(path))
            except ValueError:
                name = files.set_aside(path)
                self.cron.notify(
                    "The state of the jobs could not be read (put aside as %s)." % name
                )
        now, mono_s, _ = self.time()
        self.cron.offset_s = now - mono_s
        run = self.run_note().load()
        if run.get("id"):
            self._interrupted(run, now, mono_s)

    def _interrupted(self, run, now, mono_s):
        """A run was noted and never closed: the power failed, or the board was reset."""
        for line in self.runs.tail(4):
            if line.get("job") == run["id"] and line["t"] >= run["t"]:
                self.run_note().save({})
                return
        log("cron", "%s was interrupted by a restart" % run["id"])
        line = {"t": run["t"], "due": run["due"], "job": run["id"], "r": "interrupted"}
        entry = self.cron.known.get(run["id"])
        if entry:
            # A job that brings the board down must not do so for ever.
            entry[1] += 1
            entry[4] = run["due"]
        self.runs.add(line, mono_s)
        self.run_note().save({})

    def _refresh(self):
        signature = self._file_signature()
        if signature == self.cron.signature:
            return
        self.cron.signature = signature
        old = {}
        for job in self.cron.jobs:
            old[job.id] = job
        self.cron.jobs = []
        problems = []
        now, mono_s, _ = self.time()
        try:
            for index, entry in jobs.read(self.path):
                wrong = jobs.check(entry, self.zone)
                if not wrong and any(job.id == entry["id"] for job in self.cron.jobs):
                    wrong = 'the id "%s" stands twice' % entry["id"]
                if not wrong and len(self.cron.jobs) >= MAX_JOBS:
                    wrong = "over %d jobs" % MAX_JOBS
                if wrong:
                    problems.append("CRON.json entry %d: %s." % (index + 1, wrong))
                else:
                    self._adopt(Job(entry, self.zone), old, now, mono_s)
        except ValueError as error:
            # Those behind may be back when the file is put right; they must not run again then.
            for job_id in old:
                if all(job.id != job_id for job in self.cron.jobs):
                    self.cron.known[job_id] = old[job_id].state()
            problems.append(
                "CRON.json cannot be read to its end, %s. The %d jobs before that run."
                % (error, len(self.cron.jobs))
            )
        else:
            self.cron.known = {}
        self._report(problems)
        log("cron", "CRON.json: %d jobs" % len(self.cron.jobs))
        if self.cron.was_trusted:
            self.save()

    def _file_signature(self):
        import os

        try:
            stat = os.stat(self.path)
        except OSError:
            return None
        if stat[6] > 4096:
            return (stat[6], stat[8], 0)
        from binascii import crc32

        with open(self.path, "rb") as f:
            return (stat[6], stat[8], crc32(f.read()))

    def _adopt(self, job, old, now, mono_s):
        """A job goes on where it was; one that is new or has another schedule starts here."""
        before = old.get(job.id)
        job.base_s = mono_s if old else 0
        self.cron.jobs.append(job)
        if before is not None:
            same = (before.kind, before.when, before.anchor) == (job.kind, job.when, job.anchor)
            if same and before.enabled == job.enabled:
                job.last, job.off, job.why = before.last, before.off, before.why
                job.failures, job.due, job.waits = before.failures, before.due, before.waits
                job.base_s, job.ran = before.base_s, before.ran
                return
        else:
            entry = self.cron.known.pop(job.id, None)
            if isinstance(entry, list) and len(entry) == 5:
                job.last, job.failures, job.off, job.why = entry[:4]
                if entry[4] and job.missed == "skip":
                    job.last = max(job.last, entry[4])
                elif entry[4] and job.failures >= MAX_FAILURES:
                    self.switch_off(job, "interrupted %d times" % job.failures)
                    self.cron.notify('The job "%s" is off: %s.' % (job.id, job.why))
                return
        if self.cron.was_trusted:
            job.seat(now, mono_s)

    def _report(self, problems):
        from binascii import crc32

        text = "\n".join(problems[:5])
        told = crc32(text.encode()) & 0xFFFFFFFF
        if problems and told != self.cron.told:
            self.cron.notify(text)
        self.cron.told = told

    def _watch_clock(self):
        now, mono_s, trusted = self.time()
        jump_s = now - mono_s - self.cron.offset_s
        self.cron.offset_s = now - mono_s
        became = trusted and not self.cron.was_trusted
        self.cron.was_trusted = trusted
        if became or (trusted and abs(jump_s) > _JUMP_S):
            # What fell due before this moment was missed; it is caught up once at most.
            self.cron.start_s = now
            for job in self.cron.jobs:
                period = job.when if job.kind == "every" else 86400
                leaped = jump_s > 0 and not became and job.kind == "every"
                if job.ran or job.last <= 0 or job.last > now + period or leaped:
                    job.seat(now, mono_s)
            self.save()
        if trusted:
            self._drop_done(now)

    def _drop_done(self, now):
        """One-shot jobs that are done stay in the list for a day."""
        for job in self.cron.jobs:
            if job.off and job.kind == "at" and now - job.off > _KEEP_S:
                from tenner.schedule import jobedit

                try:
                    jobedit.take_out(self.path, job.id)
                except ValueError as error:
                    # It stays for another day; the owner has been told of the entry that is wrong.
                    log("cron", "%s is not taken out: %s" % (job.id, error))
                    job.off = now
                self._refresh()
                return

    def start_anew(self, job_id):
        """Forget why the job was off, and count from now."""
        self.wake()
        now, mono_s, trusted = self.time()
        self.cron.not_before_s.pop(job_id, None)
        for job in self.cron.jobs:
            if job.id == job_id:
                job.failures = job.off = 0
                job.why = ""
                if trusted:
                    job.seat(now, mono_s)
        self.save()
        self.cron.poke()
