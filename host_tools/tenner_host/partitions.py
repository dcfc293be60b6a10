"""The partition table of an ESP32's flash, and the place of MicroPython's file system."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from dataclasses import dataclass

TABLE_OFFSET = 0x8000
TABLE_SIZE = 0xC00

#: Of the first application, behind the table and the small partitions.
APP_OFFSET = 0x10000

APP = 0
DATA = 1
#: The subtypes of the applications ota_0 and ota_1.
SLOTS = (0x10, 0x11)

_ROW = struct.Struct("<HBBII16sI")
_ROW_MAGIC = 0x50AA
_MD5_MAGIC = b"\xeb\xeb" + b"\xff" * 14


@dataclass(frozen=True)
class Partition:
    """One row of the partition table."""

    label: str
    type: int
    subtype: int
    offset: int
    size: int

    @property
    def end(self) -> int:
        return self.offset + self.size


def encode_table(partitions: Iterable[Partition]) -> bytes:
    """The binary table, with the MD5 row the boot loader checks."""
    rows = b"".join(
        _ROW.pack(_ROW_MAGIC, row.type, row.subtype, row.offset, row.size, row.label.encode(), 0)
        for row in partitions
    )
    return (rows + _MD5_MAGIC + hashlib.md5(rows).digest()).ljust(TABLE_SIZE, b"\xff")


def parse_table(table: bytes | bytearray) -> list[Partition]:
    """The rows of a binary table; none if its MD5 is wrong or missing."""
    rows: list[Partition] = []
    for at in range(0, len(table) - _ROW.size + 1, _ROW.size):
        row = bytes(table[at : at + _ROW.size])
        if row[:16] == _MD5_MAGIC:
            return rows if row[16:] == hashlib.md5(table[:at]).digest() else []
        magic, kind, subtype, offset, size, label, _ = _ROW.unpack(row)
        if magic != _ROW_MAGIC:
            break
        rows.append(
            Partition(label.rstrip(b"\0").decode("ascii", "replace"), kind, subtype, offset, size)
        )
    return []


def with_slots(size: int) -> list[Partition]:
    """The rows of MicroPython's layout for updates over the air: two slots of `size` bytes."""
    return [
        Partition("nvs", DATA, 0x02, 0x9000, 0x4000),
        Partition("otadata", DATA, 0x00, 0xD000, 0x2000),
        Partition("phy_init", DATA, 0x01, 0xF000, 0x1000),
        *(
            Partition(f"ota_{number}", APP, subtype, APP_OFFSET + number * size, size)
            for number, subtype in enumerate(SLOTS)
        ),
    ]


def file_system(rows: list[Partition], flash_size: int) -> Partition | None:
    """The place of MicroPython's files: the partition `vfs`, or the space behind all partitions.

    The second since MicroPython 1.26, whose images have no such row so that they fit any size of
    flash.
    """
    for row in rows:
        if row.label == "vfs":
            return row
    if not any(row.type == APP for row in rows) or any(row.label == "ffat" for row in rows):
        return None
    start = max(row.end for row in rows)
    if start >= flash_size:
        return None
    return Partition("vfs", DATA, 0x81, start, flash_size - start)
