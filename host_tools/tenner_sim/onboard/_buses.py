# virtual board: the buses of `machine`: bytes to and from the supervisor's chips.
# MIT license; Copyright (c) 2026 the tenner authors

import struct
import time
from binascii import hexlify

import _board
from _pins import gpio

_ETIMEDOUT = 110


def sleep_ms(ms):
    try:
        time.sleep_ms(ms)
    except AttributeError:
        time.sleep(ms / 1000)


class SoftI2C:
    """I2C on any two pins. A bus is found by its pins, as by wires: wrong pins reach no device."""

    def __init__(self, scl=None, sda=None, *, freq=400000, timeout=50000):
        self._open(scl, sda, freq, timeout)

    def _open(self, scl, sda, freq, timeout):
        self._bus = "%s %s %d" % (gpio(scl), gpio(sda), freq)
        self._timeout_ms = timeout // 1000

    def init(self, scl=None, sda=None, *, freq=400000, timeout=50000):
        self._open(scl, sda, freq, timeout)

    def scan(self):
        try:
            return list(_board.ask("i2c_scan " + self._bus))
        except OSError:
            # A bus that hangs has no devices, says the chip, after waiting for each of them.
            sleep_ms(112 * self._timeout_ms)
            return []

    def _write(self, addr, data, stop):
        text = "i2c_write %s %d %d %s" % (self._bus, addr, stop, hexlify(data).decode())
        return int(self._transfer(_board.ask, text))

    def _read_into(self, addr, buf, stop):
        if len(buf):
            text = "i2c_read %s %d %d %d" % (self._bus, addr, stop, len(buf))
            self._transfer(_board.ask_into, text, buf)

    def _transfer(self, ask, *question):
        try:
            return ask(*question)
        except OSError as error:
            if error.args[0] == _ETIMEDOUT:
                # Nothing else runs on the chip meanwhile.
                sleep_ms(self._timeout_ms)
            raise

    def writeto(self, addr, buf, stop=True):
        return self._write(addr, buf, stop)

    def writevto(self, addr, vector, stop=True):
        return self._write(addr, b"".join([bytes(part) for part in vector]), stop)

    def readfrom_into(self, addr, buf, stop=True):
        self._read_into(addr, buf, stop)

    def readfrom(self, addr, nbytes, stop=True):
        buf = bytearray(nbytes)
        self._read_into(addr, buf, stop)
        return bytes(buf)

    def _memory_address(self, memaddr, addrsize):
        if addrsize not in (8, 16, 24, 32):
            raise ValueError("invalid addrsize")
        return struct.pack(">I", memaddr)[4 - addrsize // 8 :]

    def readfrom_mem_into(self, addr, memaddr, buf, *, addrsize=8):
        self._write(addr, self._memory_address(memaddr, addrsize), False)
        self._read_into(addr, buf, True)

    def readfrom_mem(self, addr, memaddr, nbytes, *, addrsize=8):
        buf = bytearray(nbytes)
        self.readfrom_mem_into(addr, memaddr, buf, addrsize=addrsize)
        return bytes(buf)

    def writeto_mem(self, addr, memaddr, buf, *, addrsize=8):
        self._write(addr, self._memory_address(memaddr, addrsize) + bytes(buf), True)


class I2C(SoftI2C):
    """The hardware controller; an ESP32-C3 has one."""

    def __init__(self, id=0, *, scl=None, sda=None, freq=400000, timeout=50000):
        if id != 0:
            raise ValueError("I2C(%s) doesn't exist" % id)
        self._open(scl, sda, freq, timeout)


class SoftSPI:
    """SPI on any pins; the chip select is a Pin the driver moves itself."""

    MSB = 0
    LSB = 1

    def __init__(
        self,
        baudrate=500000,
        *,
        polarity=0,
        phase=0,
        bits=8,
        firstbit=0,
        sck=None,
        mosi=None,
        miso=None,
    ):
        self._open(baudrate, polarity, phase, bits, firstbit, sck, mosi, miso)

    def _open(self, baudrate, polarity, phase, bits, firstbit, sck, mosi, miso):
        if bits != 8:
            raise ValueError("bits must be 8")
        pins = "%s %s %s" % (gpio(sck), gpio(mosi), gpio(miso))
        self._bus = "%s %d %d %d" % (pins, baudrate, (polarity << 1) | phase, firstbit)

    def init(self, baudrate=500000, *, polarity=0, phase=0, bits=8, firstbit=0):
        pins = self._bus.split()[:3]
        mode = (polarity << 1) | phase
        self._bus = "%s %d %d %d" % (" ".join(pins), baudrate, mode, firstbit)

    def deinit(self):
        pass

    def _exchange(self, out, buf):
        if len(out):
            _board.ask_into("spi %s %s" % (self._bus, hexlify(out).decode()), buf)

    def write_readinto(self, write_buf, read_buf):
        if len(write_buf) != len(read_buf):
            raise ValueError("buffers must be the same length")
        self._exchange(write_buf, read_buf)

    def readinto(self, buf, write=0):
        self._exchange(bytes([write]) * len(buf), buf)

    def read(self, nbytes, write=0):
        buf = bytearray(nbytes)
        self.readinto(buf, write)
        return bytes(buf)

    def write(self, buf):
        self._exchange(buf, bytearray(len(buf)))


class SPI(SoftSPI):
    """The hardware controller; on an ESP32-C3 only number 1 is free."""

    def __init__(
        self,
        id=1,
        baudrate=1000000,
        *,
        polarity=0,
        phase=0,
        bits=8,
        firstbit=0,
        sck=None,
        mosi=None,
        miso=None,
    ):
        if id != 1:
            raise ValueError("SPI(%s) doesn't exist" % id)
        self._open(baudrate, polarity, phase, bits, firstbit, sck, mosi, miso)
