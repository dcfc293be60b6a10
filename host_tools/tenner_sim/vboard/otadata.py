"""The second stage of a chip's boot, for layouts with two slots: which one starts, and when it
goes back.

As ESP-IDF's bootloader_utility.c and esp_ota_ops.c, with the rollback of official images. The
tests of power cuts run it on MicroPython, so it has no import and no syntax that MicroPython
lacks. A `flash` has MicroPython's block protocol.
"""

import struct
from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Flash(Protocol):
        def readblocks(self, block: int, buf: bytearray, offset: int = 0) -> object: ...

        def writeblocks(self, block: int, buf: bytes, offset: int = 0) -> object: ...

        def ioctl(self, what: int, block: int) -> object: ...

    #: Label, type, subtype, offset, size.
    Row = tuple[str, int, int, int, int]
    IsGood = Callable[[Row], bool]

BLOCK = 4096
TABLE = 0x8000
APP, DATA = 0, 1
FACTORY = 0x00
_OTA_0 = 0x10
_OTADATA = 0x00
_ROW = "<HBBII16sI"
_ROW_SIZE = 32
_ROW_MAGIC = 0x50AA

# esp_ota_select_entry_t: sequence number, label, state, CRC of the number.
_ENTRY = "<I20sII"
_ENTRY_SIZE = 32
_BLANK = 0xFFFFFFFF
NEW, PENDING, VALID, INVALID, ABORTED = 0, 1, 2, 3, 4

ENOENT = 2
ESP_FAIL = -1
ESP_ERR_INVALID_ARG = 0x102
ESP_ERR_INVALID_SIZE = 0x104
ESP_ERR_NOT_FOUND = 0x105
ESP_ERR_OTA_VALIDATE_FAILED = 0x1503


