# tenner schedule.cron: runs the jobs of CRON.json at their times.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The definitions belong to the owner and the agent (workspace/CRON.json), the state to the board:

    state/cron.json     [last, failures, off since, why, tries] by job id
    state/cronrun.a/.b  the run under way: a restart finds it and calls it interrupted

Texts of jobs stay on flash until they run. A job has one line in the run log for each time it
fell due.
"""

import asyncio

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import alarm, jobs
from tenner.schedule.job import Job

_POLL_S = const(60)
_JUMP_S = const(30)
_MAX_RETRY_S = const(30)
_MAX_FAILURES = const(5)
#: Jobs kept in memory, about 200 bytes each on a board.
MAX_JOBS = 64
_KEEP_S = const(86400)
_BACK_OFF_S = (30, 60, 300, 900, 3600)


class CronJobs:
    """
    Runs what CRON.json asks for. What it needs is given to it:

    port      .path(name)
    clock     .now(), .trusted, .mono_ms()
    zone      schedule.zone.Zone of the owner
    lane      .busy()
    budget    .left("cron"): tokens or None, or None instead of it
    run_turn  await run_turn(pieces, kind="cron", model=None) -> agent.turn.Result; LaneBusy and
              PutBack may leave it
    deliver   await deliver(text, channel, chat) -> True when sent, False when queued; OSError
              when neither is possible; channel and chat None are the owner's
    notify    notify(text): tells the owner something about the agent itself
    online    online() -> True, or what is missing ("wifi")
    runs      schedule.runs.Runs, the run log shared with the heartbeat
    """

    def __init__(self, port, clock, zone, lane, budget, run_turn, deliver, notify, online, runs):
        self.path = port.path("workspace/CRON.json")
        self.clock = clock
        self.zone = zone
        self.lane = lane
        self.budget = budget
        self.run_turn = run_turn
        self.deliver = deliver
        self.notify = notify
        self.online = online
        self.runs = runs
        self.jobs = []
        self._state_folder = port.path("state")
        self._state_path = port.path("state/cron.json")
        self._slots = None
        self._known = None
        self._signature = None
        self._told = 0
        self._trusted = False
        self._start_s = 0
        self._offset_s = 0
        self._retry_s = 0
        self._retry_at_s = 0
        self._waits = None
        self._not_before_s = {}
        self._busy = False
        self._poked = asyncio.Event()

    # --- what others call

    async def service(self):
        """Run jobs whenever they are due, for ever."""
        while True:
            await self.step()
            wake_s = self.next_wake()
            wait_s = _POLL_S if wake_s is None else min(max(wake_s, 1), _POLL_S)
            await alarm.wait(self._poked, wait_s)

    def poke(self):
        """Look now: the file was edited, the lane is free, the network is up."""
        self._poked.set()

    def next_wake(self):
        """Seconds until a job is due, None when none ever is."""
        now, mono_s, trusted = self.time()
        best = None
        for job in self.jobs:
            due = job.due_at(now, mono_s, trusted)
            if due is None:
                continue
            left = due - now
            if left <= 0:
                left = max(self._retry_at_s, self._not_before_s.get(job.id, 0)) - mono_s
                left = max(left, 0)
            if best is None or left < best:
                best = left
        return best

    def lines(self):
        """One line for each job, for `/cron` and the tool."""
        from tenner.schedule import jobedit

        self.wake()
        return jobedit.lines(self)

    def add(self, entry):
        """Add or replace a job; ValueError with a sentence when it is wrong."""
        from tenner.schedule import jobedit

        self.wake()
        jobedit.add(self, entry)

    def remove(self, job_id):
        """Take a job out; ValueError when there is none of that id."""
        from tenner.schedule import jobedit

        self.wake()
        jobedit.change(self, job_id, lambda entry: None)

    def enable(self, job_id, enabled=True):
        """Switch a job on, whatever switched it off, or off."""
        from tenner.schedule import jobedit

        self.wake()
        jobedit.enable(self, job_id, enabled)

    def start_anew(self, job_id):
        """Forget why the job was off, and count from now."""
        self.wake()
        now, mono_s, trusted = self.time()
        self._not_before_s.pop(job_id, None)
        for job in self.jobs:
            if job.id == job_id:
                job.failures = job.off = 0
                job.why = ""
                if trusted:
                    job.seat(now, mono_s)
        self._save()
        self.poke()

    # --- one wake

    async def step(self):
        """Collect the jobs that are due, then run them one after the other."""
        self.wake()
        now, mono_s, trusted = self.time()
        self.runs.flush_old(mono_s)
        # All of them first: what one job takes must not move the times of the others.
        due = []
        for job in self.jobs:
            at = job.due_at(now, mono_s, trusted)
            if at is None or at > now:
                continue
            if job.waits and trusted:
                newer = job.overtaken(at, now)
                if newer is not None:
                    self._write(job, {"r": "skipped", "why": job.waits}, now, mono_s)
                    at = newer
            job.due = at
            if self._not_before_s.get(job.id, 0) <= mono_s:
                due.append(job)
        if not due or self._busy or mono_s < self._retry_at_s:
            return
        self._busy = True
        try:
            for job in due:
                if job in self.jobs:
                    await self._one(job)
        finally:
            self._busy = False

    async def _one(self, job):
        now, mono_s, trusted = self.time()
        if trusted and job.missed == "skip" and job.due < self._start_s:
            self._end(job, {"r": "skipped", "why": "missed while off"}, now, mono_s)
            if job.kind == "at":
                from tenner.schedule.zone import iso_local

                self._switch_off(job, "missed while off")
                self.notify(
                    'The job "%s" was due at %s, while I was off; it was not run.'
                    % (job.id, iso_local(self.zone, job.due)[:16].replace("T", " "))
                )
            return
        entry = self._entry(job.id)
        if entry is None:
            return
        from tenner.schedule import jobturns

        await jobturns.run(self, job, entry)

    def _entry(self, job_id):
        try:
            for _, entry in jobs.read(self.path):
                if entry.get("id") == job_id:
                    return entry
        except (ValueError, OSError):
            self._signature = None
        return None

    # --- what the run (schedule.jobturns) calls

    def wait(self, job, reason):
        """The lane is taken or the network away: try again soon."""
        self._retry_s = min(self._retry_s * 2, _MAX_RETRY_S) if self._retry_s else 1
        self._retry_at_s = self.time()[1] + self._retry_s
        job.waits = reason
        if self._waits != reason:
            self._waits = reason
            log("cron", "%s waits: %s" % (job.id, reason))

    def begin(self, job):
        """Note the run before it starts."""
        now, mono_s, trusted = self.time()
        self._slots.save({"id": job.id, "due": job.due, "t": now})
        self._waits = None
        self._retry_s = 0
        log("cron", "%s starts" % job.id)
        return now

    def skip(self, job, reason):
        """This occurrence is not run."""
        now, mono_s, _ = self.time()
        log("cron", "%s skipped: %s" % (job.id, reason))
        self._end(job, {"r": "skipped", "why": reason}, now, mono_s)
        if job.kind == "at":
            self._switch_off(job, "skipped: " + reason)
            self.notify('The job "%s" was not run: %s.' % (job.id, reason))

    def put_back(self, job, reason):
        """Nothing came of the run; it is due as before."""
        self._slots.save({})
        self.wait(job, reason)

    def done(self, job, line):
        """The run has ended well."""
        now, mono_s, _ = self.time()
        job.failures = 0
        self._end(job, line, now, mono_s)
        if job.kind == "at":
            self._switch_off(job, "done")
        self._slots.save({})
        log("cron", "%s ran (%d tokens)" % (job.id, line.get("tokens", 0)))

    def failed(self, job, sentence, tokens):
        """The run has failed; the fifth time in a row the job is switched off."""
        now, mono_s, _ = self.time()
        job.failures += 1
        log("cron", "%s failed (%d in a row): %s" % (job.id, job.failures, sentence))
        if job.kind == "at" and job.failures < _MAX_FAILURES:
            # It has no next time: this one is tried again.
            self._not_before_s[job.id] = mono_s + _BACK_OFF_S[job.failures - 1]
        else:
            self._end(job, {"r": "failed", "why": sentence, "tokens": tokens}, now, mono_s)
        if job.failures >= _MAX_FAILURES:
            self._switch_off(job, "failed %d times: %s" % (job.failures, sentence))
            self.notify(
                'The job "%s" has failed %d times in a row and is off now: %s '
                "`/cron` shows the jobs; ask me to enable it again."
                % (job.id, job.failures, sentence if sentence[-1:] == "." else sentence + ".")
            )
        self._save()
        self._slots.save({})

    def _end(self, job, line, now, mono_s):
        """One line for the occurrence at hand, which is over."""
        self._write(job, line, now, mono_s)
        job.ran_at(now, mono_s, self.clock.trusted)
        self._save()

    def _write(self, job, line, now, mono_s):
        entry = {"t": now, "due": job.due, "job": job.id}
        entry.update(line)
        self.runs.add(entry, mono_s)

    def _switch_off(self, job, why):
        job.off = max(self.clock.now(), 1)
        job.why = why
        self._save()

    # --- what changes: boots, the file, the clock

    def wake(self):
        if self._slots is None:
            self._boot()
        self._refresh()
        self._watch_clock()

    def _boot(self):
        from tenner.store import files
        from tenner.store.slots import TwoSlots

        files.make_dirs(self._state_folder)
        self._slots = TwoSlots(self._state_folder + "/cronrun")
        self._known = {}
        if files.exists(self._state_path):
            from tenner.store import jsontext

            try:
                self._known = jsontext.loads(files.read_text(self._state_path))
            except ValueError:
                name = files.set_aside(self._state_path)
                self.notify("The state of the jobs could not be read (put aside as %s)." % name)
        now, mono_s, _ = self.time()
        self._offset_s = now - mono_s
        run = self._slots.load()
        if run.get("id"):
            self._interrupted(run, now, mono_s)

    def _interrupted(self, run, now, mono_s):
        """A run was noted and never closed: the power failed, or the board was reset."""
        for line in self.runs.tail(4):
            if line.get("job") == run["id"] and line["t"] >= run["t"]:
                self._slots.save({})
                return
        log("cron", "%s was interrupted by a restart" % run["id"])
        line = {"t": run["t"], "due": run["due"], "job": run["id"], "r": "interrupted"}
        entry = self._known.get(run["id"])
        if entry:
            # A job that brings the board down must not do so for ever.
            entry[1] += 1
            entry[4] = run["due"]
        self.runs.add(line, mono_s)
        self._slots.save({})

    def _refresh(self):
        signature = self._file_signature()
        if signature == self._signature:
            return
        self._signature = signature
        old = {}
        for job in self.jobs:
            old[job.id] = job
        self.jobs = []
        problems = []
        now, mono_s, _ = self.time()
        try:
            for index, entry in jobs.read(self.path):
                wrong = jobs.check(entry, self.zone)
                if not wrong and any(job.id == entry["id"] for job in self.jobs):
                    wrong = 'the id "%s" stands twice' % entry["id"]
                if not wrong and len(self.jobs) >= MAX_JOBS:
                    wrong = "over %d jobs" % MAX_JOBS
                if wrong:
                    problems.append("CRON.json entry %d: %s." % (index + 1, wrong))
                else:
                    self._adopt(Job(entry, self.zone), old, now, mono_s)
        except ValueError as error:
            # Those behind may be back when the file is put right; they must not run again then.
            for job_id in old:
                if all(job.id != job_id for job in self.jobs):
                    self._known[job_id] = old[job_id].state()
            problems.append(
                "CRON.json cannot be read to its end, %s. The %d jobs before that run."
                % (error, len(self.jobs))
            )
        else:
            self._known = {}
        self._report(problems)
        log("cron", "CRON.json: %d jobs" % len(self.jobs))
        if self._trusted:
            self._save()

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
        self.jobs.append(job)
        if before is not None:
            same = (before.kind, before.when, before.anchor) == (job.kind, job.when, job.anchor)
            if same and before.enabled == job.enabled:
                job.last, job.off, job.why = before.last, before.off, before.why
                job.failures, job.due, job.waits = before.failures, before.due, before.waits
                job.base_s, job.ran = before.base_s, before.ran
                return
        else:
            entry = self._known.pop(job.id, None)
            if isinstance(entry, list) and len(entry) == 5:
                job.last, job.failures, job.off, job.why = entry[:4]
                if entry[4] and job.missed == "skip":
                    job.last = max(job.last, entry[4])
                elif entry[4] and job.failures >= _MAX_FAILURES:
                    self._switch_off(job, "interrupted %d times" % job.failures)
                    self.notify('The job "%s" is off: %s.' % (job.id, job.why))
                return
        if self._trusted:
            job.seat(now, mono_s)

    def _report(self, problems):
        from binascii import crc32

        text = "\n".join(problems[:5])
        told = crc32(text.encode()) & 0xFFFFFFFF
        if problems and told != self._told:
            self.notify(text)
        self._told = told

    def _watch_clock(self):
        now, mono_s, trusted = self.time()
        jump_s = now - mono_s - self._offset_s
        self._offset_s = now - mono_s
        became = trusted and not self._trusted
        self._trusted = trusted
        if became or (trusted and abs(jump_s) > _JUMP_S):
            # What fell due before this moment was missed; it is caught up once at most.
            self._start_s = now
            for job in self.jobs:
                period = job.when if job.kind == "every" else 86400
                leaped = jump_s > 0 and not became and job.kind == "every"
                if job.ran or job.last <= 0 or job.last > now + period or leaped:
                    job.seat(now, mono_s)
            self._save()
        if trusted:
            self._drop_done(now)

    def _drop_done(self, now):
        """One-shot jobs that are done stay in the list for a day."""
        for job in self.jobs:
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

    def _save(self):
        from tenner.store import files

        files.write_atomic(self._state_path, self._state_pieces())

    def _state_pieces(self):
        import json

        comma = "{"
        for job in self.jobs:
            yield "%s%s:%s" % (comma, json.dumps(job.id), json.dumps(job.state()))
            comma = ",\n"
        for job_id in self._known:
            yield "%s%s:%s" % (comma, json.dumps(job_id), json.dumps(self._known[job_id]))
            comma = ",\n"
        yield "}\n" if comma != "{" else "{}\n"

    def time(self):
        """(unix time, seconds of the monotonic clock, whether the first can be trusted)."""
        return self.clock.now(), self.clock.mono_ms() // 1000, self.clock.trusted
