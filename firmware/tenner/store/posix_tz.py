# tenner store.posix_tz: dates, and the wall clock from a POSIX TZ string or a fixed offset.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Whole numbers only, and days since 1970 on every platform. A time that a change of the clocks skips
is taken as the moment of the change; a repeated one as its first pass.
"""

import re

from tenner.port.compat import const
from tenner.port.package import locate
from tenner.store import files

_DAY_S = const(86400)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
# Name and offset, once or twice: CET-1CEST, <+0330>-3:30.
_NAME = r"(<[^>]+>|[A-Za-z][A-Za-z][A-Za-z]+)"
_NAMES = _NAME + "([-+0-9:]+)" + _NAME + "?([-+0-9:]*)$"
_ISO = r"(\d\d\d\d)-(\d\d)-(\d\d)([T ](\d\d):(\d\d)(:(\d\d)(\.\d+)?)?([Zz]|[-+]\d\d:?\d\d)?)?$"


def days_of(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to the date; a day or month past the end counts on."""
    # Years start in March, so that the leap day is the last day of the year before.
    if month <= 2:
        year -= 1
        month += 12
    days = 365 * year + year // 4 - year // 100 + year // 400
    return days + (153 * (month - 3) + 2) // 5 + day - 719469


def date_of(days: int) -> tuple[int, int, int]:
    """Return (year, month, day) of a number of days since 1970-01-01."""
    days += 719468
    era = days // 146097
    day = days - era * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    year += era * 400
    if month >= 10:
        return year + 1, month - 9, day + 1
    return year, month + 3, day + 1


def month_days(year: int, month: int) -> int:
    """Return the number of days of a month."""
    return days_of(year, month + 1, 1) - days_of(year, month, 1)


def _within(text, low, high):
    value = int(text)
    if not low <= value <= high:
        raise ValueError
    return value


def _seconds(text, max_hours):
    """Return the seconds of [+-]hh[:mm[:ss]]."""
    value = 0
    unit = 3600
    for part in text.lstrip("+-").split(":"):
        value += unit * _within(part, 0, max_hours if unit == 3600 else 59)
        unit //= 60
    return -value if text[0] == "-" else value


def _rule(text):
    """Return one date of change: (month or day of the year, week, weekday, seconds after
    midnight)."""
    date, slash, time = text.partition("/")
    seconds = _seconds(time, 167) if slash else 7200
    if date[:1] == "M":
        month, week, weekday = date[1:].split(".")
        return _within(month, 1, 12), _within(week, 1, 5), _within(weekday, 0, 6), seconds
    if date[:1] == "J":
        # Day 60 is 1 March in every year: the leap day is never counted.
        return _within(date[1:], 1, 365), 0, 1, seconds
    return _within(date, 0, 365) + 1, 0, 0, seconds


def _strikes(rule, year):
    """Return the local seconds since 1970 at which `rule` strikes in `year`."""
    number, week, weekday, seconds = rule
    if week:
        first = days_of(year, number, 1)
        # 1970-01-01 was a Thursday; POSIX counts Sunday as 0.
        day = first + (weekday - (first + 4)) % 7 + 7 * (week - 1)
        if week == 5 and date_of(day)[1] != number:
            day -= 7
    else:
        day = days_of(year, 1, number)
        if weekday and number >= 60:
            day += month_days(year, 2) - 28
    return day * _DAY_S + seconds


def _named(name):
    """Return the rule of a place such as `Asia/Shanghai` in zones.tsv; the name for another."""
    wanted = name.lower().encode()
    for line in files.lines_of(files.blocks(*locate("store/zones.tsv"))):
        place, _, rule = line.partition(b"\t")
        if place.lower() == wanted:
            return rule.decode()
    return name


