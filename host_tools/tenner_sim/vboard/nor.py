"""The flash chip: a file with the rules of NOR flash."""

from __future__ import annotations

import hashlib
import mmap
from pathlib import Path

SECTOR = 4096


class NorError(Exception):
    """An access outside the flash, or one that is not aligned to sectors."""


class NorFlash:
    """Erasing sets all bits of full sectors; programming can only clear bits.

    So a write without its erase leaves the AND of old and new behind, as on a real chip, and a
    client that verifies its write will notice.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("r+b")
        self._map = mmap.mmap(self._file.fileno(), 0)
        self.size = len(self._map)

    def _check(self, start: int, length: int) -> None:
        if start < 0 or length < 0 or start + length > self.size:
            raise NorError(
                f"0x{start:x}+0x{length:x} is outside of 0x{self.size:x} bytes of flash"
            )

    def read(self, start: int, length: int) -> bytes:
        self._check(start, length)
        return self._map[start : start + length]

    def md5(self, start: int, length: int) -> bytes:
        self._check(start, length)
        with memoryview(self._map) as view:
            return hashlib.md5(view[start : start + length]).digest()

    def erase(self, start: int, length: int) -> None:
        self._check(start, length)
        if start % SECTOR or length % SECTOR:
            raise NorError(f"0x{start:x}+0x{length:x} is not made of whole sectors")
        self._map[start : start + length] = b"\xff" * length

    def program(self, start: int, data: bytes) -> None:
        self._check(start, len(data))
        old = int.from_bytes(self._map[start : start + len(data)], "little")
        both = old & int.from_bytes(data, "little")
        self._map[start : start + len(data)] = both.to_bytes(len(data), "little")

    def close(self) -> None:
        self._map.close()
        self._file.close()
