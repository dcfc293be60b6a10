"""A curve in braille dots: two by four in each character."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tenner_host.board_clock import Clock, here
from tenner_host.sensors.ring import Series
from tenner_host.sensors.scale import moment, number, value_range
from tenner_host.sensors.shape import is_switch, with_gaps

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_MARGIN = 10


def plot(
    series: Series,
    start: float,
    end: float,
    width: int = 80,
    height: int = 8,
    clock: Clock = here,
) -> Iterator[str]:
    """Draw one series as lines of text."""
    switch = is_switch(series)
    low, high = (0.0, 1.0) if switch else value_range(series)
    labels = ("off", "on") if switch else (number(low), number(high))
    across, down = (width - _MARGIN) * 2, height * 4
    cells = [[0] * (width - _MARGIN) for _ in range(height)]
    span = max(end - start, 1.0)
    before: tuple[int, int] | None = None
    for at, value in zip(*with_gaps(series), strict=True):
        if math.isnan(value):
            before = None
            continue
        column = min(int((at - start) / span * across), across - 1)
        row = down - 1 - round((value - low) / (high - low) * (down - 1))
        for x, top, bottom in _line(before or (column, row), (column, row), switch):
            for y in range(top, bottom + 1):
                cells[y // 4][x // 2] |= _DOTS[x % 2][y % 4]
        before = column, row
    yield series.name
    for line, found in enumerate(cells):
        label = labels[1] if line == 0 else labels[0] if line == height - 1 else ""
        yield f"{label:>{_MARGIN - 2}} ┤" + "".join(chr(0x2800 + cell) for cell in found).rstrip(
            chr(0x2800)
        )
    left = moment(clock(start), end - start)
    right = f"{moment(clock(end), end - start)} {clock(end):%Z}"
    yield " " * _MARGIN + left + right.rjust(width - _MARGIN - len(left))


def _line(
    begin: tuple[int, int], end: tuple[int, int], steps: bool
) -> Iterator[tuple[int, int, int]]:
    """Column, top and bottom row of each column of a line; a step keeps its height until the
    end."""
    (x0, y0), (x1, y1) = begin, end
    before = y0
    for x in range(x0, x1 + 1):
        part = (x - x0) / (x1 - x0) if x1 > x0 else 1.0
        y = y1 if x == x1 else y0 if steps else round(y0 + (y1 - y0) * part)
        yield x, min(before, y), max(before, y)
        before = y
