# virtual board: the small part of the `esp32` module that an application asks for.
# MIT license; Copyright (c) 2026 the tenner authors

from binascii import hexlify

import _board

try:
    from _flash import FlashRegion

    _image = open(_board.flash_fd, "r+b")
except ImportError:
    # On CPython the board has no flash.
    FlashRegion = _image = None

_BLOCK = 4096
# ESP-IDF's.
_INVALID_ARG = 0x102
_INVALID_SIZE = 0x104

HEAP_DATA = 4
HEAP_EXEC = 1
WAKEUP_ALL_LOW = False
WAKEUP_ANY_HIGH = True


def idf_heap_info(capabilities):
    """[(total, free, largest free block, minimum free ever)]: a C3 that has joined Wi-Fi."""
    free = int(float(_board.ask("signal chip.idf_free")))
    return [(181000, free, free * 5 // 8, free), (16384, 9000, 8192, 9000)]


def mcu_temperature():
    """The chip's own temperature in whole degrees: the signal `chip.temperature`."""
    return int(float(_board.ask("signal chip.temperature")))


def wake_on_gpio(pins, level):
    """Wake from deep sleep when one of the pins has the level."""
    numbers = " ".join([str(pin._id) for pin in pins])
    _board.tell("wake_on %d %s" % (1 if level else 0, numbers))


class NVS:
    """Key and value storage beside the file system."""

    def __init__(self, namespace):
        self._name = namespace

    def _key(self, kind, key):
        return "nvs %s/%s/%s" % (self._name, kind, key)

    def set_i32(self, key, value):
        _board.ask(self._key("i", key) + " =" + hexlify(str(value).encode()).decode())

    def get_i32(self, key):
        return int(_board.ask(self._key("i", key)))

    def set_blob(self, key, value):
        _board.ask(self._key("b", key) + " =" + hexlify(value).decode())

    def get_blob(self, key, buf):
        data = _board.ask(self._key("b", key))
        buf[: len(data)] = data
        return len(data)

    def erase_key(self, key):
        _board.ask(self._key("i", key) + " -")

    def commit(self):
        pass


class Partition:
    """
    A row of the partition table. As on NOR flash, a write without an erase leaves the AND of old
    and new; the errors are those of ESP-IDF, negative.
    """

    BOOT = 0
    RUNNING = 1
    TYPE_APP = 0
    TYPE_DATA = 1

    def __init__(self, id, block_size=_BLOCK):
        if id == self.RUNNING:
            id = "running"
        elif id == self.BOOT:
            id = "next_start"
        elif isinstance(id, int):
            raise ValueError
        else:
            id = "label " + id
        self._row = _board.ask("partition " + id).decode().split(" ")
        self._size = int(self._row[3])

    @classmethod
    def find(cls, type=TYPE_APP, subtype=0xFF, label=None, block_size=_BLOCK):
        found = []
        for line in _board.ask("partition find").decode().split("\n"):
            row = line.split(" ")
            if int(row[0]) == type and subtype in (0xFF, int(row[1])):
                if label is None or label == row[4]:
                    found.append(cls(row[4]))
        return found

    def info(self):
        kind, subtype, offset, size, label = self._row
        return (int(kind), int(subtype), int(offset), int(size), label, False)

    def readblocks(self, block, buf, offset=0):
        at = block * _BLOCK + offset
        self._check(at, len(buf))
        _flash(self._row).readblocks(0, buf, at)

    def writeblocks(self, block, buf, offset=None):
        at = block * _BLOCK + (offset or 0)
        if offset is None:
            self._erase(at, len(buf))
        self._check(at, len(buf))
        there = bytearray(len(buf))
        flash = _flash(self._row)
        flash.readblocks(0, there, at)
        if there.count(b"\xff") < len(there):
            buf = bytes([old & new for old, new in zip(there, buf)])
        flash.writeblocks(0, buf, at)

    def ioctl(self, cmd, arg):
        if cmd in (1, 2, 3):
            return 0
        if cmd == 4:
            return self._size // _BLOCK
        if cmd == 5:
            return _BLOCK
        if cmd == 6:
            self._erase(arg * _BLOCK, _BLOCK)
            return 0

    def _check(self, at, length):
        if at < 0 or at > self._size:
            raise _board.os_error(-_INVALID_ARG)
        if at + length > self._size:
            raise _board.os_error(-_INVALID_SIZE)

    def _erase(self, at, length):
        self._check(at, length)
        if length % _BLOCK:
            raise _board.os_error(-_INVALID_SIZE)
        if at % _BLOCK:
            raise _board.os_error(-_INVALID_ARG)
        for block in range(at // _BLOCK, (at + length) // _BLOCK):
            _flash(self._row).ioctl(6, block)

    def set_boot(self):
        _board.ask("partition boot " + self._row[4])

    def get_next_update(self):
        return Partition(_board.ask("partition next " + self._row[4]).decode().split(" ")[4])

    @classmethod
    def mark_app_valid_cancel_rollback(cls):
        _board.ask("partition valid")


def _flash(row):
    """The partition's part of the flash."""
    return FlashRegion(_image, int(row[2]), int(row[3]))
