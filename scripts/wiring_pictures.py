"""Write or check docs/pictures/wiring-BOARD.svg: how to wire a sensor to each board, made from its
pins.csv."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts import generated
from tenner_host import BOARDS, ROOT
from tenner_host.catalog import find_board

FOLDER = ROOT / "docs" / "pictures"

_RED, _BLACK, _BLUE, _YELLOW = "#c62828", "#333333", "#1565c0", "#c79100"
_PURPLE, _GREEN, _ORANGE, _TEAL = "#7b1fa2", "#2e7d32", "#d84315", "#00838f"

#: (title, examples, rows of: pad of the sensor, role of the board's pin or the name of its pad,
#: color)
_SENSORS = [
    (
        "I2C sensor",
        "TMP102, SHT31, BME280 …",
        [("VCC", "3V3", _RED), ("GND", "GND", _BLACK), ("SDA", "SDA", _BLUE), ("SCL", "SCL", _YELLOW)],  # noqa: E501
    ),
    (
        "SPI sensor",
        "MAX31855, MCP3008 …",
        [
            ("VCC", "3V3", _RED), ("GND", "GND", _BLACK), ("CLK", "SCK", _PURPLE),
            ("DO", "MISO", _GREEN), ("CS", "CS0", _ORANGE), ("DI", "MOSI", _TEAL),
        ],
    ),
]  # fmt: skip
_BUS = re.compile(r"(?:I2C|SPI)\d+_(\w+)$")
_GPIO_CHIP = re.compile(r"[0-9a-f]+\.gpio:\d+$")

#: Pixels: a row of pads, where boxes and wires are, and the text beside the board.
_ROW, _MARGIN = 30, 20
_SENSOR_X, _SENSOR_WIDTH = 20, 150
_BOARD_X, _BOARD_WIDTH = 300, 190
_TEXT_X, _TEXT_WIDTH, _LINE = 520, 340, 19
_LETTERS = 44
_WIDTH = _TEXT_X + _TEXT_WIDTH + _MARGIN


class Row(NamedTuple):
    """One row of pins.csv."""

    name: str
    pin: str
    note: str

    @property
    def reserved(self) -> bool:
        return self.note.startswith(("reserved:", "shared:"))

    @property
    def input_only(self) -> bool:
        return self.note.startswith("input only:")

    @property
    def reason(self) -> str:
        """The note, without the word that the firmware reads."""
        return self.note.partition(": ")[2] if self.reserved or self.input_only else self.note


def rows(board: str) -> list[Row]:
    """The rows of a board's pins.csv."""
    text = (BOARDS / board / "pins.csv").read_text(encoding="utf-8")
    return [Row(*(*line.split(",", 2), "")[:3]) for line in text.splitlines()]


def pads(found: list[Row]) -> dict[str, tuple[str, str]]:
    """SDA, SCK ... -> the pad as printed on the board, and the name of the row."""
    # A Linux board's second cell is the kernel's name: another row of the same line has the
    # printed one.
    printed = {row.pin: row.name for row in found if not _BUS.match(row.name)}
    made = {}
    for row in found:
        if match := _BUS.match(row.name):
            shown = row.pin if row.pin.startswith("GPIO") else printed[row.pin]
            made[match[1]] = (shown, row.name)
    return made


def notes(found: list[Row]) -> Iterator[tuple[str, list[str]]]:
    """(heading, lines) about the pins that carry no bus."""
    wired = {row.pin for row in found if _BUS.match(row.name)}
    others = [
        row
        for row in found
        if row.pin not in wired and (row.pin.startswith("GPIO") or _GPIO_CHIP.match(row.pin))
    ]
    usable = [row for row in others if not row.reserved and not row.input_only]
    yield "Free pins", _by_note(usable)
    yield "Only to read", _by_note([row for row in others if row.input_only])
    yield "Refused: connect nothing", _by_note([row for row in others if row.reserved])


def _by_note(found: list[Row]) -> list[str]:
    """One line for each note, with all of its pins; those without a note come first."""
    groups: dict[str, list[str]] = {}
    for row in sorted(found, key=lambda row: bool(row.reason)):
        groups.setdefault(row.reason, []).append(_shown(row))
    return [f"{_listed(pins)}: {note}" if note else _listed(pins) for note, pins in groups.items()]


def _shown(row: Row) -> str:
    if not row.pin.startswith("GPIO"):
        return row.name
    plain = row.reserved or row.name == f"IO{row.pin.removeprefix('GPIO')}"
    return row.pin if plain else f"{row.pin} ({row.name})"


