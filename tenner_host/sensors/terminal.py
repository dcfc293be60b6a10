"""A curve in braille dots: two by four in each character."""

from __future__ import annotations

from collections.abc import Iterator

from tenner_host.sensors.ring import Series
from tenner_host.sensors.scale import columns, moment, number, value_range

_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_MARGIN = 10


def plot(
    series: Series, start: float, end: float, width: int = 80, height: int = 8
) -> Iterator[str]:
    """Draw one series as lines of text."""
    low, high = value_range(series)
    across, down = (width - _MARGIN) * 2, height * 4
    cells = [[0] * (width - _MARGIN) for _ in range(height)]
    before: int | None = None

    def row(value: float) -> int:
        return down - 1 - round((value - low) / (high - low) * (down - 1))

    for place, span in enumerate(columns(series, start, end, across)):
        if span is None:
            continue
        top, bottom = row(span[1]), row(span[0])
        if before is not None:
            # Joined to the dot before, so that a steep step is a line.
            top, bottom = min(top, before), max(bottom, before)
        for dot in range(top, bottom + 1):
            cells[dot // 4][place // 2] |= _DOTS[place % 2][dot % 4]
        before = row((span[0] + span[1]) / 2)
    yield series.name
    for line, found in enumerate(cells):
        label = number(high) if line == 0 else number(low) if line == height - 1 else ""
        yield f"{label:>{_MARGIN - 2}} ┤" + "".join(chr(0x2800 + cell) for cell in found).rstrip(
            chr(0x2800)
        )
    left, right = moment(start, end - start), moment(end, end - start)
    yield " " * _MARGIN + left + right.rjust(width - _MARGIN - len(left))
