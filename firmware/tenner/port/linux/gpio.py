# tenner port.linux.gpio: lines of GPIO chips by the character device, version 2 (Linux 5.10).
# MIT license; Copyright (c) 2026 the tenner authors

import os
import struct

from tenner.port.compat import const
from tenner.port.linux.ioctl import close, ioctl, open_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# <linux/gpio.h>
_CHIPINFO = const(0x8044B401)
_LINEINFO = const(0xC100B405)
_GET_LINE = const(0xC250B407)
_GET_VALUES = const(0xC010B40E)
_SET_VALUES = const(0xC010B40F)
_INPUT = const(1 << 2)
_OUTPUT = const(1 << 3)
_PULL_UP = const(1 << 8)
_PULL_DOWN = const(1 << 9)
_OUTPUT_VALUES = const(2)  # the id of an attribute

# struct gpio_v2_line_request: 64 offsets, the consumer's name, the configuration (flags, number of
# attributes, padding, ten attributes of id, padding, value and mask), number of lines, size of the
# event buffer, padding, fd.
_REQUEST = "I252x32sQI20xIIQQ216xII20xi"
_LINE = "32s32sIIQ176x"

#: The flags of each `use` of `port.gpio`; "in" has none and so changes nothing.
FLAGS = {"in": 0, "up": _INPUT | _PULL_UP, "down": _INPUT | _PULL_DOWN, "out": _OUTPUT}


def chips(folder: str = "/dev") -> list[str]:
    """Return the paths of the GPIO chips."""
    names = [name for name in os.listdir(folder) if name.startswith("gpiochip")]
    return [folder + "/" + name for name in sorted(names)]


def label(path: str) -> tuple[str, int]:
    """Return (label, number of lines) of a chip, such as ("3020000.gpio", 32)."""
    fd = open_device(path, "gpiolib")
    try:
        info = bytearray(68)
        ioctl(fd, _CHIPINFO, info)
    finally:
        close(fd)
    _, text, lines = struct.unpack("32s32sI", info)
    return _text(text), lines


def line_info(path: str, offset: int) -> tuple[str, str]:
    """Return (name, who has it or "") of one line."""
    fd = open_device(path, "gpiolib")
    try:
        return _line_info(fd, offset)
    finally:
        close(fd)


def line_names(path: str, lines: int) -> "Iterator[tuple[str, int]]":
    """Yield (name, offset) of the lines of a chip that have names."""
    fd = open_device(path, "gpiolib")
    try:
        for offset in range(lines):
            name = _line_info(fd, offset)[0]
            if name:
                yield name, offset
    finally:
        close(fd)


def _line_info(fd, offset):
    info = bytearray(struct.pack(_LINE, b"", b"", offset, 0, 0))
    ioctl(fd, _LINEINFO, info)
    name, consumer, _, _, flags = struct.unpack(_LINE, info)
    return _text(name), (_text(consumer) or "the kernel") if flags & 1 else ""


class Line:
    """One line, taken from the chip until `close`; the level of an output stays while it is
    taken."""

    def __init__(self, path: str, offset: int, use: str, level: int | None = None) -> None:
        outputs = (1, _OUTPUT_VALUES, 0, 1 if level else 0, 1) if use == "out" else (0,) * 5
        request = struct.pack(_REQUEST, offset, b"tenner", FLAGS[use], *outputs, 1, 0, 0)
        request = bytearray(request)
        chip = open_device(path, "gpiolib")
        try:
            ioctl(chip, _GET_LINE, request)
        finally:
            close(chip)
        self._fd = struct.unpack(_REQUEST, request)[-1]

    def value(self, level: int | None = None) -> int | None:
        """Return the level, or set it."""
        values = bytearray(struct.pack("QQ", 1 if level else 0, 1))
        ioctl(self._fd, _GET_VALUES if level is None else _SET_VALUES, values)
        return values[0] & 1 if level is None else None

    def close(self) -> None:
        if self._fd >= 0:
            close(self._fd)
            self._fd = -1


def _text(data):
    return bytes(data).split(b"\0")[0].decode()
