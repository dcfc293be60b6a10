"""The 4 MB flash image: boot loader, partition table, application, and the littlefs with the files.

The first three are stand-ins in the real formats, so that `esptool image-info` and partition tools accept
them and the board can refuse to start from an empty flash. The fourth is what MicroPython mounts.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from littlefs import LittleFS
from littlefs.context import UserContext

FLASH_SIZE = 0x400000
BLOCK_SIZE = 4096
#: The ESP32-C3's ROM starts the boot loader from here; the plain ESP32's from 0x1000.
BOOTLOADER_OFFSET = 0x0
PARTITION_TABLE_OFFSET = 0x8000
PARTITION_TABLE_SIZE = 0xC00
APP_OFFSET = 0x10000
VFS_OFFSET = 0x200000
VFS_SIZE = 0x200000

_IMAGE_MAGIC = 0xE9
_PARTITION_MAGIC = 0x50AA
_MD5_MAGIC = b"\xeb\xeb" + b"\xff" * 14
_CHECKSUM_SEED = 0xEF
_APP_DESCRIPTOR_MAGIC = 0xABCD5432
_CHIP_ESP32C3 = 5
_DRAM = 0x3FCD5810
_IRAM = 0x403CC710
_DROM = 0x3C000020
_NOP = b"\x13\0\0\0"

#: The geometry MicroPython uses for its littlefs, so that either side reads the other's images.
_LITTLEFS = {
    "block_size": BLOCK_SIZE,
    "read_size": 32,
    "prog_size": 32,
    "cache_size": 128,
    "lookahead_size": 32,
    "block_cycles": 100,
}


class ImageError(Exception):
    """The image cannot be built or read; the text says why."""


@dataclass(frozen=True)
class Partition:
    """One row of the partition table."""

    label: str
    type: int
    subtype: int
    offset: int
    size: int


PARTITIONS = (
    Partition("nvs", 1, 0x02, 0x9000, 0x6000),
    Partition("phy_init", 1, 0x01, 0xF000, 0x1000),
    Partition("factory", 0, 0x00, APP_OFFSET, 0x1F0000),
    Partition("vfs", 1, 0x81, VFS_OFFSET, VFS_SIZE),
)


def application_image(segments: Iterable[tuple[int, bytes]], entry: int) -> bytes:
    """An ESP32-C3 image of these (load address, data) segments, with checksum and SHA-256."""
    parts = [(address, data + b"\0" * (-len(data) % 4)) for address, data in segments]
    # Mode DIO, 4 MB at 40 MHz; then the extended header with the chip and "hash appended".
    out = bytearray(struct.pack("<BBBBI", _IMAGE_MAGIC, len(parts), 2, 0x20, entry))
    out += struct.pack("<B3sHBHHIB", 0xEE, b"\0\0\0", _CHIP_ESP32C3, 0, 0, 99, 0, 1)
    checksum = _CHECKSUM_SEED
    for address, data in parts:
        out += struct.pack("<II", address, len(data)) + data
        for byte in data:
            checksum ^= byte
    # The checksum is the last byte of a 16-byte line.
    out += b"\0" * (15 - len(out) % 16) + bytes([checksum])
    return bytes(out) + hashlib.sha256(out).digest()


def _app_descriptor() -> bytes:
    """`esp_app_desc_t`, which esptool prints as the application's name and version."""
    return struct.pack(
        "<II8s32s32s16s16s32s32s",
        _APP_DESCRIPTOR_MAGIC,
        0,
        b"",
        b"1.29.0-virtual",
        b"micropython",
        b"00:00:00",
        b"Jan  1 2026",
        b"v5.4",
        hashlib.sha256(b"virtual board").digest(),
    ).ljust(256, b"\0")


def partition_table(partitions: Iterable[Partition] = PARTITIONS) -> bytes:
    """The binary table, with the MD5 row the boot loader checks."""
    rows = b"".join(
        struct.pack(
            "<HBBII16sI",
            _PARTITION_MAGIC,
            row.type,
            row.subtype,
            row.offset,
            row.size,
            row.label.encode(),
            0,
        )
        for row in partitions
    )
    table = rows + _MD5_MAGIC + hashlib.md5(rows).digest()
    return table.ljust(PARTITION_TABLE_SIZE, b"\xff")


