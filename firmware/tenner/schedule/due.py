# tenner schedule.due: when a task or a job is due: by periods, cron or the sun.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Periods, not timers: a grid is fixed by the board's identity, so a reboot neither starves the
heartbeat nor fires it again, and boards do not all call at the full hour.

Times are UTC seconds while the clock is trusted; until then `every` counts the seconds of the
monotonic clock, and tasks by the wall clock are held. `moment` is a task.Moment.

A cron expression has five fields with lists, ranges, steps and names; 0 and 7 are Sunday. When day
of month and day of week are both restricted one of them is enough, as in Vixie cron, where a field
that begins with `*` is not restricted. A local time which a change of the clocks skips runs at the
change. One that comes twice runs in both passes where the minute or the hour begins with `*`, as
in Debian's cron: an interval goes on. Otherwise it runs in the first pass only.

The Sun's place is that of the low-precision formulas of the Astronomical Almanac (page C5, good to
0.01 degree from 1950 to 2050); it sets when its center is 0.833 degrees below the horizon. Below
60 degrees of latitude that is right to a minute. Floats may have 24 bits: a day and its part are
kept apart.
"""

from hashlib import sha256
from math import acos, asin, atan2, cos, pi, sin

from tenner.port.compat import const
from tenner.store.posix_tz import Zone, date_of, days_of, month_days

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.schedule.task import Moment, Task

_RADIANS = pi / 180

# Two leap days on one weekday can be forty years apart, around 2100.
_MAX_MONTHS = const(45 * 12)
_DAY_2000 = const(10957)
# Longer than a field means its first value only, as in Vixie cron.
_MAX_STEP = const(366)

_FIELDS = "minute hour day-of-month month day-of-week"
_LIMITS = b"\x00\x3b\x00\x17\x01\x1f\x01\x0c\x00\x07"
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_WEEKDAYS = "sun mon tue wed thu fri sat"


_SHORT = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


def board_phase(device_id: bytes) -> int:
    """Return the board's own number, from which the phase of every grid follows."""
    return int.from_bytes(sha256(device_id).digest()[:4], "big")


def period_start(interval_s: int, phase_s: int, now: int) -> int:
    """Return the beginning of the period that `now` lies in."""
    return now - (now - phase_s) % interval_s


def next_period(interval_s: int, phase_s: int, now: int) -> int:
    """Return the beginning of the first period strictly after `now`."""
    return period_start(interval_s, phase_s, now) + interval_s


def after(task: "Task", utc: int, zone: Zone) -> int | None:
    """Return the first time of a task strictly after `utc`; None after the only one."""
    if task.once and not task.at and utc > 0:
        task.at = _once(task.once, utc, zone)
    if task.at or task.once:
        return task.at if utc < task.at else None
    if task.every_s:
        return next_period(task.every_s, task.phase_s, utc)
    if task.cron[:3] == "sun":
        return next_sun(task.cron, utc)
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


def next_sun(rule: str, utc: int) -> int | None:
    """Return the first time after `utc` of a rule such as `sunset-30 52.5 13.4`: an event, minutes
    after it, latitude and longitude in degrees. None where there is none for a year."""
    event, latitude, longitude = rule.split()
    name = "sunset" if event[:6] == "sunset" else "sunrise"
    offset_s = int(event[len(name) :] or 0) * 60
    # The day as the Sun counts it there.
    today = (utc - offset_s + int(float(longitude) * 240)) // 86400
    for day in range(today - 1, today + 370):
        second = _second(day, float(latitude), float(longitude), name == "sunset")
        if second is not None and day * 86400 + second + offset_s > utc:
            return day * 86400 + second + offset_s
    return None


def _second(day, latitude, longitude, sets):
    """Return the second of a day (since 1970) in UTC of the event; None on a day without."""
    noon = part = 0.5 - longitude / 360
    for _ in range(3):
        days = day - 10957.5 + part  # since the noon of 2000-01-01
        mean = 280.46 + 0.9856474 * days
        anomaly = (357.528 + 0.9856003 * days) * _RADIANS
        along = (mean + 1.915 * sin(anomaly) + 0.02 * sin(2 * anomaly)) * _RADIANS
        tilt = (23.439 - 0.0000004 * days) * _RADIANS
        right = atan2(cos(tilt) * sin(along), cos(along)) / _RADIANS
        ahead = (mean - right + 180) % 360 - 180
        up = asin(sin(tilt) * sin(along))
        across = sin(latitude * _RADIANS) * sin(up)
        angle = (sin(-0.833 * _RADIANS) - across) / (cos(latitude * _RADIANS) * cos(up))
        if not -1 <= angle <= 1:
            return None
        half = acos(angle) / _RADIANS / 360
        part = noon - ahead / 360 + (half if sets else -half)
    return int(part * 86400)


