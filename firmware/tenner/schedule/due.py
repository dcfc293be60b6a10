# tenner schedule.due: when a task or a job is due.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Periods, not timers: a grid is fixed by the board's identity, so a reboot neither starves the
heartbeat nor fires it again, and boards do not all call at the full hour.

Times are UTC seconds while the clock is trusted; until then `every` counts the seconds of the
monotonic clock, and tasks by the wall clock are held. `moment` is a task.Moment.
"""

from hashlib import sha256

from tenner.schedule import sun
from tenner.schedule.cronexpr import Cron
from tenner.store.posix_tz import Zone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.schedule.task import Moment, Task


def board_phase(device_id: bytes) -> int:
    """Return the board's own number, from which the phase of every grid follows."""
    return int.from_bytes(sha256(device_id).digest()[:4], "big")


def period_start(interval_s: int, phase_s: int, now: int) -> int:
    """Return the beginning of the period that `now` lies in."""
    return now - (now - phase_s) % interval_s


def next_period(interval_s: int, phase_s: int, now: int) -> int:
    """Return the beginning of the first period strictly after `now`."""
    return period_start(interval_s, phase_s, now) + interval_s


# --- tasks


def after(task: "Task", utc: int, zone: Zone) -> int | None:
    """Return the first time of a task strictly after `utc`; None after the only one."""
    if task.once and not task.at and utc > 0:
        task.at = _once(task.once, utc, zone)
    if task.at or task.once:
        return task.at if utc < task.at else None
    if task.every_s:
        return next_period(task.every_s, task.phase_s, utc)
    if task.cron[:3] == "sun":
        return sun.after(task.cron, utc)
    return Cron(task.cron).next_after(utc, zone_of(task, zone))


def _once(once, utc, zone):
    """Return the time that a line names which was written at `utc`."""
    if isinstance(once, int):
        return utc + once
    year, month, day, *_ = zone.local(utc)
    hour, minute = int(once[-5:-3]), int(once[-2:])
    is_later = once[0] == "+"
    at = zone.utc_of(year, month, day + is_later, hour, minute)
    return at if at > utc or is_later else zone.utc_of(year, month, day + 1, hour, minute)


def zone_of(task: "Task", zone: Zone) -> Zone:
    """Return the job's own zone, else the owner's."""
    return Zone(task.tz) if task.tz else zone


def due_at(task: "Task", moment: "Moment", zone: Zone) -> int | None:
    """Return when the first occurrence after the last run falls due; None when held or off."""
    if task.off_since or not task.enabled:
        return None
    if not moment.trusted:
        if not task.every_s:
            return None
        return moment.now + task.every_s - (moment.mono_s - task.base_s)
    if task.next is None:
        task.next = after(task, task.last, zone)
    return task.next


def newest(task: "Task", at: int, moment: "Moment", zone: Zone) -> int:
    """Return the newest occurrence up to now, where that of `at` is due: those between count as
    one."""
    if task.every_s:
        passed_s = (moment.now - at) // task.every_s * task.every_s
        if not moment.trusted:
            task.base_s += passed_s
        return at + passed_s
    # Only a clock that leaped makes more than a few.
    for _ in range(100):
        coming = after(task, at, zone)
        if coming is None or coming > moment.now:
            break
        task.next = at = coming
    return at


def set_last(task: "Task", last: int) -> None:
    """Count from `last`."""
    task.last = last
    task.next = None


def start_timer(task: "Task", moment: "Moment") -> None:
    """Begin to count here: the next run is in the next period."""
    set_last(task, 0 if task.at and not task.once else moment.now)
    task.base_s = moment.mono_s
    task.ran = False
    if task.free:
        task.phase_s = moment.now % task.every_s


def count_as_run(task: "Task", moment: "Moment") -> None:
    """Count from here: the occurrence at hand runs, or is skipped."""
    if moment.trusted:
        # After a reboot the phase of a free grid follows from the last run alone.
        now = moment.now
        set_last(task, period_start(task.every_s, task.phase_s, now) if task.free else now)
    task.base_s = moment.mono_s
    task.ran = not moment.trusted
    task.pending = None
