# tenner schedule.tasks: what the scheduler keeps of one task, and when that task is due.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The text of a task stays on flash and is read when it runs; only its timing is kept in memory.
Times are UTC seconds while the clock is trusted; until then `every` counts the seconds of the
monotonic clock, and tasks on the wall clock are held.
"""

from tenner.schedule import slots

BEAT_KEY = 0


class Task:
    def __init__(self, key, line):
        self.key = key
        self.line = line
        self.every_s = 0
        self.phase_s = 0
        self.cron = None
        self.hours = None
        self.model = None
        self.notify = False
        self.gate = None
        # Whether it has no time of its own and falls due with the beat.
        self.beat = False
        self.last = 0
        # Start of the count while the clock is not trusted, and whether it ran since then.
        self.base_s = 0
        self.ran = False
        # The occurrence at hand, and the one that waits to be tried again:
        # [due, reason, failed tries, tokens they cost].
        self.due = 0
        self.pending = None
        # Whether the run at hand was asked for by a person, outside the task's times.
        self.asked = False
        # The value that opened the gate, kept until the task has run; and the last look at it.
        self.opened = None
        self.was_open = False
        self._next = None

    def seat(self, now, mono_s):
        """Begin to count here: the next run is in the next slot."""
        self.set_last(now)
        self.base_s = mono_s
        self.ran = False

    def set_last(self, last):
        self.last = last
        self._next = None

    def horizon_s(self):
        """How far in the future a last run may lie before it is taken for a wrong clock."""
        return self.every_s or 86400

    def due_at(self, now, mono_s, trusted, zone):
        """When the present occurrence fell due, or when the next one will; None when held."""
        if not trusted:
            if not self.every_s:
                return None
            return now + self.every_s - (mono_s - self.base_s)
        if self.every_s:
            if slots.due(self.every_s, self.phase_s, now, self.last):
                return slots.slot_start(self.every_s, self.phase_s, now)
            return slots.next_slot(self.every_s, self.phase_s, max(now, self.last))
        if self._next is None:
            self._next = self._after(self.last, zone)
        return self._next

    def following(self, due, now, trusted, zone):
        """When the occurrence after the one that waits since `due` comes."""
        if self.every_s:
            if trusted:
                return slots.next_slot(self.every_s, self.phase_s, max(due, now))
            return due + self.every_s * ((now - due) // self.every_s + 1)
        return self._after(due, zone)

    def newer(self, at, now, trusted, zone):
        """
        The occurrence that has overtaken the one that waits, or None. `at` is due_at(), which
        for a grid is the newest already.
        """
        waited = self.pending[0]
        if self.every_s and trusted:
            return at if at > waited else None
        if self.every_s:
            passed = (now - at) // self.every_s
            self.base_s += passed * self.every_s
            return at + passed * self.every_s if passed > 0 else None
        found = None
        # Only a clock that leaped makes more than a few; those of the leap count as one.
        for _ in range(100):
            following = self._after(found or waited, zone)
            if following > now:
                break
            found = following
        if found:
            self._next = found
        return found

    def begin(self, now, mono_s, trusted):
        """The occurrence at hand is being run: count from here. What takes it back is returned."""
        before = (self, self.due, self.pending, self.last, self.base_s, self.ran, self._next)
        if trusted:
            self.set_last(now)
        self.base_s = mono_s
        self.ran = not trusted
        self.pending = None
        return before

    def take_back(self, before):
        """The run came to nothing: the occurrence is due as before."""
        self.last, self.base_s, self.ran, self._next = before[3:]

    def _after(self, utc, zone):
        from tenner.schedule.cronexpr import Cron

        return Cron(self.cron).next_after(utc, zone)


def build(clauses, line, key, seed):
    """Task of one parsed item; `seed` is the board's number for the phase of the grid."""
    task = Task(key, line)
    task.every_s = clauses.get("every_s", 0)
    if task.every_s:
        task.phase_s = seed % task.every_s
    task.cron = clauses.get("cron")
    if "daily" in clauses:
        hour, _, minute = clauses["daily"].partition(":")
        task.cron = "%d %d * * *" % (int(minute), int(hour))
    if "hours" in clauses:
        from tenner.schedule.hours import Hours

        task.hours = Hours(clauses["hours"])
    task.model = clauses.get("model")
    task.notify = clauses.get("notify", False)
    if "when" in clauses:
        from tenner.schedule.gates import Gate

        task.gate = Gate(clauses["when"])
    return task


def key_of(text, clauses, taken):
    """A short number that names the item as long as nobody edits it."""
    import hashlib

    digest = hashlib.sha256(text.encode())
    for name in sorted(clauses):
        value = clauses[name]
        if isinstance(value, dict):
            value = [value[part] for part in sorted(value)]
        digest.update(("%s=%s;" % (name, value)).encode())
    digest = digest.digest()
    key = digest[0] << 16 | digest[1] << 8 | digest[2]
    # Two equal lines are two tasks.
    while key == BEAT_KEY or key in taken:
        key = (key + 1) & 0xFFFFFF
    return key
