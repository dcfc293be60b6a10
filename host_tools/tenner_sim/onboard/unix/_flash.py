# virtual board: the block device over the flash image, with wear counters and power cuts.
# MIT license; Copyright (c) 2026 the tenner authors

from array import array

_EIO = -5
_ERASED = b"\xff" * 4096

# Places in the counters file, and in the two arrays that mirror it.
_ERASES = 0
_PROGRAMS = 1
_BYTES = 2
_OPERATIONS = 3
_CUT_AT = 0
_TORN = 1


class FlashRegion:
    """
    `size` bytes at `offset` of the open image file, as littlefs wants them. Nothing here
    allocates: files may be closed by the garbage collector's finalisers, which run with the heap
    locked.

    `counters` is a file of six 32-bit words: erases, programs, bytes and operations so far
    (written here), the operation that loses power (-1: none), and whether that one is done by
    half. At the cut `on_power_lost` is called; without it, or when it returns, that operation and
    all later ones fail with EIO. Dropping them silently instead would make littlefs move on to
    other blocks.
    """

    BLOCK = 4096

    def __init__(self, image, offset, size, counters=None, on_power_lost=None):
        self._image = image
        self._offset = offset
        self._blocks = size // self.BLOCK
        self._file = counters
        self.counts = array("i", [0, 0, 0, 0])
        self.cut = array("i", [-1, 0])
        self._on_power_lost = on_power_lost
        self.off = False
        if counters:
            counters.seek(0)
            counters.readinto(self.counts)

    def readblocks(self, block, buf, offset=0):
        if self.off:
            return _EIO
        self._image.seek(self._offset + block * self.BLOCK + offset)
        self._image.readinto(buf)
        return 0

    def writeblocks(self, block, buf, offset=0):
        if self.off:
            return _EIO
        counts = self.counts
        counts[_PROGRAMS] += 1
        counts[_BYTES] += len(buf)
        self._image.seek(self._offset + block * self.BLOCK + offset)
        if self._power_lost():
            if self.cut[_TORN]:
                # Half of the program: a flash page is filled front to back.
                self._image.write(buf, len(buf) // 2)
            return self._lose_power()
        self._image.write(buf)
        return 0

    def ioctl(self, operation, argument):
        if operation == 4:
            return self._blocks
        if operation == 5:
            return self.BLOCK
        if operation == 6:
            if self.off:
                return _EIO
            self.counts[_ERASES] += 1
            self._image.seek(self._offset + argument * self.BLOCK)
            if self._power_lost():
                if self.cut[_TORN]:
                    self._image.write(_ERASED, self.BLOCK // 2)
                return self._lose_power()
            self._image.write(_ERASED)
        return 0

    def _power_lost(self):
        """Count this operation; return whether it is the one that loses power."""
        self.counts[_OPERATIONS] += 1
        counters = self._file
        if counters:
            counters.seek(0)
            counters.write(self.counts)
            counters.readinto(self.cut)
        return 0 <= self.cut[_CUT_AT] < self.counts[_OPERATIONS]

    def _lose_power(self):
        self.off = True
        if self._on_power_lost:
            self._on_power_lost()
        return _EIO
