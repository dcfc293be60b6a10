# tenner schedule.sun: sunset and sunrise at a place.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The Sun's place is that of the low-precision formulas of the Astronomical Almanac (page C5, good to
0.01 degree from 1950 to 2050); it sets when its center is 0.833 degrees below the horizon. Below
60 degrees of latitude that is right to a minute. Floats may have 24 bits: a day and its part are
kept apart.
"""

from math import acos, asin, atan2, cos, pi, sin

_RADIANS = pi / 180


def after(rule: str, utc: int) -> int | None:
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
