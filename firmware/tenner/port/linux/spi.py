# tenner port.linux.spi: a device of spidev with the API of machine.SPI and of a chip select pin.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The kernel drives the chip select for the length of one call. So a write between cs(0) and cs(1)
waits for its read: both become one call, and a command and its answer share a chip select as on a
microcontroller. A transfer after that read would need a second chip select: it is refused, not
done wrong.
"""

import struct

from tenner.port.compat import const
from tenner.port.linux.ioctl import address, ioctl, open_device, room

# <linux/spi/spidev.h>
_WR_MODE = const(0x40016B01)
_MESSAGE = const(0x40006B00)  # with the size of all its transfers in bits 16 to 29
_LSB_FIRST = const(8)


class SPI:
    """`path` is /dev/spidevB.C."""

    LSB = 1
    MSB = 0

    def __init__(self, path: str, baudrate: int = 1000000) -> None:
        self._fd = open_device(path, "spidev")
        self._selected = False  # between cs(0) and cs(1)
        self._over = False  # the kernel has ended the chip select already
        self._waiting = []
        self.cs = ChipSelect(self)
        self.init(baudrate)

    def init(
        self,
        baudrate: int = 1000000,
        *,
        polarity: int = 0,
        phase: int = 0,
        bits: int = 8,
        firstbit: int = 0,
    ) -> None:
        mode = polarity << 1 | phase | (_LSB_FIRST if firstbit else 0)
        ioctl(self._fd, _WR_MODE, bytearray([mode]))
        self._baudrate = baudrate
        self._bits = bits

    def deinit(self) -> None:
        pass

    def write(self, buf: bytes) -> None:
        self._waiting.append((room(buf), None))
        if not self._selected:
            self._transfer()

    def write_readinto(self, write_buf: bytes, read_buf: bytearray) -> None:
        if len(write_buf) != len(read_buf):
            raise ValueError("buffers must be the same length")
        answer = room(len(read_buf))
        self._waiting.append((room(write_buf), answer))
        self._transfer()
        for index, value in enumerate(answer):
            read_buf[index] = value

    def readinto(self, buf: bytearray, write: int = 0) -> None:
        self.write_readinto(bytes([write]) * len(buf), buf)

    def read(self, nbytes: int, write: int = 0) -> bytes:
        buf = bytearray(nbytes)
        self.readinto(buf, write)
        return bytes(buf)

    def select(self, level: int) -> None:
        """Begin a transfer (`level` 0) or end it (1)."""
        if level and self._selected and self._waiting:
            self._selected = False
            self._transfer()
        self._waiting = []
        self._selected = not level
        self._over = False

    def _transfer(self):
        """Send the waiting transfers as one call."""
        pieces = self._waiting
        self._waiting = []
        if self._over:
            raise OSError("the kernel ends the chip select with each read: read all in one call")
        self._over = self._selected
        message = b""
        for out, answer in pieces:
            message += struct.pack(
                "QQIIHBBBBBB",
                address(out),
                address(answer) if answer is not None else 0,
                len(out),
                self._baudrate,
                0,
                self._bits,
                0,
                0,
                0,
                0,
                0,
            )
        try:
            ioctl(self._fd, _MESSAGE | len(message) << 16, bytearray(message))
        except OSError as error:
            if error.args[0] != 90:  # EMSGSIZE
                raise
            size = sum([len(out) for out, _ in pieces])
            raise OSError("%d bytes are more than spidev takes at once: see its bufsiz" % size)


class ChipSelect:
    """The chip select, with the methods of a Pin."""

    def __init__(self, spi: SPI) -> None:
        self._spi = spi
        self._level = 1

    def value(self, level: int | None = None) -> int | None:
        if level is None:
            return self._level
        self._level = 1 if level else 0
        self._spi.select(self._level)
        return None

    def __call__(self, level: int | None = None) -> int | None:
        return self.value(level)

    def on(self) -> None:
        self.value(1)

    def off(self) -> None:
        self.value(0)
