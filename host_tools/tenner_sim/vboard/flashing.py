"""One write of the serial loader: FLASH_BEGIN, its data blocks, FLASH_END, compressed or not."""

from __future__ import annotations

import zlib

from tenner_sim.vboard.nor import SECTOR, NorFlash


class WriteError(Exception):
    """The loader's error for a write: a name of LoaderErrors."""


class Write:
    """Takes the blocks of one region in order.

    The ROM erases the whole region first. The stub that esptool uploads erases each sector just
    before it writes there, so a pulled cable leaves old contents behind the last written place.
    """

    def __init__(
        self,
        flash: NorFlash,
        start: int,
        size: int,
        blocks: int,
        block_size: int,
        *,
        compressed: bool,
        erase_first: bool,
    ) -> None:
        self._flash = flash
        self._at = start
        self._end = start + size
        self._blocks = blocks
        self._block_size = block_size
        self._next = 0
        self._inflate = zlib.decompressobj() if compressed else None
        first = start - start % SECTOR
        last = min(-(-self._end // SECTOR) * SECTOR, flash.size)
        self._erased_to = first
        if size:
            flash.read(start, size)  # refuses a region that does not fit
            if erase_first:
                flash.erase(first, last - first)
                self._erased_to = last

    @property
    def compressed(self) -> bool:
        return self._inflate is not None

    def block(self, number: int, data: bytes) -> None:
        """Write the next block. After a refusal the same one may come again."""
        if number != self._next or number >= self._blocks:
            raise WriteError("too_much_data")
        if len(data) > self._block_size:
            raise WriteError("bad_block_size")
        if self._inflate is None:
            # The last block is padded to its full length; the padding is not written.
            plain = data[: self._end - self._at]
        else:
            try:
                plain = self._inflate.decompress(data)
            except zlib.error:
                raise WriteError("inflate") from None
            if self._at + len(plain) > self._end:
                raise WriteError("too_much_data")
        self._program(plain)
        self._next += 1

    def _program(self, data: bytes) -> None:
        end = self._at + len(data)
        if end > self._erased_to:
            erase_to = min(-(-end // SECTOR) * SECTOR, self._flash.size)
            self._flash.erase(self._erased_to, erase_to - self._erased_to)
            self._erased_to = erase_to
        self._flash.program(self._at, data)
        self._at = end

    @property
    def complete(self) -> bool:
        return self._at >= self._end
