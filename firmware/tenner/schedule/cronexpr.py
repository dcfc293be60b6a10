# tenner schedule.cronexpr: five-field cron expressions and the next time they match.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Lists, ranges, steps and names; 0 and 7 are Sunday. When day of month and day of week are both
restricted one of them is enough, as in Vixie cron, where a field that begins with `*` is not
restricted. A local time which a change of the clocks skips runs at the change. One that comes
twice runs in both passes where the minute or the hour begins with `*`, as in Debian's cron: an
interval goes on. Otherwise it runs in the first pass only.
"""

from tenner.port.compat import const
from tenner.store.posix_tz import date_of, days_of, month_days

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.store.posix_tz import Zone

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
