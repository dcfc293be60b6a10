# tenner tests: a flash chip in memory, whose power may fail at any operation.
# MIT license; Copyright (c) 2026 the tenner authors

BLOCK = 4096
ERASED = b"\xff" * BLOCK


class RamFlash:
    """A flash chip; `on_operation(number)` is called when an operation is not done yet, or half
    done."""

    def __init__(self, image, torn=False, on_operation=None):
        self.image = memoryview(image)
        self.torn = torn
        self.on_operation = on_operation
        self.operations = 0
        self.erased = self.written = 0  # blocks, and bytes

    def _operation(self, start, data):
        if self.torn:
            half = len(data) // 2
            self.image[start : start + half] = memoryview(data)[:half]
        if self.on_operation:
            self.on_operation(self.operations)
        self.operations += 1
        self.image[start : start + len(data)] = data
        return 0

    def readblocks(self, block, buf, offset=0):
        start = block * BLOCK + offset
        buf[:] = self.image[start : start + len(buf)]
        return 0

    def writeblocks(self, block, buf, offset=0):
        self.written += len(buf)
        return self._operation(block * BLOCK + offset, buf)

    def ioctl(self, what, block):
        if what == 4:
            return len(self.image) // BLOCK
        if what == 5:
            return BLOCK
        if what == 6:
            self.erased += 1
            return self._operation(block * BLOCK, ERASED)
        return 0
