# tenner schedule.cronexpr: five-field cron expressions and the next time they match.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Lists, ranges, steps and names; 0 and 7 are Sunday. When day of month and day of week are both
restricted one of them is enough, as in Vixie cron, where a field that begins with `*` is not
restricted. A local time which a change of the clocks skips runs at the change, one that comes
twice runs in its first pass only.
"""

from tenner.port.compat import const
from tenner.schedule.civil import date_of, days_of, month_days

# Two leap days on one weekday can be forty years apart, round 2100.
_MAX_YEARS = const(45)

_FIELDS = "minute hour day-of-month month day-of-week"
_LIMITS = (0, 59, 0, 23, 1, 31, 1, 12, 0, 7)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_WEEKDAYS = "sun mon tue wed thu fri sat"


class Cron:
    def __init__(self, expr):
        fields = expr.split()
        if len(fields) != 5:
            raise ValueError(
                'cron "%s": five fields are needed (minute hour day-of-month month '
                "day-of-week), there are %d" % (expr, len(fields))
            )
        self._masks = [_field(expr, index, fields[index]) for index in range(5)]
        weekdays = self._masks[4]
        self._masks[4] = (weekdays | weekdays >> 7) & 0x7F
        self._either_day = fields[2][0] != "*" and fields[4][0] != "*"
        if not self._either_day and not self._has_day():
            raise ValueError('cron "%s": day-of-month never falls in that month' % expr)

    def _has_day(self):
        for month in range(1, 13):
            # 2000 stands for any leap year.
            if self._masks[3] >> month & 1 and self._masks[2] & (2 << month_days(2000, month)) - 1:
                return True
        return False

    def _day_matches(self, day, days):
        by_date = self._masks[2] >> day & 1
        by_weekday = self._masks[4] >> (days + 4) % 7 & 1
        return (by_date or by_weekday) if self._either_day else (by_date and by_weekday)

    def _next_day(self, days):
        """First matching day on or after `days`."""
        year, month, day = date_of(days)
        last_year = year + _MAX_YEARS
        while year <= last_year:
            if self._masks[3] >> month & 1:
                days = days_of(year, month, day)
                for d in range(day, month_days(year, month) + 1):
                    if self._day_matches(d, days):
                        return days
                    days += 1
            day = 1
            month += 1
            if month > 12:
                month = 1
                year += 1
        raise ValueError("no day matches within %d years" % _MAX_YEARS)

    def next_after(self, utc, zone):
        """First match strictly after `utc`, in UTC seconds."""
        wall = utc + zone.offset(utc)
        first_day = wall // 86400
        days = self._next_day(first_day)
        # Minutes of the first day up to and including the present one are over.
        start = wall % 86400 // 60 + 1 if days == first_day else 0
        while True:
            while start < 1440:
                hour = _next_bit(self._masks[1], start // 60, 24)
                if hour > start // 60:
                    start = hour * 60
                if hour == 24:
                    break
                minute = _next_bit(self._masks[0], start % 60, 60)
                start = hour * 60 + minute
                if minute == 60:
                    continue
                found = zone.utc_of(1970, 1, 1 + days, hour, minute)
                # Not so in the second pass of a repeated hour.
                if found > utc:
                    return found
                start += 1
            days = self._next_day(days + 1)
            start = 0


def _next_bit(mask, start, end):
    while start < end and not mask >> start & 1:
        start += 1
    return start


def _field(expr, index, text):
    """Bit mask of one field."""
    low, high = _LIMITS[2 * index], _LIMITS[2 * index + 1]
    mask = 0
    for part in text.split(","):
        span, slash, step = part.partition("/")
        if slash and not (_is_number(step) and 0 < int(step) <= high):
            raise _wrong(expr, index, part, "a step is a number from 1 to %d" % high)
        if span == "*":
            # Sunday is 0 here, or */2 would count it twice.
            first, last = low, (6 if index == 4 else high)
        else:
            begin, dash, end = span.partition("-")
            first = _value(expr, index, part, begin)
            last = _value(expr, index, part, end) if dash else (high if slash else first)
            if slash and not dash and index == 4:
                last = max(first, 6)
            if index == 4 and dash and last == 0 and first > 0:
                last = 7
            if last < first:
                raise _wrong(expr, index, part, "the range runs backwards")
        for value in range(first, last + 1, int(step) if slash else 1):
            mask |= 1 << value
    return mask


def _is_number(text):
    # str.isdigit() takes foreign digits, which int() would then take too.
    return 0 < len(text) <= 4 and all("0" <= char <= "9" for char in text)


def _value(expr, index, part, text):
    if _is_number(text):
        value = int(text)
    else:
        names = (_MONTHS if index == 3 else _WEEKDAYS if index == 4 else "").split()
        if text.lower() not in names:
            raise _wrong(expr, index, part, "not a value")
        value = names.index(text.lower()) + _LIMITS[2 * index]
    if not _LIMITS[2 * index] <= value <= _LIMITS[2 * index + 1]:
        raise _wrong(expr, index, part, "out of range")
    return value


def _wrong(expr, index, part, what):
    return ValueError(
        'cron "%s": %s "%s": %s; allowed are %d-%d, *, lists, ranges and steps'
        % (expr, _FIELDS.split()[index], part, what, _LIMITS[2 * index], _LIMITS[2 * index + 1])
    )
