# tenner schedule.cronbook: which jobs are due, how a run of one ends, and their records.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.lane import LaneBusy, PutBack
from tenner.log import log
from tenner.port.compat import const
from tenner.schedule.book import Book, ran
from tenner.schedule.slots import seat, set_last

_BACK_OFF_S = (30, 60, 300, 900, 3600)
#: Failures in a row after which a job is switched off.
_MAX_FAILURES = const(5)
_KEEP_S = const(86400)


class CronBook(Book):
    """The jobs' own book."""

    # --- a wake

    def look(self):
        """Take in what has changed since the last wake."""
        from tenner.schedule import watch

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

    # --- how a run ends

    def wait(self, job, reason):
        """The lane is taken or the network away: try again soon."""
        self.hold([job], reason)
        self.hold_off(reason, job.notify)
        self.say("retry", reason)

    def done(self, job, line):
        """The run has ended well."""
        log("cron", "%s ran (%d tokens)" % (job.key, line["tokens"]))
        job.failures = 0
        if job.at:
            self._switch_off(job, "done")
        self.end(line)
        self.has_run(job.notify)

    def failed(self, job, sentence, tokens):
        """The run has failed; the fifth time in a row the job is switched off."""
        job.failures += 1
        log("cron", "%s failed (%d in a row): %s" % (job.key, job.failures, sentence))
        off = job.failures >= _MAX_FAILURES
        if off:
            self._switch_off(job, "failed %d times: %s" % (job.failures, sentence))
            self.box.notify(
                'The job "%s" has failed %d times in a row and is off now: %s '
                "`/cron` shows the jobs; ask me to enable it again."
                % (job.key, job.failures, sentence.rstrip(".") + ".")
            )
        if job.at and not off:
            # It has no next time: this one is tried again.
            job.not_before_s = self.time()[1] + _BACK_OFF_S[job.failures - 1]
            self.take_back(sentence, 1, tokens)
        else:
            self.end({"r": "failed", "why": sentence, "tokens": tokens})

    def pass_over(self, job, reason):
        """This occurrence is not run."""
        log("cron", "%s skipped: %s" % (job.key, reason))
        if job.at:
            self._switch_off(job, "skipped: " + reason)
            self.box.notify(
                'The job "%s", due at %s, was not run: %s.'
                % (job.key, self.zone.short(job.due), reason)
            )
        self.skip(job, reason)
        self.save_tasks()

    def _switch_off(self, job, why):
        job.off = max(self.time()[0], 1)
        job.why = why

    # --- what outlives a reboot

    def boot(self):
        """Read the state; a run that was noted and never closed was interrupted."""
        box = self.box
        box.saved.update(self.stores.load_state())
        known, bad = self.stores.load("cron")
        if bad:
            box.notify("The state of the jobs could not be read (put aside as %s)." % bad)
        box.known = known if isinstance(known, dict) else {}
        saved = box.saved
        key = saved.pop("id", None)
        if not key:
            return
        for line in self.stores.tail(4):
            if line.get("job") == key and line["t"] >= saved["t"]:
                break
        else:
            log("cron", "%s was interrupted by a restart" % key)
            entry = box.known.get(key)
            if entry:
                # A job that brings the board down must not do so for ever.
                entry[1] += 1
                entry[4] = saved["due"]
            self.add({"t": saved["t"], "due": saved["due"], "job": key, "r": "interrupted"})
        self.save()

    def note(self, start, trusted, tasks):
        """A run starts."""
        for job in tasks:
            self.box.saved.update({"id": job.key, "due": job.due, "t": start})
        self.save()

    def noted(self, start, trusted, changed):
        """The run's line is written."""
        self.box.saved.pop("id", None)
        self.save_tasks()
        self.save()

    def adopt(self, job):
        """Give a job its state back; False when nothing is known of it."""
        entry = (self.box.known or {}).pop(job.key, None)
        if not isinstance(entry, list) or len(entry) != 5:
            return False
        last, job.failures, job.off, job.why, due = entry
        if job.free:
            job.phase_s = last % job.every_s
        if due:
            # What was interrupted is due again, unless what is missed is to be skipped.
            last = max(last, due) if job.skip else min(last, due - 1)
            if job.failures >= _MAX_FAILURES:
                self._switch_off(job, "interrupted %d times" % job.failures)
                self.box.notify('The job "%s" is off: %s.' % (job.key, job.why))
        set_last(job, last)
        return True

    def adopted(self):
        pass  # what no job has taken over may yet be, when CRON.json can be read again

    def state_of(self, job):
        """What of a job must outlive a reboot; the last place is for an interrupted run."""
        return [job.last, job.failures, job.off, job.why, 0]

    def save_tasks(self):
        self.stores.save("cron", self._pieces())

    def _pieces(self):
        import json

        comma = "{"
        for job in self.box.tasks or ():
            yield "%s%s:%s" % (comma, json.dumps(job.key), json.dumps(self.state_of(job)))
            comma = ",\n"
        for key in self.box.known:
            yield "%s%s:%s" % (comma, json.dumps(key), json.dumps(self.box.known[key]))
            comma = ",\n"
        yield "}\n" if comma != "{" else "{}\n"

    def scan(self, old):
        """(jobs, sentences for the owner) of CRON.json."""
        from tenner.schedule import jobs

        return jobs.scan(self, old)


