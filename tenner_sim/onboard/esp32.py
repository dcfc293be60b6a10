# virtual board: the small part of the `esp32` module that an application asks for.
# MIT license; Copyright (c) 2026 the tenner authors

from binascii import hexlify

import _board

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
    """The running application; there is no second slot, so no rollback to cancel."""

    BOOT = 0
    RUNNING = 1
    TYPE_APP = 0
    TYPE_DATA = 1

    def __init__(self, id):
        self._id = id

    def info(self):
        return (0, 0, 0x10000, 0x1F0000, "factory", False)

    @classmethod
    def mark_app_valid_cancel_rollback(cls):
        raise _board.os_error(-261)
