# tenner chart.series: reduces readings and episodes of alarms to the columns of a chart.
# MIT license; Copyright (c) 2026 the tenner authors

from array import array

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files, json_strict
from tenner.store.appendlog import AppendLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: A line ends where readings are missing for longer than 2.5 times their usual distance.
_GAP_HALVES = const(5)
# Distances between readings that are counted, to find the usual one.
_DISTANCES = const(32)
# Larger times would be large numbers, which a chip has to allocate.
_LONGEST = const(1 << 20)
# Half of the width of the line, in parts of a pixel.
_PEN = const(5)

_FILE = "/episodes.jsonl"
_MAX_BYTES = const(4096)  # 80 episodes; half of it is kept at least


class Extent:
    """The extent of the readings, for the axes and the line; `take` gets each of them."""

    count = first = last = 0
    low: float = 0
    high: float = 0
    value: float = 0
    #: Are all values 0 or 1?
    binary = True

    def __init__(self) -> None:
        self._distances = {}

    def take(self, time: int, value: float) -> None:
        if not self.count:
            self.first = time
            self.low = self.high = value
        else:
            away = time - self.last
            if away in self._distances:
                self._distances[away] += 1
            elif away > 0 and len(self._distances) < _DISTANCES:
                self._distances[away] = 1
        if value < self.low:
            self.low = value
        if value > self.high:
            self.high = value
        if value not in (0, 1):
            self.binary = False
        self.count += 1
        self.last = time
        self.value = value

    def gap_s(self) -> int:
        """Return the longest distance of two readings that a line joins."""
        left = sum(self._distances.values()) / 2
        for away in sorted(self._distances):
            left -= self._distances[away]
            if left <= 0:
                return away * _GAP_HALVES // 2
        return 0


class Columns:
    """
    The line of the readings: in each of `count` columns from `top[column]` to `bottom[column]`, in
    `parts` of a pixel from above. `place(value)` returns the height of a value in these parts;
    `steps` draws a value that is on or off.
    """

    def __init__(
        self,
        count: int,
        parts: int,
        since: int,
        until: int,
        place: "Callable[[float], int]",
        gap_s: int,
        steps: bool,
    ) -> None:
        # Not from lists, whose blocks are twice as long.
        self.top = array("H", b"\xff\xff" * count)
        self.bottom = array("H", bytes(2 * count))
        self._count = count
        self._parts = parts
        self._since = since
        #: The span in units of seconds whose product with a column is a small number.
        self.unit = (until - since) // _LONGEST + 1
        self.span = max((until - since) // self.unit, 1)
        self._place = place
        self._gap_s = gap_s
        self._steps = steps
        self._before: int | None = None  # the time of the reading before
        self._column = self._height = 0

    def take(self, time: int, value: float) -> None:
        column = (time - self._since) // self.unit * (self._count - 2) // self.span
        height = self._place(value)
        before = self._before
        joined = before is not None and 0 < time - before <= self._gap_s
        if not joined:
            # Wider, for one reading by itself.
            for around in range(max(column - 1, 0), min(column + 2, self._count - 1)):
                self._mark(around, height, height)
        elif self._steps:
            for between in range(self._column, column + 1):
                self._mark(between, self._height, self._height)
            self._mark(column, min(height, self._height), max(height, self._height))
        else:
            self._join(column, height)
        self._before = time
        self._column = column
        self._height = height

    def _join(self, column, height):
        """Draw a straight line from the reading before."""
        count = column - self._column
        start = self._height
        rise = height - start
        above = start
        for place in range(count + 1):
            # To the middle between this column and the next.
            below = start + rise * (2 * place + 1) // (2 * count) if place < count else height
            self._mark(self._column + place, min(above, below), max(above, below))
            above = below

    def _mark(self, column, top, bottom):
        """Draw with a pen two columns wide."""
        top = max(top - _PEN, 0)
        bottom = min(bottom + _PEN, self._parts)
        for at in (column, column + 1):
            if top < self.top[at]:
                self.top[at] = top
            if bottom > self.bottom[at]:
                self.bottom[at] = bottom


# state/episodes.jsonl has a line ["room.temperature", start, end] in UTC seconds for each episode
# that is over.
def note(folder: str, name: str, start: int, end: int) -> None:
    """Keep an episode of the value `name`."""
    try:
        AppendLog(folder + _FILE, _MAX_BYTES).append([[name, start, end]])
    except OSError as error:
        # The alarm itself must not fail for it.
        log("heartbeat", "an episode was not kept for charts: %s" % error)


def ended(folder: str, name: str) -> list[tuple[int, int]]:
    """Return (start, end) of the kept episodes of a value."""
    found = []
    if files.exists(folder + _FILE):
        with open(folder + _FILE, "rb") as file:
            for line in files.lines(file):
                try:
                    about, start, end = json_strict.loads(line.decode())
                except (ValueError, TypeError):
                    continue  # torn by a power cut
                if about == name:
                    found.append((start, end))
    return found
