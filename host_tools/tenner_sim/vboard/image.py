"""The virtual board's flash: boot loader, partition table, application, and the littlefs with the
files.

The first three are stand-ins in the real formats, so that esptool and partition tools accept them.
The board can refuse to start from a flash where one of them is missing or cut short.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from tenner_host import littlefs_image, partitions
from tenner_host.littlefs_image import BLOCK_SIZE
from tenner_host.partitions import Partition
from tenner_sim.vboard import otadata
from tenner_sim.vboard.chips import MODELS, ChipModel

FLASH_SIZE = 0x400000
APP_OFFSET = 0x10000
VFS_OFFSET = 0x200000
VFS_SIZE = 0x200000
VERSION = "1.29.0-virtual"

PARTITIONS = (
    Partition("nvs", partitions.DATA, 0x02, 0x9000, 0x6000),
    Partition("phy_init", partitions.DATA, 0x01, 0xF000, 0x1000),
    Partition("factory", partitions.APP, 0x00, APP_OFFSET, 0x1F0000),
    Partition("vfs", partitions.DATA, 0x81, VFS_OFFSET, VFS_SIZE),
)

#: Two slots for MicroPython in the order of `tenner flash --layout ota`; smaller ones, since code
#: twice has no room beside two slots of 1536 KB on 4 MB.
SLOTS = tuple(partitions.with_slots(0x160000))

_C3 = MODELS["esp32c3"]
_IMAGE_MAGIC = 0xE9
_HEADER = struct.Struct("<BBBBIB3sHBHHIB")
_HASH_SIZE = 32
_CHECKSUM_SEED = 0xEF
_APP_DESCRIPTOR_MAGIC = 0xABCD5432
_NOP = b"\x13\0\0\0"


class ImageError(Exception):
    """The image cannot be built or read; the text gives the reason."""


def application_image(
    model: ChipModel, segments: Iterable[tuple[int, bytes]], entry: int
) -> bytes:
    """An image for `model` of (load address, data) segments, with checksum and SHA-256."""
    parts = [(address, data + b"\0" * (-len(data) % 4)) for address, data in segments]
    # Mode DIO, 4 MB at 40 MHz; then the extended header with the chip and "hash appended".
    head = (_IMAGE_MAGIC, len(parts), 2, 0x20, entry, 0xEE, b"\0\0\0", model.image_id)
    out = bytearray(_HEADER.pack(*head, 0, 0, 99, 0, 1))
    checksum = _CHECKSUM_SEED
    for address, data in parts:
        out += struct.pack("<II", address, len(data)) + data
        for byte in data:
            checksum ^= byte
    # The checksum is the last byte of a 16-byte line.
    out += b"\0" * (15 - len(out) % 16) + bytes([checksum])
    return bytes(out) + hashlib.sha256(out).digest()


def image_fault(flash: bytes | bytearray, start: int, model: ChipModel) -> str | None:
    """The boot loader's objection to the image at `start`; None if it would start it."""
    magic, count, _, _, _, _, _, chip, _, _, _, _, hashed = _HEADER.unpack_from(flash, start)
    if magic != _IMAGE_MAGIC:
        return f"E (30) esp_image: image at 0x{start:x} has invalid magic byte"
    if chip != model.image_id:
        return f"E (30) boot_comm: mismatch chip ID, expected {model.image_id}, found {chip}"
    at = start + _HEADER.size
    checksum = _CHECKSUM_SEED
    for _ in range(count):
        if at + 8 > len(flash):
            break
        (size,) = struct.unpack_from("<I", flash, at + 4)
        segment = flash[at + 8 : at + 8 + size]
        # The exclusive or of all bytes, found by folding the segment as one number.
        number = int.from_bytes(segment, "little")
        width = 1 << max(len(segment) - 1, 0).bit_length()
        while width > 1:
            width //= 2
            number = (number >> 8 * width) ^ (number & (1 << 8 * width) - 1)
        checksum ^= number
        at += 8 + size
    at += 15 - (at - start) % 16
    if at + 1 + _HASH_SIZE > len(flash) or flash[at] != checksum:
        return f"E (30) esp_image: Checksum failed at 0x{start:x}"
    digest = hashlib.sha256(flash[start : at + 1]).digest()
    if hashed and flash[at + 1 : at + 1 + _HASH_SIZE] != digest:
        return "E (30) esp_image: Image hash failed - image is corrupt"
    return None


def _app_descriptor(version: str) -> bytes:
    """`esp_app_desc_t`, which esptool prints as the application's name and version."""
    return struct.pack(
        "<II8s32s32s16s16s32s32s",
        _APP_DESCRIPTOR_MAGIC,
        0,
        b"",
        version.encode(),
        b"micropython",
        b"00:00:00",
        b"Jan  1 2026",
        b"v5.4",
        hashlib.sha256(b"virtual board").digest(),
    ).ljust(256, b"\0")


