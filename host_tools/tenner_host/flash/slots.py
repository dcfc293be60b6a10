"""The layout with two slots for MicroPython, so that a board can replace it over the network.

On 4 MB of flash the slots are those of MicroPython's partitions-4MiB-ota.csv. On more they have
the size of the usual single one, so that every image fits; the table stays within 4 MB, the flash
that the header of an official boot loader states, and the boot loader refuses a table beyond it.
"""

from __future__ import annotations

from dataclasses import replace

from tenner_host import partitions
from tenner_host.catalog import KnownBoard
from tenner_host.images import Contents, Image, ImageError
from tenner_host.partitions import APP, DATA, Partition

_MB = 1 << 20
_STATED = 4 * _MB
_SMALL, _LARGE = 0x180000, 0x1F0000
#: Rows that a layout of the project may replace.
_USUAL = {"nvs", "phy_init", "factory", "vfs"}


def has_slots(rows: list[Partition]) -> bool:
    """Does a partition table have two slots for MicroPython?"""
    return {row.subtype for row in rows if row.type == APP} >= set(partitions.SLOTS)


def with_slots(
    image: Image, contents: Contents, known: KnownBoard, flash_size: int
) -> tuple[Image, Contents]:
    """The same boot loader and MicroPython in a layout with two slots; ImageError if that cannot
    be."""
    if has_slots(contents.rows):
        return image, contents
    other = next((row.label for row in contents.rows if row.label not in _USUAL), None)
    if other:
        raise ImageError(
            f"{image.source} has a partition {other}, for which the layout ota has no place; take "
            "an image without it. Nothing was changed"
        )
    if flash_size < _STATED:
        raise ImageError(
            f"the layout ota needs 4 MB of flash, and this board has {flash_size // _MB} MB; "
            "nothing was changed"
        )
    # MicroPython before 1.26 makes no file system behind the table.
    has_row = any(row.label == "vfs" for row in contents.rows)
    slot = _LARGE if flash_size > _STATED and not has_row else _SMALL
    size = contents.end - partitions.APP_OFFSET
    if size > slot:
        raise ImageError(_too_large(image.source, size, slot, known))
    rows = partitions.with_slots(slot)
    if has_row:
        end = rows[-1].end
        rows.append(Partition("vfs", DATA, 0x81, end, _STATED - end))
    table = partitions.encode_table(rows)
    start = partitions.TABLE_OFFSET - known.flash_offset
    data = image.data[:start] + table + image.data[start + len(table) :]
    return replace(image, data=data), replace(contents, rows=rows)


def described(rows: list[Partition], flash_size: int) -> str:
    """A layout for the owner, before it is written."""
    slot = next(row for row in rows if row.type == APP)
    files = partitions.file_system(rows, flash_size)
    assert files is not None
    return (
        f"Layout ota: two slots of {slot.size >> 10} KB for MicroPython, and "
        f"{files.size >> 10} KB for files. It replaces all of the flash; the board's files are "
        "saved, and restored afterwards"
    )


def _too_large(source: str, size: int, slot: int, known: KnownBoard) -> str:
    smaller = (
        f"take MicroPython's smaller build, --board {known.name}-OTA"
        if "OTA" in known.variants
        else f"MicroPython has no smaller build for {known.name}, so this needs a board with 8 MB"
    )
    return (
        f"the MicroPython in {source} has {-(-size // 1024)} KB, and a slot of the layout ota has "
        f"{slot >> 10} KB: {smaller}. Nothing was changed"
    )
