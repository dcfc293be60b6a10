# tenner schedule.job: what the scheduler keeps of one job, and when that job is due.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.schedule import slots


class Job:
    def __init__(self, entry, zone):
        from tenner.schedule import jobs

        self.id = entry["id"]
        self.enabled = entry.get("enabled", True)
        self.missed = entry.get("missed", "once")
        self.kind, self.when, self.anchor, own = jobs.timing(entry, zone)
        #: Its own time zone as text, None for the owner's.
        self.tz = None if own is zone else own.text
        self.last = 0
        self.failures = 0
        # 0, or the time from which the job is off although its entry says otherwise, and why.
        self.off = 0
        self.why = ""
        # Start of the count of `every` while the clock is not trusted.
        self.base_s = 0
        self.ran = False
        # The occurrence at hand, and why it waits.
        self.due = 0
        self.waits = None
        self._next = None

    def due_at(self, now, mono_s, trusted, zone):
        """When the job fell due or will; None when it never does or is held."""
        if not self.enabled or self.off:
            return None
        if not trusted:
            if self.kind != "every":
                return None
            return now + self.when - (mono_s - self.base_s)
        if self._next is None:
            if self.kind == "at":
                self._next = self.when
            else:
                self._next = self._after(self.last, zone)
        return self._next

    def overtaken(self, due, now, zone):
        """The newest occurrence that has come after the one that waits since `due`, or None."""
        found = None
        # Only a clock that leaped makes more than a few; those of the leap count as one.
        for _ in range(100):
            following = None if self.kind == "at" else self._after(found or due, zone)
            if following is None or following > now:
                break
            found = following
        if found:
            self._next = found
        return found

    def _after(self, utc, zone):
        if self.kind == "every":
            anchor = self.last if self.anchor is None else self.anchor
            return slots.next_slot(self.when, anchor % self.when, utc)
        from tenner.schedule.cronexpr import Cron

        if self.tz is not None:
            from tenner.schedule.zone import Zone

            zone = Zone(self.tz)
        return Cron(self.when).next_after(utc, zone)

    def ran_at(self, now, mono_s, trusted):
        """The occurrence at hand is over: count from here."""
        if trusted:
            if self.kind == "every" and self.anchor is None:
                # The grid of a job without an anchor starts with its first sight.
                self.last = slots.slot_start(self.when, self.last % self.when, now)
            else:
                self.last = now
        self._next = None
        self.waits = None
        self.base_s = mono_s
        self.ran = not trusted

    def seat(self, now, mono_s):
        """Begin to count here: the next run is the next time after now."""
        self.last = now
        self._next = None
        self.base_s = mono_s
        self.ran = False

    def state(self):
        """What of it must outlive a reboot; the last place is for an interrupted run."""
        return [self.last, self.failures, self.off, self.why, 0]
