"""A chart drawn a second time, in another way: with numpy, fractions, decimals and zoneinfo. Only
the colors and the shapes of the letters are the firmware's."""

from __future__ import annotations

import datetime
import math
import statistics
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np

from tenner.chart import font

WIDTH, HEIGHT = 640, 320
TOP, AREA, RIGHT, PARTS = 36, 248, 16, 4
TEXT, LABEL, GRID, AXIS, BAND, BAND_GRID, LEVEL, CURVE = range(1, 9)
CORNER = 15
STEPS = (300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800)
DAY = 86400


def letter(sign):
    """The 16 x 12 pixels of a letter: 1 for the dots, 2 for the halves that smooth a diagonal."""
    place = 95 if sign == "\u00b0" else ord(sign) - 32 if " " <= sign <= "~" else 31
    rows = font._ROWS[8 * place : 8 * place + 8]
    dots = np.array([[row >> bit & 1 for bit in range(4, -1, -1)] for row in rows])
    dots = np.pad(dots, 1)
    found = np.zeros((16, 12), int)
    for y in range(8):
        for x in range(5):
            for down in (0, 1):
                for right in (0, 1):
                    here = dots[y + 1, x + 1]
                    beside = dots[y + 1, x + (2 if right else 0)]
                    over = dots[y + (2 if down else 0), x + 1]
                    across = dots[y + (2 if down else 0), x + (2 if right else 0)]
                    smooth = not here and beside and over and not across
                    found[2 * y + down, 2 * x + right] = here or 2 * smooth
    return found


def write(canvas, x, y, text, color):
    for sign in text:
        area = canvas[y : y + 16, x : x + 12]
        shape = letter(sign)[:, : area.shape[1]]
        area[shape == 1] = color
        area[shape == 2] = CORNER
        x += 12


def scale(low, high):
    """The round numbers of the scale: at most six, as far apart as 1, 2 or 5 with zeros."""
    steps = (Decimal(m).scaleb(e) for e in range(-40, 40) for m in (1, 2, 5))
    step = next(one for one in steps if float(one) >= (high - low) / 6)
    first, last = math.ceil(low / float(step)), math.floor(high / float(step))
    places = max(-step.adjusted(), 0)
    found = []
    for number in range(first, last + 1):
        value = number * float(step)
        short = abs(value) >= 1e6 or (step < Decimal("0.0001") and number)
        found.append((value, f"{value:.3g}" if short else f"{number * step:.{places}f}"))
    return found


def ticks(zone, since, until, most):
    """(time, text) of the marks: each local time that is a whole number of steps since the start
    of a Monday."""
    span = until - since
    step = next((one for one in STEPS if one * most >= span), None)
    if step is None:
        step = 7 * DAY
        while step * most < span:
            step *= 2
    place = ZoneInfo(zone)
    monday = datetime.datetime(1970, 1, 5)
    found = {}
    for wall in range((since - 2 * DAY) // 300 * 300, until + 2 * DAY, 300):
        local = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=wall)
        origin = monday if step >= 7 * DAY else datetime.datetime(1970, 1, 1)
        if (local - origin).total_seconds() % step:
            continue
        utc = int(local.replace(tzinfo=place).timestamp())
        if not since <= utc <= until or utc in found:
            continue
        now = datetime.datetime.fromtimestamp(utc, place)
        if step < DAY and (now.hour or now.minute):
            found[utc] = f"{now:%H:%M}"
        elif span < 15 * DAY:
            found[utc] = f"{now:%a} {now.day}"
        else:
            found[utc] = f"{now.day} {now:%b}"
    return sorted(found.items())