def firmware_image(
    model: ChipModel = _C3,
    version: str = VERSION,
    rows: Iterable[Partition] = PARTITIONS,
    code: bytes = _NOP * 16,
) -> bytes:
    """The image for the boot loader's offset: boot loader, partition table and application.

    It has all parts of a downloaded MicroPython image but the 1.5 MB of `code`.
    """
    image = bytearray(b"\xff" * APP_OFFSET)
    segments = [(model.dram, b"virtual 2nd stage"), (model.iram, _NOP * 8)]
    loader = application_image(model, segments, model.iram)
    image[model.bootloader_offset : model.bootloader_offset + len(loader)] = loader
    table = partitions.encode_table(rows)
    image[partitions.TABLE_OFFSET : partitions.TABLE_OFFSET + len(table)] = table
    segments = [(model.drom, _app_descriptor(version)), (model.iram, code)]
    image += application_image(model, segments, model.iram)
    return bytes(image[model.bootloader_offset :])


def stand_in(chip: str) -> bytes:
    """The image of a chip by its name, for tenner_host.simulator."""
    return firmware_image(MODELS[chip])


def boot_fault(flash: bytes | bytearray, model: ChipModel = _C3) -> str | None:
    """The board's message if it cannot start from this flash; None if it can."""
    return boot(bytearray(flash), model)[0]


def boot(flash: bytearray, model: ChipModel = _C3) -> tuple[str | None, str]:
    """Both stages of a start: the board's message if it cannot start, and the label of the
    application that starts. The boot loader's notes change `flash`."""
    start = model.bootloader_offset
    if flash[start] != _IMAGE_MAGIC:
        (word,) = struct.unpack_from("<I", flash, start)
        return f"invalid header: 0x{word:08x}", ""
    fault = image_fault(flash, start, model)
    if fault:
        return fault, ""
    if find_vfs(flash) is None:
        return "E (30) flash_parts: no vfs partition", ""
    faults: list[str] = []

    def is_good(row: otadata.Row) -> bool:
        faults.append(image_fault(flash, row[3], model) or "")
        return not faults[-1]

    row = otadata.choose(Memory(flash), is_good)
    if row is None:
        return faults[0] if faults else "E (30) boot: No bootable app partitions", ""
    return None, row[0]


class Memory:
    """A flash in memory with MicroPython's block protocol."""

    def __init__(self, flash: bytearray) -> None:
        self._flash = flash

    def readblocks(self, block: int, buf: bytearray, offset: int = 0) -> None:
        at = block * BLOCK_SIZE + offset
        buf[:] = self._flash[at : at + len(buf)]

    def writeblocks(self, block: int, buf: bytes, offset: int = 0) -> None:
        at = block * BLOCK_SIZE + offset
        self._flash[at : at + len(buf)] = buf

    def ioctl(self, what: int, block: int) -> None:
        self.writeblocks(block, b"\xff" * BLOCK_SIZE)


def partition_rows(flash: bytes | bytearray) -> list[Partition]:
    """The partition table in `flash`; no rows if it is damaged."""
    start = partitions.TABLE_OFFSET
    return partitions.parse_table(flash[start : start + partitions.TABLE_SIZE])


def find_vfs(flash: bytes | bytearray) -> Partition | None:
    """The partition of the file system."""
    return partitions.file_system(partition_rows(flash), len(flash))


def _vfs(flash: bytes | bytearray) -> Partition:
    row = find_vfs(flash)
    if row is None:
        raise ImageError("the image has no partition table with a place for files")
    return row


def build_image(
    tree: dict[str, bytes] | None = None,
    model: ChipModel = _C3,
    rows: Iterable[Partition] = PARTITIONS,
) -> bytearray:
    """A bootable flash whose file system holds `tree`, a dict of absolute paths and contents."""
    flash = bytearray(b"\xff" * FLASH_SIZE)
    firmware = firmware_image(model, rows=rows)
    flash[model.bootloader_offset : model.bootloader_offset + len(firmware)] = firmware
    row = _vfs(flash)
    flash[row.offset : row.end] = littlefs_image.make_file_system(row.size, tree or {})
    return flash


def add_files(flash: bytearray, tree: dict[str, bytes]) -> None:
    """Write `tree` into the file system of an image; overwrite files of the same names."""
    row = _vfs(flash)
    with memoryview(flash) as view:
        littlefs_image.add_files(view[row.offset : row.end], tree)


def _block(flash: bytes | bytearray, start: int, number: int) -> bytes:
    at = start + number * BLOCK_SIZE
    return bytes(flash[at : at + BLOCK_SIZE])


def read_image(flash: bytes | bytearray) -> dict[str, bytes]:
    """All files in the image's file system."""
    row = _vfs(flash)
    return littlefs_image.read_file_system(row.size, partial(_block, flash, row.offset)).files


def write_image(
    path: Path,
    tree: dict[str, bytes] | None = None,
    model: ChipModel = _C3,
    rows: Iterable[Partition] = PARTITIONS,
) -> None:
    """Write a fresh flash image file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(build_image(tree, model, rows))
