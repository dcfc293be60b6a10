# tenner schedule.slots: when a task or a job is due.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Slots, not timers: a grid is fixed by the board's identity, so a reboot neither starves the
heartbeat nor fires it again, and boards do not all call at the full hour.

Times are UTC seconds while the clock is trusted; until then `every` counts the seconds of the
monotonic clock, and what stands on the wall clock is held.
"""

# --- the grid


def seed(device_id):
    """The board's own number, from which the phase of every grid follows."""
    import hashlib

    return int.from_bytes(hashlib.sha256(device_id).digest()[:4], "big")


def slot_start(interval_s, phase_s, now):
    """Beginning of the slot that `now` lies in."""
    return now - (now - phase_s) % interval_s


def due(interval_s, phase_s, now, last):
    """Whether a slot newer than that of the last run has begun; missed ones count once."""
    return slot_start(interval_s, phase_s, now) > slot_start(interval_s, phase_s, last)


def next_slot(interval_s, phase_s, now):
    """Beginning of the first slot strictly after `now`."""
    return slot_start(interval_s, phase_s, now) + interval_s


# --- state.Task


def due_at(task, now, mono_s, trusted, zone):
    """When the present occurrence fell due, or when the next one will; None when held or off."""
    if task.off or not task.enabled:
        return None
    if not trusted:
        return now + task.every_s - (mono_s - task.base_s) if task.every_s else None
    if task.every_s:
        if due(task.every_s, task.phase_s, now, task.last):
            return slot_start(task.every_s, task.phase_s, now)
        return next_slot(task.every_s, task.phase_s, max(now, task.last))
    if task.at:
        return task.at if task.last < task.at else None
    if task.next is None:
        task.next = _after(task, task.last, zone)
    return task.next


def following(task, due, now, trusted, zone):
    """When the occurrence after the one that waits since `due` comes; None after the only one."""
    if task.at:
        return None
    if not task.every_s:
        return _after(task, due, zone)
    if trusted:
        return next_slot(task.every_s, task.phase_s, max(due, now))
    return due + task.every_s * ((now - due) // task.every_s + 1)


def newer(task, at, now, trusted, zone):
    """
    The occurrence that has overtaken the one that waits, or None. `at` is due_at(), which
    for a grid is the newest already.
    """
    found = None
    if task.every_s:
        if not trusted:
            passed_s = (now - at) // task.every_s * task.every_s
            task.base_s += passed_s
            at += passed_s
        return at if at > task.pending[0] else None
    if not task.at:
        # Only a clock that leaped makes more than a few; those of the leap count as one.
        for _ in range(100):
            coming = _after(task, found or task.pending[0], zone)
            if coming > now:
                break
            task.next = found = coming
    return found


def _after(task, utc, zone):
    from tenner.schedule.cronexpr import Cron

    if task.tz:
        from tenner.schedule.zone import Zone

        zone = Zone(task.tz)
    return Cron(task.cron).next_after(utc, zone)


def set_last(task, last):
    task.last = last
    task.next = None


def seat(task, now, mono_s):
    """Begin to count here: the next run is in the next slot."""
    set_last(task, 0 if task.at else now)
    task.base_s = mono_s
    task.ran = False
    if task.free:
        task.phase_s = now % task.every_s


def begin(task, now, mono_s, trusted):
    """The occurrence at hand is being run: count from here. What takes it back is returned."""
    before = (task, task.due, task.pending, task.last, task.base_s, task.ran, task.next)
    if trusted:
        # Where the grid lies is all that tells of the phase of a free one after a reboot.
        set_last(task, slot_start(task.every_s, task.phase_s, now) if task.free else now)
    task.base_s = mono_s
    task.ran = not trusted
    task.pending = None
    return before


def take_back(task, before):
    """The run came to nothing: the occurrence is due as before."""
    task.last, task.base_s, task.ran, task.next = before[3:]
