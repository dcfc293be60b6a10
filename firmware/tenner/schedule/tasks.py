# tenner schedule.tasks: what the scheduler keeps of one task, and when that task is due.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The text of a task stays on flash and is read when it runs; only its timing is kept in memory.
Times are UTC seconds while the clock is trusted; until then `every` counts the seconds of the
monotonic clock, and tasks on the wall clock are held.
"""

from tenner.schedule import slots
from tenner.schedule.state import Task

BEAT_KEY = 0


def seat(task, now, mono_s):
    """Begin to count here: the next run is in the next slot."""
    set_last(task, now)
    task.base_s = mono_s
    task.ran = False


def set_last(task, last):
    task.last = last
    task.next = None


def horizon_s(task):
    """How far in the future a last run may lie before it is taken for a wrong clock."""
    return task.every_s or 86400


def due_at(task, now, mono_s, trusted, zone):
    """When the present occurrence fell due, or when the next one will; None when held."""
    if not trusted:
        if not task.every_s:
            return None
        return now + task.every_s - (mono_s - task.base_s)
    if task.every_s:
        if slots.due(task.every_s, task.phase_s, now, task.last):
            return slots.slot_start(task.every_s, task.phase_s, now)
        return slots.next_slot(task.every_s, task.phase_s, max(now, task.last))
    if task.next is None:
        task.next = _after(task, task.last, zone)
    return task.next


def following(task, due, now, trusted, zone):
    """When the occurrence after the one that waits since `due` comes."""
    if task.every_s:
        if trusted:
            return slots.next_slot(task.every_s, task.phase_s, max(due, now))
        return due + task.every_s * ((now - due) // task.every_s + 1)
    return _after(task, due, zone)


def newer(task, at, now, trusted, zone):
    """
    The occurrence that has overtaken the one that waits, or None. `at` is due_at(), which
    for a grid is the newest already.
    """
    waited = task.pending[0]
    if task.every_s and trusted:
        return at if at > waited else None
    if task.every_s:
        passed = (now - at) // task.every_s
        task.base_s += passed * task.every_s
        return at + passed * task.every_s if passed > 0 else None
    found = None
    # Only a clock that leaped makes more than a few; those of the leap count as one.
    for _ in range(100):
        following = _after(task, found or waited, zone)
        if following > now:
            break
        found = following
    if found:
        task.next = found
    return found


def begin(task, now, mono_s, trusted):
    """The occurrence at hand is being run: count from here. What takes it back is returned."""
    before = (task, task.due, task.pending, task.last, task.base_s, task.ran, task.next)
    if trusted:
        set_last(task, now)
    task.base_s = mono_s
    task.ran = not trusted
    task.pending = None
    return before


def take_back(task, before):
    """The run came to nothing: the occurrence is due as before."""
    task.last, task.base_s, task.ran, task.next = before[3:]


def _after(task, utc, zone):
    from tenner.schedule.cronexpr import Cron

    return Cron(task.cron).next_after(utc, zone)


def build(clauses, line, key, seed):
    """Task of one parsed item; `seed` is the board's number for the phase of the grid."""
    task = Task()
    task.key = key
    task.line = line
    if "every_s" in clauses:
        task.every_s = clauses["every_s"]
        task.phase_s = seed % task.every_s
    if "cron" in clauses:
        task.cron = clauses["cron"]
    if "daily" in clauses:
        hour, _, minute = clauses["daily"].partition(":")
        task.cron = "%d %d * * *" % (int(minute), int(hour))
    for name in ("hours", "model", "notify"):
        if name in clauses:
            setattr(task, name, clauses[name])
    if "when" in clauses:
        from tenner.schedule.gates import build as build_gate

        task.gate = build_gate(clauses["when"])
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