def table(flash: "Flash") -> "list[Row]":
    """The rows of the partition table."""
    data = bytearray(BLOCK)
    flash.readblocks(TABLE // BLOCK, data)
    rows = []
    for at in range(0, BLOCK, _ROW_SIZE):
        magic, kind, subtype, offset, size, label, _ = struct.unpack_from(_ROW, data, at)
        if magic != _ROW_MAGIC:
            break
        rows.append((label.rstrip(b"\0").decode(), kind, subtype, offset, size))
    return rows


def slots(rows: "list[Row]") -> "list[Row]":
    """The rows of the slots ota_0, ota_1 ..., in their order."""
    found = [row for row in rows if row[1] == APP and row[2] & 0xF0 == _OTA_0]
    return sorted(found, key=lambda row: row[2])


def otadata(rows: "list[Row]") -> "int | None":
    """The offset of otadata; None without it."""
    for row in rows:
        if row[1] == DATA and row[2] == _OTADATA:
            return row[3]
    return None


class Entry:
    """One of the two entries, each in a sector of its own."""

    def __init__(self, flash: "Flash", at: int) -> None:
        self._flash = flash
        self._at = at
        data = bytearray(_ENTRY_SIZE)
        flash.readblocks(at // BLOCK, data, 0)
        self.number: int
        self.state: int
        self.number, _, self.state, self._crc = struct.unpack(_ENTRY, data)

    def is_invalid(self) -> bool:
        return self.number == _BLANK or self.state in (INVALID, ABORTED)

    def is_damaged(self) -> bool:
        return self.number == _BLANK or self._crc != _crc(self.number)

    def is_valid(self) -> bool:
        return not self.is_invalid() and not self.is_damaged()

    def write(self, number: int, state: int) -> None:
        self.number, self.state, self._crc = number, state, _crc(number)
        self._flash.ioctl(6, self._at // BLOCK)
        entry = struct.pack(_ENTRY, number, b"\xff" * 20, state, self._crc)
        self._flash.writeblocks(self._at // BLOCK, entry, 0)


def _crc(number: int) -> int:
    return crc32(struct.pack("<I", number), _BLANK) & _BLANK


def entries(flash: "Flash", at: int) -> "list[Entry]":
    return [Entry(flash, at), Entry(flash, at + BLOCK)]


def active(both: "list[Entry]") -> "Entry | None":
    """The entry that counts; None if none is valid."""
    valid = [entry for entry in both if entry.is_valid()]
    if len(valid) == 2:
        return valid[0] if valid[0].number >= valid[1].number else valid[1]
    return valid[0] if valid else None


def choose(flash: "Flash", is_good: "IsGood") -> "Row | None":
    """The row that the boot loader starts, as it notes that in otadata; None if no row starts.
    `is_good(row)` says whether an image is whole."""
    rows = table(flash)
    factory = [row for row in rows if row[1:3] == (APP, FACTORY)]
    apps = slots(rows)
    first = -1
    was_blank = False
    both = []
    at = otadata(rows)
    if at is not None:
        both = entries(flash, at)
        for entry in both:
            if entry.state == PENDING:
                entry.write(entry.number, ABORTED)
        if both[0].is_invalid() and both[1].is_invalid() or not apps:
            if not factory:
                first = 0
                was_blank = both[0].is_damaged() and both[1].is_damaged()
        else:
            chosen = active(both)
            if chosen:
                first = (chosen.number - 1) % len(apps)
                if chosen.state == NEW:
                    chosen.write(chosen.number, PENDING)
    order = list(range(first, -2, -1)) + list(range(first + 1, len(apps)))
    for index in order:
        found = factory[:1] if index < 0 else apps[index : index + 1]
        if found and is_good(found[0]):
            if index >= 0 and was_blank:
                both[0].write(index + 1, VALID)
            return found[0]
    return None


def next_start(flash: "Flash") -> str:
    """The label of the slot that otadata has chosen; "" if it has none."""
    rows = table(flash)
    apps = slots(rows)
    at = otadata(rows)
    entry = active(entries(flash, at)) if at is not None else None
    return apps[(entry.number - 1) % len(apps)][0] if entry and apps else ""


def ask(
    flash: "Flash", is_good: "IsGood", running: str, request: str, label: str = ""
) -> "tuple[int, str]":
    """A question of `esp32.Partition`: (error or 0, the rows that are meant, each a line)."""
    rows = table(flash)
    if request == "valid":
        return mark_valid(flash), ""
    if request == "running":
        label = running
    elif request == "next_start":
        label = next_start(flash) or running
    elif request == "next":
        apps = [row[0] for row in slots(rows)]
        after = apps.index(label) + 1 if label in apps else 0
        label = apps[after % len(apps)] if apps else ""
    found = [row for row in rows if request == "find" or row[0] == label]
    if not found:
        return -ENOENT, ""
    if request == "boot":
        return set_boot(flash, found[0], is_good), ""
    return 0, "\n".join(["%d %d %d %d %s" % (row[1:] + row[:1]) for row in found])


def set_boot(flash: "Flash", row: "Row", is_good: "IsGood") -> int:
    """Have the next start begin with this row's image; an error of ESP-IDF, 0 for none."""
    rows = table(flash)
    apps = slots(rows)
    at = otadata(rows)
    if not is_good(row):
        return ESP_ERR_OTA_VALIDATE_FAILED
    if row[1] != APP:
        return ESP_ERR_INVALID_ARG
    if at is None:
        return ESP_ERR_NOT_FOUND
    if row[2] == FACTORY:
        for sector in (0, 1):
            flash.ioctl(6, at // BLOCK + sector)
        return 0
    both = entries(flash, at)
    now = active(both)
    wanted = (row[2] & 0x0F) + 1
    if now is None:
        both[0].write(wanted, NEW)
        return 0
    number = wanted % len(apps)
    while now.number > number:
        number += len(apps)
    (both[1] if now is both[0] else both[0]).write(number, NEW)
    return 0


def mark_valid(flash: "Flash") -> int:
    """Keep the running image; an error of ESP-IDF, 0 for none."""
    rows = table(flash)
    at = otadata(rows)
    if at is None:
        return ESP_ERR_NOT_FOUND
    entry = active(entries(flash, at))
    if entry is None or not slots(rows):
        return ESP_FAIL
    if entry.state != VALID:
        entry.write(entry.number, VALID)
    return 0
