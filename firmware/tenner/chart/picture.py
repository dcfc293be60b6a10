# tenner chart.picture: draws the picture of a chart, one row after the other.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The picture has 640 x 320 pixels. The line runs between a scale of round numbers and one of local
times. Bands show active alarms, and dashed lines the numbers of their conditions. Memory holds two
rows.
"""

from array import array

from tenner.chart import font
from tenner.chart.png import Png
from tenner.port.compat import const, sleep_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tenner.chart.types import Drawing

WIDTH = const(640)
HEIGHT = const(320)
#: The first row of the line's area and its height.
TOP = const(36)
AREA = const(248)
#: Parts of a pixel in which heights are measured.
PARTS = const(4)
#: Pixels at the right side.
RIGHT = const(16)

_TITLE = const(8)
_TIMES = const(294)
_TICK = const(5)  # rows below the area
_ROWS = const(8)  # between two pauses
_MANY = const(64)  # columns that a row crosses; longer lists need long free blocks

# The colors: of texts, of lines behind the curve, of an alarm, of the curve. Three paler shades of
# the curve on white follow, and three on the band of an alarm.
_TEXT = const(1)
_LABEL = const(2)
_GRID = const(3)
_AXIS = const(4)
_BAND = const(5)
_BAND_GRID = const(6)
_LEVEL = const(7)
_CURVE = const(8)
_SHADE = const(8)
_BAND_SHADE = const(11)
_CORNER = const(15)
PALETTE = (
    b"\xff\xff\xff\x1f\x23\x28\x59\x63\x6e\xe4\xe8\xec\x8c\x95\x9f\xfd\xe3\xe0\xf2\xca\xc6"
    b"\xd1\x24\x2f\x09\x69\xda\xc2\xda\xf6\x84\xb4\xed\x47\x8f\xe3\xc0\xc5\xde\x83\xa6\xdd"
    b"\x46\x88\xdb\xb4\xba\xc1"
)


async def draw(write: "Callable[[bytes | memoryview], object]", layout: "Drawing") -> None:
    """Write the PNG of a chart."""
    rows = _Rows(layout)
    png = Png(write, WIDTH, HEIGHT, PALETTE)
    for y in range(HEIGHT):
        png.row(*rows.row(y))
        if not y % _ROWS:
            await sleep_ms(0)
    png.end()


class _Rows:
    """The state of the drawing from row to row."""

    def __init__(self, layout: "Drawing") -> None:
        self._layout = layout
        self._row = bytearray(WIDTH // 2)
        self._blank = bytes(self._row)
        # The background of the line: with the bands, and on the rows of the scale.
        plain = self._plain = bytearray(WIDTH // 2)
        for start, end in layout.bands:
            for x in range(start, end):
                _dot(plain, x, _BAND)
        for x, _ in layout.times:
            _dot(plain, x, _BAND_GRID if _color(plain, x) else _GRID)
        lined = self._lined = bytearray(plain)
        for x in range(layout.left, WIDTH - RIGHT):
            _dot(lined, x, _BAND_GRID if _color(plain, x) in (_BAND, _BAND_GRID) else _GRID)
        # Lists of columns: of those that begin in a row, and of those that go on into the present
        # one. Each is the number of its first column plus 1, and `_after` has the next by column.
        self._begin: array | None = None
        self._after = array("H", bytes(2 * len(layout.top)))
        self._crossing = 0
        # Does the row above have another background, and the bytes that the line has in it; None
        # for many of them.
        self._changed = True
        self._crossed: list[int] | None = []

    def row(self, y: int) -> "tuple[bytearray, list[int] | None]":
        """Return (the row `y`, valid until the next; the bytes that may differ from the one above,
        None for all)."""
        row = self._row
        layout = self._layout
        places = None
        row[:] = self._blank
        if TOP <= y < TOP + AREA:
            changed = self._lines(row, y)
            before = self._crossed
            self._curve(row, (y - TOP) * PARTS)
            crossed = self._crossed
            if not (changed or self._changed or before is None or crossed is None):
                places = sorted(set(before + crossed))
            self._changed = changed
        elif _TITLE <= y < _TITLE + font.HEIGHT:
            right = (WIDTH - RIGHT - len(layout.newest) * font.WIDTH) // 2
            font.paint(row, 6, layout.heading, y - _TITLE, _TEXT, _CORNER)
            font.paint(row, right, layout.newest, y - _TITLE, _LABEL, _CORNER)
        elif y == TOP + AREA:
            for x in range(layout.left, WIDTH - RIGHT):
                _dot(row, x, _AXIS)
        elif TOP + AREA < y <= TOP + AREA + _TICK:
            for x, _ in layout.times:
                _dot(row, x, _AXIS)
        elif _TIMES <= y < _TIMES + font.HEIGHT:
            for x, text in layout.times:
                width = len(text) * font.WIDTH
                start = min(x - width // 2, WIDTH - 2 - width)
                font.paint(row, start // 2, text, y - _TIMES, _LABEL, _CORNER)
        for at, text in layout.scale:
            line = y - at + font.HEIGHT // 2 - 1
            if 0 <= line < font.HEIGHT:
                start = (layout.left - 8) // 2 - len(text) * font.WIDTH // 2
                font.paint(row, start, text, line, _LABEL, _CORNER)
            if places is not None and 0 <= line <= font.HEIGHT:
                places = list(range(layout.left // 2)) + places
        return row, places

    def _lines(self, row, y):
        """Draw the background of the line; return whether this row has more than the others."""
        row[:] = self._plain
        changed = False
        for at, _ in self._layout.scale:
            if y == at:
                row[:] = self._lined
                changed = True
        for at in self._layout.levels:
            if 0 <= y - at < 2:
                changed = True
                for byte in range(self._layout.left // 2, (WIDTH - RIGHT) // 2):
                    if byte % 6 < 4:
                        row[byte] = _LEVEL * 17
        return changed

    def _curve(self, row, above):
        """Draw the line where it crosses the row, whose upper edge is `above`."""
        top, bottom = self._layout.top, self._layout.bottom
        after = self._after
        if self._begin is None:
            begin = self._begin = array("H", bytes(2 * AREA + 2))
            for at in range(len(top)):
                if bottom[at]:
                    after[at] = begin[top[at] // PARTS]
                    begin[top[at] // PARTS] = at + 1
        below = above + PARTS
        left = self._layout.left
        columns, going = self._crossing, 0
        crossed: list[int] | None = []
        begins = self._begin[above // PARTS]
        while columns or begins:
            if not columns:
                columns, begins = begins, 0
            at = columns - 1
            columns = after[at]
            start, end = top[at], bottom[at]
            if end > below:
                after[at] = going
                going = at + 1
                end = below
            covered = end - max(start, above)
            x = left + at
            byte = x >> 1
            if crossed is not None:
                if len(crossed) < _MANY:
                    crossed.append(byte)
                else:
                    crossed = None
            behind = row[byte]
            color = _CURVE
            if covered < PARTS:
                under = behind & 15 if x & 1 else behind >> 4
                color = covered + (_BAND_SHADE if under in (_BAND, _BAND_GRID) else _SHADE)
            row[byte] = behind & 240 | color if x & 1 else behind & 15 | color << 4
        self._crossing = going
        self._crossed = crossed


def _dot(row, x, color):
    byte = x >> 1
    row[byte] = row[byte] & 240 | color if x & 1 else row[byte] & 15 | color << 4


def _color(row, x):
    return row[x >> 1] & 15 if x & 1 else row[x >> 1] >> 4