def read_partition_table(flash: bytes | bytearray | memoryview) -> list[Partition]:
    """The rows of the table in `flash`; none when its MD5 is wrong or missing."""
    rows: list[Partition] = []
    start = PARTITION_TABLE_OFFSET
    for offset in range(start, start + PARTITION_TABLE_SIZE, 32):
        row = bytes(flash[offset : offset + 32])
        if row[:16] == _MD5_MAGIC:
            digest = hashlib.md5(bytes(flash[start:offset])).digest()
            return rows if row[16:] == digest else []
        magic, kind, subtype, at, size, label, _ = struct.unpack("<HBBII16sI", row)
        if magic != _PARTITION_MAGIC:
            break
        rows.append(Partition(label.rstrip(b"\0").decode(), kind, subtype, at, size))
    return []


def firmware_image() -> bytes:
    """What would be flashed at 0x0: boot loader, partition table and application, merged."""
    image = bytearray(b"\xff" * APP_OFFSET)
    loader = application_image([(_DRAM, b"virtual 2nd stage"), (_IRAM, _NOP * 8)], _IRAM)
    image[BOOTLOADER_OFFSET : BOOTLOADER_OFFSET + len(loader)] = loader
    table = partition_table()
    image[PARTITION_TABLE_OFFSET : PARTITION_TABLE_OFFSET + len(table)] = table
    image += application_image([(_DROM, _app_descriptor()), (_IRAM, _NOP * 16)], _IRAM)
    return bytes(image)


def boot_fault(flash: bytes | bytearray | memoryview) -> str | None:
    """What the boot loader prints when it cannot start from this flash; None when it can."""
    if flash[BOOTLOADER_OFFSET] != _IMAGE_MAGIC:
        (word,) = struct.unpack_from("<I", flash, BOOTLOADER_OFFSET)
        return f"invalid header: 0x{word:08x}"
    if find_vfs(flash) is None:
        return "E (30) flash_parts: no vfs partition"
    return None


def find_vfs(flash: bytes | bytearray | memoryview) -> Partition | None:
    """The partition with the file system."""
    for row in read_partition_table(flash):
        if row.label == "vfs":
            return row
    return None


class _Flash(UserContext):
    """littlefs-python's block device over a region of a buffer (its own takes a whole buffer)."""

    def __init__(self, flash: bytearray, offset: int) -> None:
        super().__init__(buffer=flash)
        self._offset = offset

    def read(self, cfg: object, block: int, off: int, size: int) -> bytearray:
        at = self._offset + block * BLOCK_SIZE + off
        return self.buffer[at : at + size]

    def prog(self, cfg: object, block: int, off: int, data: bytes) -> int:
        at = self._offset + block * BLOCK_SIZE + off
        self.buffer[at : at + len(data)] = data
        return 0

    def erase(self, cfg: object, block: int) -> int:
        at = self._offset + block * BLOCK_SIZE
        self.buffer[at : at + BLOCK_SIZE] = b"\xff" * BLOCK_SIZE
        return 0


def _file_system(flash: bytearray, *, mount: bool) -> LittleFS:
    row = find_vfs(flash)
    if row is None:
        raise ImageError("the image has no partition table with a `vfs` row")
    return LittleFS(
        context=_Flash(flash, row.offset),
        mount=mount,
        block_count=row.size // BLOCK_SIZE,
        **_LITTLEFS,
    )


def build_image(tree: dict[str, bytes] | None = None) -> bytearray:
    """A bootable flash whose file system holds `tree`, a dict of absolute paths and contents."""
    flash = bytearray(b"\xff" * FLASH_SIZE)
    firmware = firmware_image()
    flash[: len(firmware)] = firmware
    system = _file_system(flash, mount=False)
    system.format()
    system.mount()
    _write_files(system, tree or {})
    system.unmount()
    return flash


def add_files(flash: bytearray, tree: dict[str, bytes]) -> None:
    """Write `tree` into the file system of an image, over files of the same names."""
    system = _file_system(flash, mount=True)
    _write_files(system, tree)
    system.unmount()


def _write_files(system: LittleFS, tree: dict[str, bytes]) -> None:
    for name, data in tree.items():
        if not name.startswith("/"):
            raise ImageError(f"{name!r}: paths on the board start with a slash")
        folder = name.rpartition("/")[0]
        if folder:
            system.makedirs(folder, exist_ok=True)
        with system.open(name, "wb") as file:
            file.write(data)


def read_image(flash: bytes | bytearray) -> dict[str, bytes]:
    """All files in the image's file system."""
    system = _file_system(bytearray(flash), mount=True)
    tree = {}
    for folder, _, names in system.walk("/"):
        for name in names:
            path = f"{folder.rstrip('/')}/{name}"
            with system.open(path, "rb") as file:
                tree[path] = file.read()
    system.unmount()
    return dict(sorted(tree.items()))


def write_image(path: Path, tree: dict[str, bytes] | None = None) -> None:
    """Write a fresh flash image file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(build_image(tree))
