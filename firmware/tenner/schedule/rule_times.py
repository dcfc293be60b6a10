# tenner schedule.rule_times: reads "every day at 7" and the like out of a line's words.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.schedule.rule_words import Stop, Words

#: Where a sentence that is a rule can begin.
STARTS = (
    "when", "every", "daily", "weekdays", "weekends", "hourly", "weekly", "monthly", "yearly",
    "part:am", "part:pm", "sunset", "sunrise", "tomorrow", "between", "cron", "today", "other",
)  # fmt: skip
_BETWEEN = ("fill", "at", "on", "and", "of", "to", "in", "from", "am", ",")


class Times(Words):
    """A line that can name times."""

    def _time(self):
        """Return the clauses of a time: interval, days and hour in any order."""
        every_s = 0
        days = ""
        month_day = ""
        time = ""
        often = ""
        seen = 0
        part = ""
        while True:
            kind = self.kind()
            if kind in _BETWEEN and not (kind == "from" and every_s):
                # "in an hour"
                is_one = self.said(1) in ("a", "an") and self.kind(2)[:2] == "u:"
                if kind == "in" and (is_one or self._is_number(1)):
                    self.at += 1 + is_one
                    return ["once in %ds" % self._duration()]
                if not self._goes_on(days):
                    break
                continue
            if kind in ("tomorrow", "today"):
                self.at += 1
                often = often or "once " + kind
            elif kind == "every" and seen and not time and self._is_number(1):
                # "ogni giorno alle 7"
                self.at += 1
                time = self._clock(part)
            elif kind == "every" or (self._is_number() and self._is_per()):
                seconds = self._every()
                if seconds:
                    every_s = seconds
                else:
                    often = often or "days"
            elif kind in ("daily", "hourly", "weekly", "monthly", "yearly"):
                self.at += 1
                often = kind
            elif kind in ("weekdays", "weekends"):
                self.at += 1
                days = "1-5" if kind == "weekdays" else "0,6"
            elif kind[:2] == "d:":
                days = self._days(days)
            elif kind[:5] == "part:" or kind in ("pm", "am"):
                self.at += 1
                part = "am" if kind in ("am", "part:am") else "pm"
                if kind[:5] == "part:":
                    often = often or "daily"
            elif self._is_later():
                seconds = self._duration()
                self.at += 1
                return ["once in %ds" % seconds]
            elif kind in ("sunset", "sunrise") or self._is_sun_offset():
                time = self._sun()
            elif kind in ("first", "n:1") or (self._is_number() and self.kind(1) == "th"):
                month_day = "1" if kind in ("first", "n:1") else self._number()
                self.at += 1
                self._skip("th")
            elif not time and (self._is_number() or kind[:5] == "time:"):
                time = self._clock("")
                if self.kind(-1) in ("am", "pm"):
                    part = ""
            else:
                break
            seen += 1
        if not seen:
            raise Stop
        return self._as_clauses(every_s, days, month_day, _shifted(time, part), often, part)

    def _is_later(self):
        """Return whether "10 minutes from now" stands here."""
        sun = "sunset", "sunrise"
        return (
            self._is_number() and self.kind(1)[:2] == "u:" and self.kind(2) in ("later", "after")
            and self.kind(3) not in sun and self.kind(4) not in sun
        )  # fmt: skip

    def _goes_on(self, days):
        """Skip a word between, which counts only if a time follows."""
        back = self.at
        self.at += 1
        if not self._is_time_word() or (self.kind(-1) == "and" and not days):
            self.at = back
            return False
        return True

    def _is_time_word(self):
        kind = self.kind()
        return (
            kind in STARTS + ("at", "on", "first", "fill", "am", "pm", "of", "in")
            or kind[:2] == "d:" or kind[:5] in ("time:",) or self._is_number()
        )  # fmt: skip

    def _is_per(self):
        return self.kind(1)[:2] in ("u:", "cl") and self.kind(2) in ("per", "every")

    def _every(self):
        """Return the seconds of `every 10 minutes`; 0 where days follow."""
        if self.kind() == "every":
            self.at += 1
            if self.kind() in ("other", "every", "daily", "hourly"):
                raise Stop
            self._skip("fill")
            if self.kind()[:2] == "d:" or self.kind() in STARTS:
                return 0
            seconds = self._duration()
            self._skip("per")
            return seconds
        seconds = self._duration()
        self.at += 1
        return seconds

    def _days(self, days):
        """Return the days of `mon-fri`, `mon, wed and fri`."""
        first = self.kind()[2:]
        self.at += 1
        if self.kind() in ("-", "to", "from") and self.kind(1)[:2] == "d:":
            last = self.kind(1)[2:]
            self.at += 2
            first = "%s-%s" % (first, "7" if last == "0" else last)
        days = days + "," + first if days else first
        if self.kind() in (",", "/", "and", "+", "&") and self.kind(1)[:2] == "d:":
            self.at += 1
            return self._days(days)
        return days

    def _is_sun_offset(self):
        return self._is_number() and self.kind(1)[:2] == "u:" and (
            self.kind(2) in ("before", "after")
        ) and self.kind(3) in ("sunset", "sunrise", "fill")  # fmt: skip

    def _sun(self):
        offset = 0
        if self._is_number():
            offset = self._duration()
            offset = -offset if self.kind() == "before" else offset
            self.at += 1
            self._skip("fill")
        name = self.kind()
        if name not in ("sunset", "sunrise"):
            raise Stop
        self.at += 1
        self._skip("fill")
        if self._is_number() and self.kind(1)[:2] == "u:" and self.kind(2) in ("before", "after"):
            offset = self._duration()
            offset = -offset if self.kind() == "before" else offset
            self.at += 1
        if self.kind() in ("-", "+") and self._is_number(1):
            sign = -1 if self.kind() == "-" else 1
            self.at += 1
            offset = sign * self._duration()
        elif self.kind() == "num" and self.said()[0] in "+-":
            sign = -1 if self.said()[0] == "-" else 1
            self.tokens[self.at] = ("num", self.said()[1:]) + self.tokens[self.at][2:]
            offset = sign * self._duration()
        return "%s%+d" % (name, offset // 60) if offset else name

    def _as_clauses(self, every_s, days, month_day, time, often, part):
        if often[:4] == "once":
            if not time or time[:3] == "sun" or every_s or days or month_day:
                raise Stop
            return ["once %s%s" % ("tomorrow " if often[5:] == "tomorrow" else "", time)]
        if every_s:
            # With an hour it would be a day, which says nothing about the hour.
            if time or days or month_day:
                if every_s not in (86400, 604800):
                    raise Stop
            else:
                return ["every %ds" % every_s]
        if often == "hourly" and not (days or time):
            return ["every 3600s"]
        if not time:
            if days and often in ("weekly", "days", ""):
                time = "09:00" if often else ""
            elif month_day or often in ("monthly", "yearly"):
                time = "09:00"
            elif often == "weekly":
                return ["every 604800s"]
            if not time:
                raise Stop
        elif not (days or month_day or often or every_s) and time[:3] != "sun":
            raise Stop
        if time[:3] == "sun":
            if days or month_day:
                raise Stop
            return ["cron " + time]
        minute, hour = int(time[3:]), int(time[:2])
        if often in ("monthly", "yearly") and not days or month_day:
            month = "1" if often == "yearly" else "*"
            return ["cron %d %d %s %s *" % (minute, hour, month_day or "1", month)]
        if days:
            return ["cron %d %d * * %s" % (minute, hour, days)]
        if often == "weekly":
            raise Stop
        return ["daily " + time]

    def _hours(self):
        self.at += 1
        part = ""
        start = self._clock(part)
        if self.kind() not in ("and", "to", "-", "from", "a"):
            raise Stop
        self.at += 1
        self._skip("fill", "at")
        return "hours %s-%s" % (start, self._clock(part))


def _shifted(time, part):
    """Return HH:MM of an evening that was written without pm."""
    if part == "pm" and "05" <= time < "12":
        return "%02d%s" % (int(time[:2]) + 12, time[2:])
    return time