def five_fields(expr: str) -> str:
    """Return the five fields of `@monthly` and the like; any other text is returned unchanged."""
    return _SHORT.get(expr.strip().lower(), expr)


class Cron:
    def __init__(self, expr: str) -> None:
        fields = expr.split()
        if len(fields) != 5:
            raise ValueError(
                'cron "%s": five fields are needed, there are %d (%s)'
                % (expr, len(fields), _FIELDS)
            )
        self._masks = [_field(index, fields[index]) for index in range(5)]
        weekdays = self._masks[4]
        self._masks[4] = (weekdays | weekdays >> 7) & 0x7F
        self._goes_on = "*" in (fields[0][0], fields[1][0])
        self._either_day = fields[2][0] != "*" and fields[4][0] != "*"
        # Raises when no such day ever comes.
        self._next_day(_DAY_2000)

    def _next_day(self, days):
        """Return the first matching day on or after `days`."""
        year, month, day = date_of(days)
        _, _, dates, months, weekdays = self._masks
        for _ in range(_MAX_MONTHS):
            if months >> month & 1:
                days = days_of(year, month, day)
                for number in range(day, month_days(year, month) + 1):
                    date, weekday = dates >> number & 1, weekdays >> (days + 4) % 7 & 1
                    if date and weekday or self._either_day and (date or weekday):
                        return days
                    days += 1
            day = 1
            month += 1
            if month > 12:
                month = 1
                year += 1
        raise ValueError("cron: such a day never comes")

    def next_after(self, utc: int, zone: "Zone") -> int:
        """Return the first match strictly after `utc`, in UTC seconds."""
        offset = zone.offset(utc)
        found = self._search(utc, offset, zone)
        later = zone.offset(found)
        if self._goes_on and later < offset:
            # The clocks go back before: perhaps its time comes again after that.
            found = self._search(utc, later, zone)
        return found

    def _search(self, utc, offset, zone):
        """Return the first match after `utc` among the local times after it by `offset`."""
        wall = utc + offset
        first_day = wall // 86400
        days = self._next_day(first_day)
        # Minutes of the first day up to and including the present one are over.
        start = wall % 86400 // 60 + 1 if days == first_day else 0
        minutes, hours = self._masks[:2]
        while True:
            for at in range(start, 1440):
                if hours >> at // 60 & 1 and minutes >> at % 60 & 1:
                    found = zone.utc_of(1970, 1, 1 + days, 0, at)
                    if found > utc:
                        return found
                    # It was the first pass of a repeated hour.
                    found = (days * 1440 + at) * 60 - offset
                    if self._goes_on and found > utc and zone.offset(found) == offset:
                        return found
            days = self._next_day(days + 1)
            start = 0


def _field(index, text):
    """Return the bit mask of one field."""
    low, high = _LIMITS[2 * index], _LIMITS[2 * index + 1]
    mask = 0
    for part in text.split(","):
        span, slash, step = part.partition("/")
        begin, dash, end = span.partition("-")
        step = int(step) if step.encode().isdigit() else 0 if slash else 1
        if not 0 < step <= _MAX_STEP:
            raise _wrong(index, part, "a step is a number from 1 to %d" % _MAX_STEP)
        if span == "*":
            # Sunday is 0 here, or */2 would count it twice.
            first, last = low, min(high, 6) if index == 4 else high
        else:
            first = last = _value(index, part, begin, low, high)
            if dash:
                last = _value(index, part, end, low, high)
                if index == 4 and last == 0 and first:
                    last = 7
            elif slash:
                last = max(first, 6) if index == 4 else high
        if last < first:
            raise _wrong(index, part, "the range runs backwards")
        for value in range(first, last + 1, step):
            mask |= 1 << value
    return mask


def _value(index, part, text, low, high):
    names = (_MONTHS if index == 3 else _WEEKDAYS if index == 4 else "").split()
    if text.lower() in names:
        value = names.index(text.lower()) + low
    # str.isdigit() takes foreign digits, bytes.isdigit() does not.
    elif text.encode().isdigit() and len(text) < 5:
        value = int(text)
    else:
        raise _wrong(index, part, "not a value")
    if not low <= value <= high:
        raise _wrong(index, part, "out of range: %d-%d" % (low, high))
    return value


def _wrong(index, part, what):
    return ValueError('cron: %s "%s": %s' % (_FIELDS.split()[index], part, what))
