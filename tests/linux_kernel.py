# tenner test support: a kernel of our own behind the seam of port.linux.ioctl, for buses and
# lines. MIT license; Copyright (c) 2026 the tenner authors
"""
It reads the structures of <linux/i2c-dev.h>, <linux/spi/spidev.h> and <linux/gpio.h> by their byte
offsets. It follows the addresses in them as the real one does.
"""

import struct
import sys

WORD = 8 if sys.maxsize > 0x7FFFFFFF else 4
POINTER = "<Q" if WORD == 8 else "<I"

try:
    import uctypes

    def memory(address, size):
        return uctypes.bytearray_at(address, size)

except ImportError:
    import ctypes

    def memory(address, size):
        return (ctypes.c_uint8 * size).from_address(address)


def number(data, offset, form):
    return struct.unpack_from(form, bytes(data), offset)[0]


class Patched:
    """Puts functions in the place of a module's until the test is over."""

    def __init__(self, case, module, **functions):
        for name in functions:
            case.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, functions[name])


class I2CAdapter:
    """`chips` is {address: registers}; a register is read from where the pointer byte says, as by
    a RAM chip."""

    def __init__(self, functions, chips, busy=()):
        self.functions = functions
        self.chips = {address: bytearray(chips[address]) for address in chips}
        self.busy = busy  # addresses a kernel driver has
        self.fails = {}  # address: errno instead of ENXIO or an answer
        self.log = []
        self._slave = None
        self._pointer = {}

    def ioctl(self, fd, request, argument):
        if request == 0x0705:  # I2C_FUNCS
            assert len(argument) == WORD
            argument[:] = struct.pack("<Q", self.functions)[:WORD]
        elif request == 0x0703:  # I2C_SLAVE
            if argument in self.busy:
                raise OSError(16)
            self._slave = argument
        elif request == 0x0707:  # I2C_RDWR
            self._rdwr(argument)
        elif request == 0x0720:  # I2C_SMBUS
            self._smbus(argument)
        else:
            raise AssertionError("no such request: %x" % request)
        return 0

    def _chip(self, address):
        if address in self.fails:
            raise OSError(self.fails[address])
        if address not in self.chips:
            raise OSError(6)  # ENXIO
        return self.chips[address]

    def _rdwr(self, data):
        assert self.functions & 1, "this adapter has no I2C_RDWR"
        table = number(data, 0, POINTER)
        count = number(data, WORD, "<I")
        each = 16 if WORD == 8 else 12
        messages = []
        for index in range(count):
            raw = bytes(memory(table + index * each, each))
            address, flags, size = struct.unpack_from("<HHH", raw)
            buffer = memory(number(raw, 8, POINTER), size) if size else bytearray()
            messages.append((address, flags, buffer))
        # One list for one transfer: its parts have a repeated start between them.
        self.log.append([(a, "r" if f & 1 else "w", len(b)) for a, f, b in messages])
        for address, flags, buffer in messages:
            if flags & 1:
                self._read(address, buffer)
            else:
                self._write(address, bytes(buffer))

    def _write(self, address, data):
        chip = self._chip(address)
        if data:
            self._pointer[address] = data[0]
            chip[data[0] : data[0] + len(data) - 1] = data[1:]

    def _read(self, address, buffer):
        chip = self._chip(address)
        start = self._pointer.get(address, 0)
        for index in range(len(buffer)):
            buffer[index] = chip[start + index]

    def _smbus(self, data):
        direction, command, kind = data[0], data[1], number(data, 4, "<I")
        union = memory(number(data, 8, POINTER), 34)
        self.log.append(("r" if direction else "w", command, kind))
        needed = {0: 0x10000, 1: 0x20000, 2: 0x80000, 3: 0x200000, 8: 0x4000000}[kind]
        if direction == 0 and kind:
            needed <<= 1
        assert self.functions & needed, "this adapter has no such SMBus call"
        sizes = {0: 0, 1: 1, 2: 1, 3: 2, 8: union[0]}
        if kind in (0, 1) and not direction:
            self._write(self._slave, bytes([command])[:kind])
            return
        first = 1 if kind == 8 else 0
        if direction:
            if kind > 1:
                self._write(self._slave, bytes([command]))
            answer = bytearray(sizes[kind])
            self._read(self._slave, answer)
            for index, value in enumerate(answer):
                union[first + index] = value
        else:
            self._write(self._slave, bytes([command]) + bytes(union[first : first + sizes[kind]]))