class Zone:
    """The owner's clock. `text` is its rule: a place is looked up once."""

    def __init__(self, text: str = "UTC0") -> None:
        if "/" in text.partition(",")[0]:
            text = _named(text)
        self.text = text
        self._std = 0
        self._dst: int | None = None
        # The changes of one year, in UTC: worked out when first asked for.
        self._year: int | None = None
        if text in ("UTC", "GMT", "Z"):
            return
        try:
            self._parse(text)
        except (ValueError, IndexError):
            raise ValueError(
                '"%s" is no time zone; write CET-1CEST,M3.5.0,M10.5.0/3 or +02:00; '
                "`tenner setup` knows the rules of all places" % text
            )

    def _parse(self, text):
        if text[0] in "+-":
            # An ISO offset counts east of Greenwich, a POSIX one west of it.
            self._std = _seconds(text, 14)
            return
        names, *rules = text.split(",")
        found = re.compile(_NAMES).match(names)
        if not found or len(rules) not in (0, 2):
            raise ValueError
        self._std = -_seconds(found.group(2), 24)
        if found.group(3):
            offset = found.group(4)
            self._dst = -_seconds(offset, 24) if offset else self._std + 3600
        elif rules or found.group(4):
            raise ValueError
        self._rules = [_rule(rule) for rule in rules or ("M3.2.0", "M11.1.0")]

    def offset(self, utc: int) -> int:
        """Return the seconds to add to UTC at that moment."""
        if self._dst is None:
            return self._std
        year = date_of((utc + self._std) // _DAY_S)[0]
        if year != self._year:
            self._starts = _strikes(self._rules[0], year) - self._std
            self._ends = _strikes(self._rules[1], year) - self._dst
            self._year = year
        if self._starts < self._ends:
            summer = self._starts <= utc < self._ends
        else:
            summer = not self._ends <= utc < self._starts
        return self._dst if summer else self._std

    def local(self, utc: int) -> tuple[int, ...]:
        """Return (year, month, day, hour, minute, second, weekday with Monday 0, day of the
        year)."""
        wall = utc + self.offset(utc)
        days = wall // _DAY_S
        second = wall - days * _DAY_S
        date = date_of(days)
        time = (second // 3600, second // 60 % 60, second % 60)
        return date + time + ((days + 3) % 7, days - days_of(date[0], 1, 1) + 1)

    def tell(self, now: int, trusted: bool) -> str:
        """Return `Saturday 2026-11-21 08:30`, or that the time is not known."""
        if not trusted:
            return "not known (the clock is not set yet)"
        return _DAYS.split()[self.local(now)[6]] + " " + self.short(now)

    def short(self, utc: int) -> str:
        """Return `2026-11-21 08:30`."""
        return "%04d-%02d-%02d %02d:%02d" % self.local(utc)[:5]

    def name(self, utc: int) -> str:
        """Return `UTC+01:00`."""
        return "UTC" + self.iso(utc)[19:]

    def iso(self, utc: int) -> str:
        """Return `2026-11-21T08:30:00+01:00`."""
        east_min = self.offset(utc) // 60
        time = "%04d-%02d-%02dT%02d:%02d:%02d" % self.local(utc)[:6]
        east = (abs(east_min) // 60, abs(east_min) % 60)
        return time + ("-" if east_min < 0 else "+") + "%02d:%02d" % east

    def utc_of(
        self, year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0
    ) -> int:
        """Return the UTC seconds of a local time; the moment of the change when the clocks skip
        it."""
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

    def parse(self, text: str) -> int:
        """Return the UTC seconds of `2026-11-21T08:30[:00][Z|+01:00]`; without a zone it is this
        one's."""
        found = re.compile(_ISO).match(text.strip())
        try:
            date = [int(found.group(place) or 0) for place in (1, 2, 3, 5, 6, 8)]
            if not (date[0] >= 1970 and 1 <= date[1] <= 12):
                raise ValueError
            _within(date[2], 1, month_days(date[0], date[1]))
            for place, high in ((3, 23), (4, 59), (5, 59)):
                _within(date[place], 0, high)
        except (ValueError, AttributeError):
            raise ValueError('"%s" is no date and time; write 2036-11-21T08:30' % text)
        offset = found.group(10)
        if not offset:
            return self.utc_of(*date)
        if len(offset) == 5:
            offset = offset[:3] + ":" + offset[3:]
        return Zone(offset.upper()).utc_of(*date)
