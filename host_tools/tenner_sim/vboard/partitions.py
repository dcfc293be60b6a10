"""Answers to `esp32.Partition` of the running board, from the flash file."""

from __future__ import annotations

from pathlib import Path

from tenner_sim.vboard import image, otadata
from tenner_sim.vboard.chips import ChipModel


def answer(path: Path | None, model: ChipModel, running: str, *question: str) -> bytes:
    """The rows of the partition table that are meant; OSError with the number of ESP-IDF.

    Without a flash, as on CPython, the table is that of a board that has just left the factory.
    """
    before = path.read_bytes() if path else bytes(image.build_image())
    flash = bytearray(before)

    def is_good(row: otadata.Row) -> bool:
        return image.image_fault(flash, row[3], model) is None

    error, rows = otadata.ask(image.Memory(flash), is_good, running, *question)
    if error:
        raise OSError(-error, "")
    if path and flash != before:
        # In place: the board has the file open.
        with path.open("r+b") as file:
            file.write(flash)
    return rows.encode()
