# tenner schedule.hours: a daily window HH:MM-HH:MM; start included, end not, overnight wraps.
# MIT license; Copyright (c) 2026 the tenner authors


def minute_of_day(text):
    """Minutes since midnight of `HH:MM` up to 24:00; -1 when it is none."""
    if len(text) != 5 or text[2] != ":":
        return -1
    for at in (0, 1, 3, 4):
        if not "0" <= text[at] <= "9":
            return -1
    minute = int(text[:2]) * 60 + int(text[3:])
    return minute if int(text[3:]) < 60 and minute <= 1440 else -1


class Hours:
    def __init__(self, window):
        start, dash, end = window.strip().partition("-")
        self.start = minute_of_day(start.strip())
        self.end = minute_of_day(end.strip())
        if not dash or self.start < 0 or self.end < 0 or self.start == 1440:
            raise ValueError(
                'hours "%s": expected HH:MM-HH:MM such as 08:00-22:00, 24:00 at most' % window
            )
        if self.start == self.end:
            raise ValueError(
                'hours "%s": start and end are equal; write 00:00-24:00 for always, '
                "or leave it out" % window
            )

    def active(self, minute):
        """Whether the window is open at this minute of the day."""
        if self.start < self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end

    def quiet(self):
        """The other side of the window, as text: `22:00-07:00`."""
        start = 0 if self.end == 1440 else self.end
        return "%02d:%02d-%02d:%02d" % (start // 60, start % 60, self.start // 60, self.start % 60)
