# tenner chart.layout: computes where the parts of a chart and the marks of its axes are.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Two passes go over the readings: the first finds their extent, the second reduces them to the least
and the greatest height in each column. So no spike is lost. This code makes room for that of
chart.picture, so its result is data alone.
"""

from tenner.chart import font
from tenner.chart.picture import AREA, PARTS, RIGHT, TOP, WIDTH
from tenner.chart.series import Columns, Extent
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Awaitable, Callable, Sequence

    from tenner.store.posix_tz import Zone

_SCALE = const(6)  # round numbers at most
_LABEL_WIDTH = const(78)  # pixels of a time, and the space beside it
_LETTERS = const(51)  # of the title

_DAY_S = const(86400)
#: Between two marks: minutes, hours, days, weeks.
_STEPS_S = (300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, _DAY_S, 2 * _DAY_S)
_WEEK_S = const(7 * _DAY_S)
# Longer spans have months, not weekdays.
_WEEKDAYS_S = const(15 * _DAY_S)
_DAYS = "MonTueWedThuFriSatSun"
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"


class Layout:
    """The parts of a chart, in pixels; it has no methods, which would keep their code alive."""

    heading: str
    #: The newest value and its time.
    newest: str
    #: Where the area of the line begins.
    left: int
    #: (row, text) of the round numbers, (column, text) of the times.
    scale: list[tuple[int, str]]
    times: list[tuple[int, str]]
    #: (first column, end) of the alarms, the rows of their numbers.
    bands: list[tuple[int, int]]
    levels: list[int]
    #: The line, see series.Columns.
    top: "array"
    bottom: "array"
    #: The least and the greatest value.
    low: float
    high: float


async def make(
    name: str,
    unit: str,
    zone: "Zone",
    since: int,
    until: int,
    visit: "Callable[[Callable[[int, float], None]], Awaitable[None]]",
    bands: "Sequence[tuple[int, int]]" = (),
    levels: "Sequence[float]" = (),
) -> Layout | None:
    """
    Return the Layout of a value's readings between two times, None without any. `await
    visit(take)` calls take(time, value) for each, twice the same; `bands` has (start, end) of
    alarms, `levels` their numbers.
    """
    extent = Extent()
    await visit(extent.take)
    if not extent.count:
        return None
    made = Layout()
    made.low, made.high = extent.low, extent.high
    switch = extent.binary and not unit
    if switch:
        low, high, scale = -0.15, 1.15, [(0, "off"), (1, "on")]
    else:
        low, high = _margins(extent.low, extent.high)
        scale = numbers(low, high, _SCALE)
    left = made.left = max([len(text) for _, text in scale]) * font.WIDTH + 14
    count = WIDTH - RIGHT - left
    factor = AREA * PARTS / (high - low)

    def place(value):
        return min(max(int((high - value) * factor + 0.5), 0), AREA * PARTS)

    columns = Columns(count, AREA * PARTS, since, until, place, extent.gap_s(), switch)

    def column(time):
        at = (min(max(time, since), until) - since) // columns.unit
        return left + at * (count - 2) // columns.span

    made.bands = []
    for start, end in bands:
        if end >= since and start <= until:
            made.bands.append((column(start), column(end) + 2))
    made.times = []
    for time, text in times(zone, since, until, count // _LABEL_WIDTH):
        made.times.append((column(time), text))
    made.scale = [(TOP + place(value) // PARTS, text) for value, text in scale]
    made.levels = []
    for value in levels:
        if low < value < high and not switch:
            made.levels.append(TOP + place(value) // PARTS)
    newest = made.newest = _newest(extent, unit, switch, zone, until)
    title = ("%s %s" % (name, unit)).strip()
    if len(title) + len(newest) >= _LETTERS:
        title = title[: _LETTERS - len(newest) - 3] + ".."
    made.heading = title
    await visit(columns.take)
    made.top, made.bottom = columns.top, columns.bottom
    return made


def _margins(low, high):
    """Return the ends of the scale: a little more than the values take."""
    span = high - low
    # A constant value needs a scale on which its noise is none.
    greatest = max(abs(low), abs(high))
    if span < greatest / 1000 or not span:
        least = greatest / 20 or 1
        low -= least / 2
        high += least / 2
        span = high - low
    return low - span / 16, high + span / 16


def _newest(extent, unit, switch, zone, until):
    """Return `21.4 C, 12:35` of the newest reading, with the date of another day."""
    value = ("off", "on")[int(extent.value)] if switch else ("%.4g %s" % (extent.value, unit))
    at, now = zone.short(extent.last), zone.short(until)
    return "%s, %s" % (value.strip(), at[11:] if at[:10] == now[:10] else at[5:])


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
