# tenner schedule.cronbook: what a wake and a run both do to the records of the jobs.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule.runs import Runs
from tenner.schedule.stores import Stores

_MAX_RETRY_S = const(30)
_BACK_OFF_S = (30, 60, 300, 900, 3600)
#: Failures in a row after which a job is switched off.
MAX_FAILURES = 5


class CronBook:
    """Lives for one wake or one run; all that lasts is in the service `cron`."""

    def __init__(self, cron):
        self.cron = cron
        self.path = cron.port.path("workspace/CRON.json")
        self.folder = cron.port.path("state")
        self.runs = Runs(Stores(cron.port), cron)

    def run_note(self):
        """Where the run under way is noted."""
        from tenner.store.slots import TwoSlots

        return TwoSlots(self.folder + "/cronrun")

    def time(self):
        """(unix time, seconds of the monotonic clock, whether the first can be trusted)."""
        clock = self.cron.clock
        return clock.now(), clock.mono_ms() // 1000, clock.trusted

    def wait(self, job, reason):
        """The lane is taken or the network away: try again soon."""
        cron = self.cron
        cron.retry_s = min(cron.retry_s * 2, _MAX_RETRY_S) if cron.retry_s else 1
        cron.retry_at_s = self.time()[1] + cron.retry_s
        job.waits = reason
        if cron.waits != reason:
            cron.waits = reason
            log("cron", "%s waits: %s" % (job.id, reason))

    def begin(self, job):
        """Note the run before it starts."""
        now = self.time()[0]
        self.run_note().save({"id": job.id, "due": job.due, "t": now})
        self.cron.waits = None
        self.cron.retry_s = 0
        log("cron", "%s starts" % job.id)

    def skip(self, job, reason):
        """This occurrence is not run."""
        now, mono_s, _ = self.time()
        log("cron", "%s skipped: %s" % (job.id, reason))
        self.end(job, {"r": "skipped", "why": reason}, now, mono_s)
        if job.kind == "at":
            self.switch_off(job, "skipped: " + reason)
            self.cron.notify('The job "%s" was not run: %s.' % (job.id, reason))

    def put_back(self, job, reason):
        """Nothing came of the run; it is due as before."""
        self.run_note().save({})
        self.wait(job, reason)

    def done(self, job, line):
        """The run has ended well."""
        now, mono_s, _ = self.time()
        job.failures = 0
        self.end(job, line, now, mono_s)
        if job.kind == "at":
            self.switch_off(job, "done")
        self.run_note().save({})
        log("cron", "%s ran (%d tokens)" % (job.id, line.get("tokens", 0)))

    def failed(self, job, sentence, tokens):
        """The run has failed; the fifth time in a row the job is switched off."""
        now, mono_s, _ = self.time()
        job.failures += 1
        log("cron", "%s failed (%d in a row): %s" % (job.id, job.failures, sentence))
        if job.kind == "at" and job.failures < MAX_FAILURES:
            # It has no next time: this one is tried again.
            self.cron.not_before_s[job.id] = mono_s + _BACK_OFF_S[job.failures - 1]
        else:
            self.end(job, {"r": "failed", "why": sentence, "tokens": tokens}, now, mono_s)
        if job.failures >= MAX_FAILURES:
            self.switch_off(job, "failed %d times: %s" % (job.failures, sentence))
            self.cron.notify(
                'The job "%s" has failed %d times in a row and is off now: %s '
                "`/cron` shows the jobs; ask me to enable it again."
                % (job.id, job.failures, sentence if sentence[-1:] == "." else sentence + ".")
            )
        self.save()
        self.run_note().save({})

    def end(self, job, line, now, mono_s):
        """One line for the occurrence at hand, which is over."""
        self.write(job, line, now, mono_s)
        job.ran_at(now, mono_s, self.cron.clock.trusted)
        self.save()

    def write(self, job, line, now, mono_s):
        entry = {"t": now, "due": job.due, "job": job.id}
        entry.update(line)
        self.runs.add(entry, mono_s)

    def switch_off(self, job, why):
        job.off = max(self.cron.clock.now(), 1)
        job.why = why
        self.save()

    def save(self):
        from tenner.store import files

        files.write_atomic(self.folder + "/cron.json", self._state_pieces())

    def _state_pieces(self):
        import json

        comma = "{"
        for job in self.cron.jobs:
            yield "%s%s:%s" % (comma, json.dumps(job.id), json.dumps(job.state()))
            comma = ",\n"
        for job_id in self.cron.known or ():
            yield "%s%s:%s" % (comma, json.dumps(job_id), json.dumps(self.cron.known[job_id]))
            comma = ",\n"
        yield "}\n" if comma != "{" else "{}\n"
