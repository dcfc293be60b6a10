"""Read the board's ring of readings; docs/sensors.md describes its format,
firmware/tenner/sensors/ring.py writes it."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass, field

PATHS = [f"/state/readings.{ending}" for ending in ("0", "1", "new")]
_RECORD = struct.Struct("<IBf")
_NUMBER = struct.Struct("<I")


@dataclass
class Series:
    """The readings of one value, oldest first, in Unix seconds."""

    name: str
    times: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def since(self, start: float) -> Series:
        kept = [(t, v) for t, v in zip(self.times, self.values, strict=True) if t >= start]
        return Series(self.name, [t for t, _ in kept], [v for _, v in kept])

    def __bool__(self) -> bool:
        return bool(self.times)

    @property
    def mean(self) -> float:
        return math.fsum(self.values) / len(self.values)


def read_ring(files: dict[str, bytes]) -> list[Series]:
    """The series in those files of `PATHS` that exist, by name. Records cut off by a power failure
    are left out."""
    found: dict[str, Series] = {}
    segments = sorted(
        (segment for path in PATHS[:2] if (segment := _segment(files.get(path, b"")))),
        key=lambda segment: segment[0],
    )
    new = files.get(PATHS[2], b"")
    for number, names, data in segments:
        if len(new) % _RECORD.size == _NUMBER.size and _NUMBER.unpack_from(new)[0] == number:
            waiting = new[_NUMBER.size :]
            # They may be at the end of the file already.
            data = data if waiting and data.endswith(waiting) else data + waiting
        for time, index, value in _RECORD.iter_unpack(data):
            if index < len(names) and isinstance(names[index], str) and math.isfinite(value):
                series = found.setdefault(names[index], Series(names[index]))
                series.times.append(time)
                series.values.append(value)
    return [_in_order(found[name]) for name in sorted(found)]


def _segment(data: bytes) -> tuple[int, list[object], bytes] | None:
    """(number, entries of the first line, complete records) of one file; None for any other
    file."""
    line, found, rest = data.partition(b"\n")
    try:
        names = json.loads(line)
        number = int(names[0])
    except (ValueError, TypeError, IndexError, KeyError):
        return None
    if not found or not isinstance(names, list):
        return None
    return number, names, rest[: len(rest) // _RECORD.size * _RECORD.size]


def _in_order(series: Series) -> Series:
    """By time: the clock may have been set back."""
    order = sorted(zip(series.times, series.values, strict=True), key=lambda pair: pair[0])
    return Series(series.name, [time for time, _ in order], [value for _, value in order])