def _listed(names: list[str]) -> str:
    """Names in a row, three or more successive numbers as a range."""
    runs: list[list[str]] = []
    for name in names:
        if runs and _number(name) == _number(runs[-1][-1]) + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    parts = []
    for run in runs:
        parts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else run
    return ", ".join(parts)


def _number(name: str) -> int:
    """The number at the end of a name; -9 for one that ends otherwise."""
    match = re.fullmatch(r"[A-Z]+(\d+)", name)
    return int(match[1]) if match else -9


class Drawing:
    """Elements of an SVG, from the top down."""

    def __init__(self) -> None:
        self.elements: list[str] = []

    def box(self, x: int, y: int, width: int, height: int, kind: str) -> None:
        self.elements.append(
            f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'
        )

    def text(self, x: int, y: int, text: str, kind: str) -> None:
        self.elements.append(f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>')

    def wire(self, x1: int, x2: int, y: int, color: str, dashed: bool) -> None:
        dashes = ' stroke-dasharray="6 4"' if dashed else ""
        self.elements.append(
            f'<path d="M{x1} {y}H{x2}" stroke="{color}" stroke-width="3"{dashes}/>'
            f'<circle cx="{x1}" cy="{y}" r="4.5" fill="{color}"/><circle cx="{x2}" cy="{y}" '
            f'r="4.5" fill="{color}"/>'
        )


_STYLE = """
text { font: 14px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #222 }
.title { font-size: 16px; font-weight: 600 }
.pad { font-family: ui-monospace, Consolas, "DejaVu Sans Mono", monospace; font-weight: 600 }
.small { font-size: 12px; fill: #555 }
.right { text-anchor: end }
.card { fill: #fdfdfb; stroke: #b8b8b0 }
.sensor { fill: #e8eef7; stroke: #5c7899 }
.board { fill: #e3f1e5; stroke: #4d8056 }
"""


def picture(board: str) -> str:
    """The SVG of a board; it stands on a light card, so that it is readable on any background."""
    found = rows(board)
    made = pads(found)
    drawing = Drawing()
    top = y = _MARGIN + 36
    for title, examples, wires in _SENSORS:
        y += 50
        height = len(wires) * _ROW + 8
        drawing.box(_SENSOR_X, y, _SENSOR_WIDTH, height, "sensor")
        drawing.text(_SENSOR_X, y - 24, title, "title")
        drawing.text(_SENSOR_X, y - 8, examples, "small")
        for place, (pad, role, color) in enumerate(wires):
            at = y + 4 + place * _ROW + _ROW // 2
            shown, name = made.get(role, (role, ""))
            drawing.wire(_SENSOR_X + _SENSOR_WIDTH, _BOARD_X, at, color, dashed=pad == "DI")
            drawing.text(_SENSOR_X + _SENSOR_WIDTH - 12, at + 5, pad, "pad right")
            drawing.text(_BOARD_X + 12, at + 5, shown, "pad")
            if name:
                drawing.text(_BOARD_X + _BOARD_WIDTH - 10, at + 5, name, "small right")
        y += height
    bottom = y
    drawing.text(_SENSOR_X, bottom + 24, "Dashed: only for chips that are written to.", "small")
    y = top + 14
    for heading, lines in notes(found):
        if not lines:
            continue
        drawing.text(_TEXT_X, y, heading, "title")
        for line in lines:
            for part in textwrap.wrap(line, _LETTERS, subsequent_indent="\u2003"):
                y += _LINE
                drawing.text(_TEXT_X, y, part, "note")
        y += _LINE + 14
    end = max(bottom + 24, y - _LINE) + _MARGIN
    board_box = Drawing()
    board_box.box(0, 0, _WIDTH, end, "card")
    board_box.box(_BOARD_X, top, _BOARD_WIDTH, bottom - top + 8, "board")
    known = find_board(board)
    board_box.text(_BOARD_X + 12, top + 26, known.product, "title")
    board_box.text(
        _SENSOR_X,
        _MARGIN + 14,
        f"{known.product}: wiring of an I2C and an SPI sensor, 3.3 V",
        "title",
    )
    body = "\n".join(board_box.elements + drawing.elements)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {_WIDTH + 2} {end + 2}" '
        f'width="{_WIDTH + 2}" height="{end + 2}" role="img">\n'
        f"<!-- Made by scripts/wiring_pictures.py from boards/{board}/pins.csv -->\n"
        f"<style>{_STYLE}</style>\n{body}\n</svg>\n"
    )


def pictures() -> dict[Path, str]:
    """File -> text of the picture of every board."""
    boards = sorted(path.parent.name for path in BOARDS.glob("*/pins.csv"))
    return {FOLDER / f"wiring-{board}.svg": picture(board) for board in boards}


if __name__ == "__main__":
    sys.exit(generated.main_of_many(pictures, __doc__))