class SpiDevice:
    """`answer(bytes out) -> bytes in` is the chip; it is asked once per chip select."""

    def __init__(self, answer, bufsiz=4096):
        self.answer = answer
        self.bufsiz = bufsiz
        self.mode = None
        self.log = []

    def ioctl(self, fd, request, argument):
        if request == 0x40016B01:  # SPI_IOC_WR_MODE
            self.mode = argument[0]
            return 0
        count = (request >> 16 & 0x3FFF) // 32
        assert request == 0x40006B00 | count * 32 << 16 and len(argument) == 32 * count, hex(
            request
        )
        out = b""
        answers = []
        for index in range(count):
            raw = bytes(argument[32 * index : 32 * index + 32])
            tx, rx, size, speed, delay = struct.unpack_from("<QQIIH", raw)
            bits, change = raw[26], raw[27]
            assert (delay, change, raw[28:]) == (0, 0, b"\0\0\0\0")
            out += bytes(memory(tx, size))
            answers.append((memory(rx, size) if rx else None, size))
            self.log.append((size, speed, bits))
        if len(out) > self.bufsiz:
            raise OSError(90)  # EMSGSIZE
        data = self.answer(out)
        for buffer, size in answers:
            if buffer is not None:
                for index in range(size):
                    buffer[index] = data[index]
            data = data[size:]
        return 0


class GpioChip:
    """`used` is {line: consumer}; lines that are asked for get file descriptors from 100 on."""

    def __init__(self, label, names, used=None, bias=True):
        self.label = label
        self.names = names
        self.used = used or {}
        self.bias = bias
        self.levels = {}
        self.flags = {}
        self.taken = {}  # fd: line
        self._next = 100

    def ioctl(self, fd, request, argument):
        if request == 0x8044B401:  # GPIO_GET_CHIPINFO_IOCTL
            argument[32 : 32 + len(self.label)] = self.label.encode()
            argument[64:68] = struct.pack("<I", len(self.names))
        elif request == 0xC100B405:  # GPIO_V2_GET_LINEINFO_IOCTL
            line = number(argument, 64, "<I")
            name = self.names[line].encode()
            who = self.used.get(line, "tenner" if line in self.taken.values() else "").encode()
            argument[0 : len(name)] = name
            argument[32 : 32 + len(who)] = who
            argument[72] = 1 if line in self.used else 0
        elif request == 0xC250B407:  # GPIO_V2_GET_LINE_IOCTL
            self._take(argument)
        elif request == 0xC010B40E:  # GPIO_V2_LINE_GET_VALUES_IOCTL
            assert number(argument, 8, "<Q") == 1
            argument[0] = self.levels.get(self.taken[fd], 0)
        elif request == 0xC010B40F:  # GPIO_V2_LINE_SET_VALUES_IOCTL
            assert self.flags[self.taken[fd]] & 8
            self.levels[self.taken[fd]] = argument[0]
        else:
            raise AssertionError("no such request: %x" % request)
        return 0

    def _take(self, data):
        assert len(data) == 592 and bytes(data[256:263]) == b"tenner\0"
        line = number(data, 0, "<I")
        flags = number(data, 288, "<Q")
        assert number(data, 560, "<I") == 1
        if line in self.used or line in self.taken.values():
            raise OSError(16)
        if flags & 0x700 and not self.bias:
            raise OSError(95)  # EOPNOTSUPP
        self.flags[line] = flags
        if number(data, 296, "<I"):
            assert (number(data, 320, "<I"), number(data, 336, "<Q")) == (2, 1)
            self.levels[line] = number(data, 328, "<Q")
        elif flags & 0x100:
            self.levels[line] = 1
        elif flags & 0x200:
            self.levels[line] = 0
        self.taken[self._next] = line
        data[588:592] = struct.pack("<i", self._next)
        self._next += 1

    def close(self, fd):
        self.taken.pop(fd, None)
