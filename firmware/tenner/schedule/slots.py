# tenner schedule.slots: when a task or a job is due.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Slots, not timers: a grid is fixed by the board's identity, so a reboot neither starves the
heartbeat nor fires it again, and boards do not all call at the full hour.

Times are UTC seconds while the clock is trusted; until then `every` counts the seconds of the
monotonic clock, and what stands on the wall clock is held.
"""


def seed(device_id):
    """The board's own number, from which the phase of every grid follows."""
    import hashlib

    return int.from_bytes(hashlib.sha256(device_id).digest()[:4], "big")


def slot_start(interval_s, phase_s, now):
    """Beginning of the slot that `now` lies in."""
    return now - (now - phase_s) % interval_s


def next_slot(interval_s, phase_s, now):
    """Beginning of the first slot strictly after `now`."""
    return slot_start(interval_s, phase_s, now) + interval_s


# --- tasks


def after(task, utc, zone):
    """The first time of a task strictly after `utc`; None after the only one."""
    if task.at:
        return task.at if utc < task.at else None
    if task.every_s:
        return next_slot(task.every_s, task.phase_s, utc)
    from tenner.schedule.cronexpr import Cron

    return Cron(task.cron).next_after(utc, zone_of(task, zone))


def zone_of(task, zone):
    """The zone of a job that has one of its own, or the owner's."""
    if not task.tz:
        return zone
    from tenner.schedule.zone import Zone

    return Zone(task.tz)


def due_at(task, now, mono_s, trusted, zone):
    """When the first occurrence after the last run falls due; None when held or off."""
    if task.off or not task.enabled:
        return None
    if not trusted:
        return now + task.every_s - (mono_s - task.base_s) if task.every_s else None
    if task.next is None:
        task.next = after(task, task.last, zone)
    return task.next


def newest(task, at, now, trusted, zone):
    """The newest occurrence up to now, where that of `at` is due: those between count as one."""
    if task.every_s:
        passed_s = (now - at) // task.every_s * task.every_s
        if not trusted:
            task.base_s += passed_s
        return at + passed_s
    # Only a clock that leaped makes more than a few.
    for _ in range(100):
        coming = after(task, at, zone)
        if coming is None or coming > now:
            break
        task.next = at = coming
    return at


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
    before = (task.last, task.base_s, task.ran, task.next)
    if trusted:
        # Where the grid lies is all that tells of the phase of a free one after a reboot.
        set_last(task, slot_start(task.every_s, task.phase_s, now) if task.free else now)
    task.base_s = mono_s
    task.ran = not trusted
    task.pending = None
    return before
