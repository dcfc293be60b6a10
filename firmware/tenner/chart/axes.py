# tenner chart.axes: round numbers and local times for the axes of a chart.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.store.posix_tz import Zone

_DAY_S = const(86400)
#: Between two marks: minutes, hours, days, weeks.
_STEPS_S = (300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, _DAY_S, 2 * _DAY_S)
_WEEK_S = const(7 * _DAY_S)
# Longer spans have months, not weekdays.
_WEEKDAYS_S = const(15 * _DAY_S)
_DAYS = "MonTueWedThuFriSatSun"
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"


def numbers(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Return (value, text) of up to `most` round numbers from `low` to `high`."""
    raw = (high - low) / most
    power = 0
    while 10.0**power > raw:
        power -= 1
    while 10.0 ** (power + 1) <= raw:
        power += 1
    step = 10.0**power
    for factor in (1, 2, 5, 10):
        if step * factor >= raw:
            step *= factor
            power += factor == 10
            break
    first, last = -int(-low / step // 1), int(high / step // 1)
    found = []
    for number in range(first, last + 1):
        value = number * step
        if abs(value) >= 1e6 or (power < -4 and number):
            text = "%.3g" % value
        else:
            text = "%.*f" % (max(-power, 0), value)
        found.append((value, text))
    return found


def times(zone: "Zone", since: int, until: int, most: int) -> list[tuple[int, str]]:
    """Return (Unix time, text) of up to about `most` round local times between two times."""
    span = until - since
    step = 0
    for step in _STEPS_S:
        if step * most >= span:
            break
    else:
        step = _WEEK_S
        while step * most < span:
            step *= 2
    wall = since + zone.offset(since)
    # 1970 began on a Thursday; weeks begin on Monday.
    phase = 4 * _DAY_S if step >= _WEEK_S else 0
    wall -= (wall - phase) % step
    found = []
    while True:
        utc = zone.utc_of(1970, 1, 1, 0, 0, wall)
        wall += step
        if utc > until:
            return found
        # An hour that the clocks skip or repeat could have its mark twice.
        if utc >= since and (not found or utc > found[-1][0]):
            found.append((utc, _text(zone.local(utc), step, span)))


def _text(local, step, span):
    _, month, day, hour, minute, _, weekday, _ = local
    if step < _DAY_S and (hour or minute):
        return "%02d:%02d" % (hour, minute)
    if span < _WEEKDAYS_S:
        return "%s %d" % (_DAYS[3 * weekday : 3 * weekday + 3], day)
    return "%d %s" % (day, _MONTHS[3 * month - 3 : 3 * month])
