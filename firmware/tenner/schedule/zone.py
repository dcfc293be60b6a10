# tenner schedule.zone: the owner's wall clock, from a POSIX TZ string or a fixed offset.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Whole numbers only and 1970 on every platform. A time that a change of the clocks skips is
taken as the moment of the change; a repeated one as its first pass.
"""

from tenner.port.compat import const
from tenner.schedule.civil import date_of, days_of, is_leap

_DAY_S = const(86400)


def _bad(text, what):
    return ValueError(
        'time zone "%s": %s; write a POSIX string such as CET-1CEST,M3.5.0,M10.5.0/3 '
        "or a fixed offset such as +02:00" % (text, what)
    )


_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"


class _Reader:
    """Walks over the characters of one TZ string."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def peek(self):
        return self.text[self.at : self.at + 1]

    def take(self, char):
        if self.peek() != char:
            return False
        self.at += 1
        return True

    def name(self):
        start = self.at
        if self.take("<"):
            while self.peek() not in ("", ">"):
                self.at += 1
            if not self.take(">"):
                raise _bad(self.text, "a name opened by < is not closed by >")
            return
        while self.peek().isalpha():
            self.at += 1
        if self.at - start < 3:
            raise _bad(self.text, "a zone's name has at least three letters")

    def number(self, low, high):
        start = self.at
        while self.peek().isdigit() and self.at - start < 4:
            self.at += 1
        if start == self.at:
            raise _bad(self.text, "a number is missing at character %d" % (start + 1))
        value = int(self.text[start : self.at])
        if not low <= value <= high:
            raise _bad(self.text, "%d is not within %d and %d" % (value, low, high))
        return value

    def seconds(self, max_hours):
        """[+-]hh[:mm[:ss]]"""
        sign = -1 if self.take("-") else 1
        if sign == 1:
            self.take("+")
        value = 3600 * self.number(0, max_hours)
        if self.take(":"):
            value += 60 * self.number(0, 59)
            if self.take(":"):
                value += self.number(0, 59)
        return sign * value

    def rule(self):
        """One date of change: (kind, month or day, week, weekday, seconds after midnight)."""
        if not self.take(","):
            raise _bad(self.text, "both dates of change are needed")
        kind, a, week, weekday = "n", 0, 0, 0
        if self.take("M"):
            kind = "M"
            a = self.number(1, 12)
            if self.take("."):
                week = self.number(1, 5)
            if not week or not self.take("."):
                raise _bad(self.text, "a rule looks like M3.5.0 (month, week, weekday)")
            weekday = self.number(0, 6)
        elif self.take("J"):
            kind = "J"
            a = self.number(1, 365)
        else:
            a = self.number(0, 365)
        seconds = self.seconds(167) if self.take("/") else 7200
        return (kind, a, week, weekday, seconds)


def _rule_seconds(rule, year):
    """Local seconds since 1970 at which `rule` strikes in `year`."""
    kind, a, week, weekday, seconds = rule
    if kind == "M":
        first = days_of(year, a, 1)
        # 1970-01-01 was a Thursday; POSIX counts Sunday as 0.
        day = first + (weekday - (first + 4)) % 7 + 7 * (week - 1)
        if week == 5 and date_of(day)[1] != a:
            day -= 7
    else:
        day = days_of(year, 1, 1) + a
        if kind == "J":
            # Day 60 is 1 March in every year: the leap day is never counted.
            day += 0 if is_leap(year) and a >= 60 else -1
    return day * _DAY_S + seconds


class Zone:
    def __init__(self, text="UTC0"):
        self.text = text
        self._std = 0
        self._dst = None
        # The changes of one year, in UTC: worked out when first asked for.
        self._year = None
        self._starts = 0
        self._ends = 0
        if text in ("UTC", "GMT", "Z"):
            return
        reader = _Reader(text)
        if text[:1] in ("+", "-"):
            # An ISO offset counts east of Greenwich, a POSIX one west of it.
            self._std = reader.seconds(14)
        else:
            if "/" in text and "," not in text:
                raise _bad(text, "the board knows no place names, `tenner setup` looks them up")
            reader.name()
            self._std = -reader.seconds(24)
            if reader.peek() and reader.peek() != ",":
                reader.name()
                self._dst = self._std + 3600
                if reader.peek() not in ("", ","):
                    self._dst = -reader.seconds(24)
                if reader.peek():
                    self._rules = (reader.rule(), reader.rule())
                else:
                    self._rules = (("M", 3, 2, 0, 7200), ("M", 11, 1, 0, 7200))
        if reader.peek():
            raise _bad(text, "not understood from character %d on" % (reader.at + 1))

    def _changes(self, year):
        if year != self._year:
            self._starts = _rule_seconds(self._rules[0], year) - self._std
            self._ends = _rule_seconds(self._rules[1], year) - self._dst
            self._year = year

    def offset(self, utc):
        """Seconds to add to UTC at that moment."""
        if self._dst is None:
            return self._std
        self._changes(date_of((utc + self._std) // _DAY_S)[0])
        if self._starts < self._ends:
            summer = self._starts <= utc < self._ends
        else:
            summer = not self._ends <= utc < self._starts
        return self._dst if summer else self._std

    def local(self, utc):
        """(year, month, day, hour, minute, second, weekday with Monday 0, day of the year)."""
        wall = utc + self.offset(utc)
        days = wall // _DAY_S
        second = wall - days * _DAY_S
        year, month, day = date_of(days)
        return (
            year,
            month,
            day,
            second // 3600,
            second // 60 % 60,
            second % 60,
            (days + 3) % 7,
            days - days_of(year, 1, 1) + 1,
        )

    def tell(self, now, trusted):
        """`Saturday 2026-11-21 08:30`, or that nobody knows."""
        if not trusted:
            return "not known (the clock is not set yet)"
        local = self.local(now)
        return "%s %04d-%02d-%02d %02d:%02d" % ((_DAYS.split()[local[6]],) + local[:5])

    def utc_of(self, year, month, day, hour=0, minute=0, second=0):
        """UTC of a local time; the moment of the change when the clocks skip it."""
        wall = days_of(year, month, day) * _DAY_S + hour * 3600 + minute * 60 + second
        if self._dst is None:
            return wall - self._std
        east, west = max(self._std, self._dst), min(self._std, self._dst)
        # The first pass of a repeated hour is the one with the larger offset.
        for offset in (east, west):
            if self.offset(wall - offset) == offset:
                return wall - offset
        # self.offset() has just worked out the changes of this year.
        if wall - east < self._starts <= wall - west:
            return self._starts
        return self._ends


def iso_local(zone, utc):
    """`2026-11-21T08:30:00` on the owner's wall clock."""
    return "%04d-%02d-%02dT%02d:%02d:%02d" % zone.local(utc)[:6]
