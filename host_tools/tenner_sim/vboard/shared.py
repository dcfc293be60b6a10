"""The page of memory that the supervisor shares with the running board, and its layout.

The board's side is tenner_sim/onboard/_board.py (answers, clock) and unix/_flash.py (counters).
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

_COUNTERS = 0x00  # written by the board: erases, programs, bytes, operations
_CUT = 0x10  # operation that loses power or -1; 1 if that operation is done by half
_CLOCK = 0x20  # seconds from the host's clock to the board's
_REPLY = 0x40  # status, length, payload
_REPLY_DATA = 0x48
_SIZE = 0x20000

MAX_REPLY = _SIZE - _REPLY_DATA


@dataclass(frozen=True)
class FlashCounters:
    """Counts of the file system's flash operations since the board was made or `clear()`ed."""

    erases: int
    programs: int
    bytes: int
    operations: int

    def since(self, earlier: FlashCounters) -> FlashCounters:
        """The difference between two counts, for the cost of an operation."""
        return FlashCounters(
            self.erases - earlier.erases,
            self.programs - earlier.programs,
            self.bytes - earlier.bytes,
            self.operations - earlier.operations,
        )


class SharedPage:
    """The supervisor's view of the page; `path` is opened by number in the board."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(_SIZE))
        self._file = path.open("r+b")
        self._map = mmap.mmap(self._file.fileno(), _SIZE)
        self.set_cut(None)
        self.path = path

    def counters(self) -> FlashCounters:
        return FlashCounters(*struct.unpack_from("<4i", self._map, _COUNTERS))

    def set_cut(self, operation: int | None, torn: bool = False) -> None:
        """Let the flash operation with this number lose power; None: no cut."""
        struct.pack_into("<2i", self._map, _CUT, -1 if operation is None else operation, torn)

    @property
    def clock_offset(self) -> int:
        return int(struct.unpack_from("<q", self._map, _CLOCK)[0])

    @clock_offset.setter
    def clock_offset(self, seconds: int) -> None:
        struct.pack_into("<q", self._map, _CLOCK, seconds)

    def reply(self, status: int, data: bytes) -> None:
        if len(data) > MAX_REPLY:
            raise ValueError(f"reply of {len(data)} bytes is longer than the page")
        self._map[_REPLY_DATA : _REPLY_DATA + len(data)] = data
        struct.pack_into("<iI", self._map, _REPLY, status, len(data))

    def close(self) -> None:
        self._map.close()
        self._file.close()
