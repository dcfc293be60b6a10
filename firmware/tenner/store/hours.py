# tenner store.hours: a daily window HH:MM-HH:MM; start included, end not, overnight wraps.
# MIT license; Copyright (c) 2026 the tenner authors


def minute_of_day(text: str) -> int:
    """Return the minutes since midnight of `HH:MM` up to 24:00; -1 when it is no time."""
    hour, colon, minute = text.partition(":")
    # isdigit() of str takes foreign digits too, of bytes it does not.
    if len(hour) != 2 or len(minute) != 2 or not (hour + minute).encode().isdigit():
        return -1
    total = int(hour) * 60 + int(minute)
    return total if minute < "60" and total <= 1440 else -1


class Hours:
    def __init__(self, window: str) -> None:
        start, _, end = window.partition("-")
        self.start = minute_of_day(start.strip())
        self.end = minute_of_day(end.strip())
        if self.start in (-1, 1440, self.end) or self.end < 0:
            raise ValueError(
                '"%s": expected HH:MM-HH:MM such as 08:00-22:00, 24:00 at most; '
                "start and end are never equal" % window
            )

    def active(self, minute: int) -> bool:
        """Return whether the window is open at this minute of the day."""
        if self.start < self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end

    def quiet(self) -> str:
        """Return the other side of the window, as text: `22:00-07:00`."""
        return "%02d:%02d-%02d:%02d" % (divmod(self.end % 1440, 60) + divmod(self.start, 60))
