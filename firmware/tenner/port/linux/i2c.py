# tenner port.linux.i2c: an I2C bus of Linux with the API of machine.I2C.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Transfers are one I2C_RDWR call each, so that a register is read with a repeated start. An adapter
that speaks only SMBus gets the SMBus call that puts the same bytes on the wires, if SMBus has one.
"""

import struct

from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.port.linux.ioctl import address, ioctl, open_device, room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# <linux/i2c-dev.h>
_I2C_SLAVE = const(0x0703)
_I2C_FUNCS = const(0x0705)
_I2C_RDWR = const(0x0707)
_I2C_SMBUS = const(0x0720)

# <linux/i2c.h>
_M_RD = const(1)
_FUNC_I2C = const(0x1)
_FUNC_QUICK = const(0x10000)
_FUNC_READ_BYTE = const(0x20000)
_QUICK = const(0)
_BYTE = const(1)
_BYTE_DATA = const(2)
_WORD_DATA = const(3)
_BLOCK_DATA = const(8)  # I2C_SMBUS_I2C_BLOCK_DATA: the length is not sent
_BLOCK = const(32)

_EBUSY = const(16)
_MOST = const(8192)  # bytes of one message
_SCAN_MS = const(5000)


class I2C:
    """`path` is /dev/i2c-N; the speed is the adapter's own business."""

    def __init__(self, path: str) -> None:
        self._fd = open_device(path, "i2c-dev")
        self._chip = None  # the address that the adapter has selected
        self._held = []  # messages without a stop, until the next one
        functions = bytearray(struct.calcsize("L"))
        ioctl(self._fd, _I2C_FUNCS, functions)
        self._functions = struct.unpack("L", functions)[0]

    # --- the API of machine.I2C

    def scan(self) -> list[int]:
        """Return the addresses that answer, and those that a kernel driver has taken."""
        found = []
        start = ticks_ms()
        for addr in range(0x08, 0x78):
            try:
                self._probe(addr)
                found.append(addr)
            except OSError as error:
                if error.args[0] == _EBUSY:
                    found.append(addr)
            if ticks_diff(ticks_ms(), start) > _SCAN_MS:
                # A scan blocks the agent.
                shown = ", ".join(["0x%02x" % each for each in found]) or "none"
                text = (
                    "scan given up at 0x%02x; found: %s. Bus stuck low, or an adapter that waits \
for absent chips"
                )
                raise OSError(text % (addr, shown))
        return found

    def readfrom_into(self, addr: int, buf: bytearray | memoryview, stop: bool = True) -> None:
        self._read(addr, b"", buf)

    def readfrom(self, addr: int, nbytes: int, stop: bool = True) -> bytes:
        buf = bytearray(nbytes)
        self._read(addr, b"", buf)
        return bytes(buf)

    def writeto(self, addr: int, buf: bytes | bytearray | memoryview, stop: bool = True) -> int:
        """Return the number of bytes, as each was acknowledged: the kernel reports no other
        case."""
        self._write(addr, bytes(buf), stop)
        return len(buf)

    def writevto(
        self, addr: int, vector: "Sequence[bytes | bytearray | memoryview]", stop: bool = True
    ) -> int:
        return self.writeto(addr, b"".join([bytes(part) for part in vector]), stop)

    def readfrom_mem_into(
        self, addr: int, memaddr: int, buf: bytearray | memoryview, *, addrsize: int = 8
    ) -> None:
        self._read(addr, _register(memaddr, addrsize), buf)

    def readfrom_mem(self, addr: int, memaddr: int, nbytes: int, *, addrsize: int = 8) -> bytes:
        buf = bytearray(nbytes)
        self._read(addr, _register(memaddr, addrsize), buf)
        return bytes(buf)

    def writeto_mem(
        self, addr: int, memaddr: int, buf: bytes | bytearray | memoryview, *, addrsize: int = 8
    ) -> None:
        self._write(addr, _register(memaddr, addrsize) + bytes(buf), True)

    # --- transfers

    def _write(self, addr, data, stop):
        self._held.append((addr, 0, room(data)))
        if stop:
            self._transfer()

    def _read(self, addr, register, buf):
        if register:
            self._held.append((addr, 0, room(register)))
        answer = room(len(buf))
        self._held.append((addr, _M_RD, answer))
        self._transfer()
        for index, value in enumerate(answer):
            buf[index] = value

    def _transfer(self):
        """Send the held messages as one transfer, and forget them even if it fails."""
        messages = self._held
        self._held = []
        for addr, _, data in messages:
            if len(data) > _MOST:
                raise OSError(
                    "%d bytes are too many for one I2C transfer (%d)" % (len(data), _MOST)
                )
            # I2C_RDWR itself does not ask whether a kernel driver has the address.
            self._select(addr)
        if self._functions & _FUNC_I2C and (len(messages) > 1 or len(messages[0][2])):
            self._rdwr(messages)
        else:
            self._smbus_instead(messages)

    def _rdwr(self, messages):
        table = b""
        for addr, flags, data in messages:
            table += struct.pack("HHHP", addr, flags, len(data), address(data))
        table = room(table)
        # The third number is the padding at the end of the structure on 64 bits.
        ioctl(self._fd, _I2C_RDWR, bytearray(struct.pack("PII", address(table), len(messages), 0)))

    def _select(self, addr):
        if addr != self._chip:
            self._chip = None
            ioctl(self._fd, _I2C_SLAVE, addr)
            self._chip = addr

    # --- SMBus

    def _probe(self, addr):
        """
        Raise OSError when nothing answers. Like i2cdetect, read a byte at the addresses of EEPROMs
        and clock chips, as the empty write harms some of them.
        """
        self._select(addr)
        cautious = 0x30 <= addr <= 0x37 or 0x50 <= addr <= 0x5F
        if self._functions & _FUNC_QUICK and not (cautious and self._functions & _FUNC_READ_BYTE):
            self._smbus(0, 0, _QUICK)
        elif self._functions & _FUNC_READ_BYTE:
            self._smbus(_M_RD, 0, _BYTE)
        else:
            self._rdwr([(addr, _M_RD, room(1))])

    def _smbus(self, direction, command, kind, data=b""):
        """Make one SMBus call; return the 34 bytes of the kernel's union of a byte, a word and a
        block."""
        union = room(bytes(data) + bytes(34 - len(data)))
        packed = struct.pack("BBIP", direction, command, kind, address(union))
        ioctl(self._fd, _I2C_SMBUS, bytearray(packed))
        return union

    def _smbus_instead(self, messages):
        addr, flags, first = messages[0]
        if len(messages) == 1 and not flags:
            self._smbus_write(first)
        elif len(messages) == 1:
            self._smbus_read(None, first)
        elif len(messages) == 2 and len(first) == 1 and not flags and messages[1][1]:
            self._smbus_read(first[0], messages[1][2])
        else:
            raise OSError(
                "0x%02x: this adapter speaks only SMBus, which has no such transfer" % addr
            )

    def _smbus_write(self, data):
        size = len(data)
        if size < 2:
            self._smbus(0, data[0] if size else 0, size)  # quick, or a byte
        elif size == 2:
            self._smbus(0, data[0], _BYTE_DATA, data[1:])
        elif size == 3:
            # The kernel holds a word in its own order and sends the low byte first.
            self._smbus(0, data[0], _WORD_DATA, struct.pack("H", data[1] | data[2] << 8))
        else:
            _check_block(size - 1)
            self._smbus(0, data[0], _BLOCK_DATA, bytes([size - 1]) + bytes(data[1:]))

    def _smbus_read(self, register, answer):
        size = len(answer)
        if register is None:
            if size != 1:
                raise OSError(
                    "this adapter speaks only SMBus: one byte at a time without register"
                )
            answer[0] = self._smbus(_M_RD, 0, _BYTE)[0]
        elif size == 1:
            answer[0] = self._smbus(_M_RD, register, _BYTE_DATA)[0]
        elif size == 2:
            word = struct.unpack("H", bytes(self._smbus(_M_RD, register, _WORD_DATA)[:2]))[0]
            answer[0] = word & 255
            answer[1] = word >> 8
        else:
            _check_block(size)
            block = self._smbus(_M_RD, register, _BLOCK_DATA, bytes([size]))
            for index in range(size):
                answer[index] = block[index + 1]


def _register(number, bits):
    if bits not in (8, 16, 24, 32):
        raise ValueError("invalid addrsize")
    return struct.pack(">I", number)[4 - bits // 8 :]


def _check_block(size):
    if size > _BLOCK:
        raise OSError(
            "this adapter speaks only SMBus: %d bytes at a time, not %d" % (_BLOCK, size)
        )
