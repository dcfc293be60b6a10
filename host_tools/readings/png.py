"""The same curves as a PNG file, written without a library: a picture of a few colors is simple."""

from __future__ import annotations

import struct
import zlib

from host_tools.readings.ring import Series
from host_tools.readings.scale import columns, moment, number, value_range

_WHITE, _GRAY, _DARK, _BLUE = 0, 1, 2, 3
_PALETTE = bytes.fromhex("ffffffd8dce239424e1f6fd0")
_WIDTH, _PANEL = 960, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 20, 34, 30
_DOT = 2  # one dot of a letter, in pixels

#: Letters of three by five dots, a row in each octal digit: 7 is three dots, 5 the outer two.
_LETTERS = {
    "0": 0o75557, "1": 0o26227, "2": 0o71747, "3": 0o71717, "4": 0o55711, "5": 0o74717, "6": 0o74757,
    "7": 0o71122, "8": 0o75757, "9": 0o75717, "A": 0o25755, "B": 0o65656, "C": 0o34443, "D": 0o65556,
    "E": 0o74647, "F": 0o74644, "G": 0o34553, "H": 0o55755, "I": 0o72227, "J": 0o11152, "K": 0o55655,
    "L": 0o44447, "M": 0o57755, "N": 0o65555, "O": 0o25552, "P": 0o65644, "Q": 0o25563, "R": 0o65655,
    "S": 0o34216, "T": 0o72222, "U": 0o55557, "V": 0o55552, "W": 0o55775, "X": 0o55255, "Y": 0o55222,
    "Z": 0o71247, "-": 0o00700, "_": 0o00007, ".": 0o00002, ":": 0o02020, "/": 0o11244, "+": 0o02720,
    "%": 0o51245,
}  # fmt: skip


class _Picture:
    """Rows of color numbers."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._rows = [bytearray(width) for _ in range(height)]

    def box(self, x: int, y: int, width: int, height: int, color: int) -> None:
        left, right = max(x, 0), min(x + width, self.width)
        for line in range(max(y, 0), min(y + height, self.height)):
            if left < right:
                self._rows[line][left:right] = bytes([color]) * (right - left)

    def write(self, x: int, y: int, text: str, color: int = _DARK) -> None:
        """Draw text; a letter that is missing in the font stays blank."""
        for letter in text.upper():
            form = _LETTERS.get(letter, 0)
            for line in range(5):
                bits = form >> (4 - line) * 3 & 7
                for column in range(3):
                    if bits & 4 >> column:
                        self.box(x + column * _DOT, y + line * _DOT, _DOT, _DOT, color)
            x += 4 * _DOT

    def png(self) -> bytes:
        raw = b"".join(b"\0" + bytes(row) for row in self._rows)
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 3, 0, 0, 0)
        chunks = (
            (b"IHDR", header),
            (b"PLTE", _PALETTE),
            (b"IDAT", zlib.compress(raw, 9)),
            (b"IEND", b""),
        )
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            for kind, data in chunks
        )


def _text_width(text: str) -> int:
    return len(text) * 4 * _DOT


def picture(series: list[Series], start: float, end: float) -> bytes:
    """A PNG with one panel for each series, below each other."""
    made = _Picture(_WIDTH, _PANEL * max(len(series), 1))
    for number_, one in enumerate(series):
        _panel(made, one, start, end, number_ * _PANEL)
    return made.png()


def _panel(made: _Picture, series: Series, start: float, end: float, top: int) -> None:
    low, high = value_range(series)
    across, down = _WIDTH - _LEFT - _RIGHT, _PANEL - _TOP - _BOTTOM
    made.write(_LEFT, top + 12, series.name)
    for part in range(3):
        y = top + _TOP + part * (down - 1) // 2
        made.box(_LEFT, y, across, 1, _GRAY)
        label = number(high - (high - low) * part / 2)
        made.write(_LEFT - 8 - _text_width(label), y - 5, label)
    for part in range(4):
        at = start + (end - start) * part / 3
        label = moment(at, end - start)
        x = _LEFT + across * part // 3
        offset = (0, _text_width(label) // 2, _text_width(label) // 2, _text_width(label))[part]
        made.write(x - offset, top + _PANEL - _BOTTOM + 10, label)

    def row(value: float) -> int:
        return top + _TOP + down - 1 - round((value - low) / (high - low) * (down - 1))

    before: tuple[int, int] | None = None
    for place, span in enumerate(columns(series, start, end, across)):
        if span is None:
            continue
        upper, lower = row(span[1]), row(span[0])
        x = _LEFT + place
        if before is not None:
            # A straight line across the time without a reading.
            for step in range(before[0], x):
                share = (step - before[0]) / (x - before[0])
                y = round(before[1] + ((upper + lower) // 2 - before[1]) * share)
                made.box(step, y - 1, 1, 3, _BLUE)
        made.box(x, upper - 1, 1, lower - upper + 3, _BLUE)
        before = (x, (upper + lower) // 2)