# --- one run


async def run(cron, job):
    """Run the job now, or let it wait for budget, lane or network."""
    book = CronBook(cron)
    entry = _entry_of(cron, job.key)
    if entry is None or (not job.notify and _stopped(cron, book, job)):
        return
    begun = book.begin([job])
    # Nothing but this may be alive while a turn runs.
    book = None
    line = {"r": "ran", "tokens": 0}
    waits = failed = None
    try:
        failed = await _turn(cron, job, entry, line)
    except LaneBusy as busy:
        waits = "lane busy (%s)" % busy.args[0]
    except PutBack:
        waits = "put back (a person came first)"
    except Exception as error:
        # Also what only a bug raises: a failed job must never pass for a quiet one.
        failed = str(error) or repr(error)
    book = CronBook(cron, begun)
    if waits:
        book.take_back(waits)
        book.wait(job, waits)
    elif failed:
        book.failed(job, failed, line["tokens"])
    else:
        book.done(job, line)


async def _turn(cron, job, entry, line):
    """Fill the run's line; the sentence that says what has failed, or None."""
    payload = entry["payload"]
    text = payload["message"]
    if not job.notify:
        zone = cron.part("zone")
        if job.tz:
            from tenner.schedule.zone import Zone

            zone = Zone(job.tz)
        time_text = zone.tell(cron.clock.now(), cron.clock.trusted)

        def pieces():
            yield 'The job "%s" is due:\n' % (entry.get("name") or job.key)
            yield payload["message"]
            yield "\n\nTime: %s\n" % time_text

        result = await cron.run_turn(pieces, kind="cron", model=payload.get("model"))
        from tenner.schedule import ack

        line.update(ran(result))
        if "sent" in line or result.error is not None:
            return None if "sent" in line else result.error
        text = ack.deliver(result.text or "")
    line["sent"] = "no"
    if text:
        line["sent"] = await cron.deliver(text, payload.get("channel"), payload.get("chat"))
    return None


def _entry_of(cron, key):
    """The job's entry as it stands in the file, or None when that cannot be read any more."""
    from tenner.schedule import jobs

    try:
        for _, entry in jobs.read(cron.file):
            if jobs.id_of(entry) == key:
                return entry
    except (ValueError, OSError):
        # Looked at again at the next wake, and reported.
        cron.signature = None
    return None


def _stopped(cron, book, job):
    """Whether the job cannot run now; what follows from that is done."""
    budget = cron.part("budget")
    left = budget.left("cron")
    busy = cron.lane.busy()
    online = cron.online()
    if left is not None and left <= 0:
        book.pass_over(job, "daily token budget spent (%d)" % budget.per_day)
    elif busy:
        book.wait(job, "lane busy (%s)" % busy)
    elif online is not True:
        book.wait(job, "offline (%s)" % (online or "network"))
    else:
        return False
    return True