def draw(case):
    """The indices of the colors of all pixels, HEIGHT x WIDTH."""
    since, until, unit = case["since"], case["until"], case["unit"]
    readings = [(at, value) for at, value in case["readings"]]
    values = [value for _, value in readings]
    switch = not unit and set(values) <= {0, 1}
    low, high = min(values), max(values)
    if switch:
        low, high, numbers = -0.15, 1.15, [(0, "off"), (1, "on")]
    else:
        greatest = max(abs(low), abs(high))
        if high - low < greatest / 1000 or high == low:
            least = greatest / 20 or 1
            low, high = low - least / 2, high + least / 2
        low, high = low - (high - low) / 16, high + (high - low) / 16
        numbers = scale(low, high)
    left = 12 * max(len(text) for _, text in numbers) + 14
    right = WIDTH - RIGHT
    count = right - left
    unit_s = (until - since) // (1 << 20) + 1
    span = (until - since) // unit_s

    def column(at):
        return (at - since) // unit_s * (count - 2) // span

    def height(value):
        part = math.floor((high - value) * (AREA * PARTS / (high - low)) + 0.5)
        return min(max(part, 0), AREA * PARTS)

    canvas = np.zeros((HEIGHT, WIDTH), int)
    area = canvas[TOP : TOP + AREA]
    for start, end in case["bands"]:
        if end >= since and start <= until:
            first, last = column(max(start, since)), column(min(end, until))
            area[:, left + first : left + last + 2] = BAND
    times = ticks(case["zone"][1], since, until, count // 78)
    for at, _ in times:
        x = left + column(at)
        area[:, x] = np.where(area[:, x] == 0, GRID, BAND_GRID)
    for value, _ in numbers:
        row = area[height(value) // PARTS, left:right]
        row[:] = np.where((row == BAND) | (row == BAND_GRID), BAND_GRID, GRID)
    for value in case["levels"]:
        if low < value < high and not switch:
            for y in (TOP + height(value) // PARTS, TOP + height(value) // PARTS + 1):
                for x in range(left, right):
                    if x // 2 % 6 < 4:
                        canvas[y, x] = LEVEL
    curve(area[:, left:right], readings, column, height, switch)

    canvas[TOP + AREA, left:right] = AXIS
    for at, text in times:
        x = left + column(at)
        canvas[TOP + AREA + 1 : TOP + AREA + 6, x] = AXIS
        width = 12 * len(text)
        start = min(x - width // 2, WIDTH - 2 - width)
        write(canvas, start // 2 * 2, 294, text, LABEL)
    for value, text in numbers:
        start = (left - 8) // 2 * 2 - 12 * len(text)
        write(canvas, start, TOP + height(value) // PARTS - 7, text, LABEL)
    newest = ("off", "on")[int(values[-1])] if switch else f"{values[-1]:.4g} {unit}".strip()
    place = ZoneInfo(case["zone"][1])
    at = datetime.datetime.fromtimestamp(readings[-1][0], place)
    now = datetime.datetime.fromtimestamp(until, place)
    newest += f", {at:%H:%M}" if at.date() == now.date() else f", {at:%m-%d %H:%M}"
    title = f"{case['name']} {unit}".strip()
    if len(title) + len(newest) >= 51:
        title = title[: 48 - len(newest)] + ".."
    write(canvas, 12, 8, title, TEXT)
    write(canvas, (right - 12 * len(newest)) // 2 * 2, 8, newest, LABEL)
    return canvas


def curve(area, readings, column, height, switch):
    """Draw the line: from reading to reading with a pen two columns wide and 2.5 rows high, and in
    each column everything between the highest and the lowest place of the pen."""
    pen = {}

    def mark(x, *heights):
        for place in (x, x + 1):
            pen.setdefault(place, []).extend(heights)

    distances = [b - a for (a, _), (b, _) in zip(readings, readings[1:], strict=False) if b > a]
    gap = statistics.median_low(distances) * 5 // 2 if distances else 0
    before = None
    for at, value in readings:
        x, y = column(at), height(value)
        if before is None or not 0 < at - before[0] <= gap:
            for place in (x - 1, x, x + 1):
                if 0 <= place < area.shape[1] - 1:
                    mark(place, y)
        elif switch:
            for between in range(before[1], x + 1):
                mark(between, before[2])
            mark(x, y)
        else:
            steps = x - before[1]
            for step in range(steps + 1):
                ends = []
                for end in (2 * step - 1, 2 * step + 1):
                    if not steps or not 0 < end < 2 * steps:
                        ends.append(before[2] if end < 0 else y)
                    else:
                        ends.append(
                            math.floor(before[2] + Fraction((y - before[2]) * end, 2 * steps))
                        )
                if not steps:
                    ends = [before[2], y]
                mark(before[1] + step, *ends)
        before = (at, x, y)
    fine = np.zeros((AREA * PARTS, area.shape[1]), int)
    for x, heights in pen.items():
        fine[max(min(heights) - 5, 0) : max(heights) + 5, x] = 1
    covered = fine.reshape(AREA, PARTS, -1).sum(axis=1)
    banded = (area == BAND) | (area == BAND_GRID)
    shade = np.where(covered == PARTS, CURVE, np.where(banded, 11, 8) + covered)
    area[covered > 0] = shade[covered > 0]
