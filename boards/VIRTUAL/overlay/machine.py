# virtual board: the `machine` module of an ESP32-C3, backed by the supervisor's devices.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Same names, arguments and errors as MicroPython's ESP32 port; runs on Unix MicroPython and CPython.
Left out: Timer, UART, I2S, TouchPad, and `Pin.irq()`, which needs real interrupts.
"""

import struct
import time
from binascii import hexlify

import _board

try:
    from umachine import idle
except ImportError:

    def idle():
        time.sleep(0.001)


PWRON_RESET = 1
HARD_RESET = 2
WDT_RESET = 3
DEEPSLEEP_RESET = 4
SOFT_RESET = 5

EXT0_WAKE = 2
EXT1_WAKE = 3
TIMER_WAKE = 4
PIN_WAKE = 2

_PINS = 22
_ETIMEDOUT = 110
_frequency = 160000000


def reset():
    _board.lost("reset")


def soft_reset():
    _board.lost("softreset")


def bootloader(timeout_ms=0):
    _board.lost("bootloader")


def deepsleep(time_ms=-1):
    """Sleep for so long, or without a number until the board is reset."""
    _board.lost("deepsleep %d" % time_ms)


def lightsleep(time_ms=0):
    _sleep_ms(time_ms)


def reset_cause():
    return _board.cause


def wake_reason():
    """TIMER_WAKE, 7 for a pin (as on a C3), or 0 when it was no wake."""
    return int(_board.ask("wake_reason")) if _board.cause == DEEPSLEEP_RESET else 0


def unique_id():
    return _board.ask("unique_id")


def freq(hz=None):
    global _frequency
    if hz is None:
        return _frequency
    if hz not in (20000000, 40000000, 80000000, 160000000):
        raise ValueError("frequency must be 20MHz, 40MHz, 80Mhz or 160MHz")
    _frequency = hz


def disable_irq():
    return 0


def enable_irq(state=0):
    pass


def _sleep_ms(ms):
    try:
        time.sleep_ms(ms)
    except AttributeError:
        time.sleep(ms / 1000)


class Pin:
    """One GPIO. Inputs read the world's `gpioN`, outputs drive it."""

    IN = 1
    OUT = 3
    OPEN_DRAIN = 7
    PULL_DOWN = 1
    PULL_UP = 2
    PULL_HOLD = 4
    IRQ_RISING = 1
    IRQ_FALLING = 2
    WAKE_LOW = 4
    WAKE_HIGH = 5
    DRIVE_0 = 0
    DRIVE_1 = 1
    DRIVE_2 = 2
    DRIVE_3 = 3

    def __init__(self, id, mode=-1, pull=-1, *, value=None, drive=None, hold=None):
        if isinstance(id, str):
            id = int(_board.ask("pin_number " + id) or b"-1")
        if not isinstance(id, int) or not 0 <= id < _PINS:
            raise ValueError("invalid pin")
        self._id = id
        self._mode = self.IN
        self._level = 0
        self.init(mode, pull, value=value)

    def init(self, mode=-1, pull=-1, *, value=None, drive=None, hold=None):
        if mode != -1:
            self._mode = mode
            pull = 0 if pull in (-1, None) else pull
            _board.tell("pin_mode %d %d %d" % (self._id, mode, pull))
        if value is not None:
            self.value(value)

    def value(self, level=None):
        if level is None:
            if self._mode == self.OUT:
                return self._level
            return int(_board.ask("pin_read %d" % self._id))
        self._level = 1 if level else 0
        _board.tell("pin %d %d" % (self._id, self._level))

    def __call__(self, level=None):
        return self.value(level)

    def on(self):
        self.value(1)

    def off(self):
        self.value(0)

    def toggle(self):
        self.value(not self._level)

    def irq(self, handler=None, trigger=3, *, wake=None, hard=False):
        raise NotImplementedError("the virtual board has no pin interrupts: poll Pin.value()")

    def __repr__(self):
        return "Pin(%d)" % self._id


class Signal:
    """A pin that may be active low."""

    def __init__(self, pin, invert=False):
        self._pin = pin
        self._invert = 1 if invert else 0

    def value(self, level=None):
        if level is None:
            return self._pin.value() ^ self._invert
        self._pin.value((1 if level else 0) ^ self._invert)

    def __call__(self, level=None):
        return self.value(level)

    def on(self):
        self.value(1)

    def off(self):
        self.value(0)


def _gpio(pin, default="-"):
    """The number of a pin given as Pin or int, as text; `default` for None."""
    if pin is None:
        return default
    return str(pin._id if isinstance(pin, Pin) else Pin(pin)._id)


class SoftI2C:
    """I2C on any two pins. A bus is found by its pins, as by wires: wrong pins reach no device."""

    def __init__(self, scl=None, sda=None, *, freq=400000, timeout=50000):
        self._open(scl, sda, freq, timeout)

    def _open(self, scl, sda, freq, timeout):
        self._bus = "%s %s %d" % (_gpio(scl), _gpio(sda), freq)
        self._timeout_ms = timeout // 1000

    def init(self, scl=None, sda=None, *, freq=400000, timeout=50000):
        self._open(scl, sda, freq, timeout)

    def scan(self):
        try:
            return list(_board.ask("i2c_scan " + self._bus))
        except OSError:
            # A bus that hangs has no devices, says the chip, after waiting for each of them.
            _sleep_ms(112 * self._timeout_ms)
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
                _sleep_ms(self._timeout_ms)
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
        pins = "%s %s %s" % (_gpio(sck), _gpio(mosi), _gpio(miso))
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


class ADC:
    """Analog input; the voltage is the world's `gpioN.volts`. On the C3 only GPIO0..4."""

    ATTN_0DB = 0
    ATTN_2_5DB = 1
    ATTN_6DB = 2
    ATTN_11DB = 3
    WIDTH_12BIT = 12
    _FULL_SCALE_UV = (950000, 1250000, 1750000, 3100000)

    def __init__(self, pin, *, atten=0):
        self._id = int(_gpio(pin))
        if self._id > 4:
            raise ValueError("invalid pin")
        self._atten = atten

    def init(self, *, atten=0):
        self._atten = atten

    def atten(self, atten):
        self._atten = atten

    def width(self, bits):
        pass

    def read_uv(self):
        volts = float(_board.ask("adc %d" % self._id))
        return min(max(int(volts * 1000000), 0), self._FULL_SCALE_UV[self._atten])

    def read_u16(self):
        return self.read_uv() * 65535 // self._FULL_SCALE_UV[self._atten]

    def read(self):
        return self.read_u16() >> 4


class PWM:
    """Pulse width; what it drives is the world's `gpioN.duty` (0..1) and `gpioN.hz`."""

    def __init__(self, dest, freq=5000, duty=None, *, duty_u16=None, duty_ns=None, invert=0):
        self._id = int(_gpio(dest))
        self._freq = freq
        self._duty = 32768
        self.init(freq=freq, duty=duty, duty_u16=duty_u16, duty_ns=duty_ns)

    def init(self, *, freq=None, duty=None, duty_u16=None, duty_ns=None, invert=0):
        if freq is not None:
            if not 1 <= freq <= 40000000:
                raise ValueError("frequency must be from 1Hz to 40MHz")
            self._freq = freq
        if duty is not None:
            duty_u16 = duty << 6
        elif duty_ns is not None:
            duty_u16 = duty_ns * self._freq * 65536 // 1000000000
        if duty_u16 is not None:
            self._duty = min(max(duty_u16, 0), 65535)
        _board.tell("pwm %d %d %d" % (self._id, self._freq, self._duty))

    def freq(self, hz=None):
        if hz is None:
            return self._freq
        self.init(freq=hz)

    def duty(self, value=None):
        if value is None:
            return self._duty >> 6
        self.init(duty=value)

    def duty_u16(self, value=None):
        if value is None:
            return self._duty
        self.init(duty_u16=value)

    def duty_ns(self, value=None):
        if value is None:
            return self._duty * 1000000000 // (self._freq * 65536)
        self.init(duty_ns=value)

    def deinit(self):
        _board.tell("pwm %d 0 0" % self._id)


class RTC:
    """The clock, and 2 KB of memory that outlive deep sleep."""

    _MEMORY = 2048

    def __init__(self, id=0):
        pass

    def datetime(self, when=None):
        """(year, month, day, weekday, hour, minute, second, microsecond)"""
        if when is None:
            now = time.gmtime()
            return (now[0], now[1], now[2], now[6], now[3], now[4], now[5], 0)
        # Counted by hand: mktime() is local time on one interpreter and UTC on the other.
        days = _days(when[0], when[1], when[2])
        _board.ask("rtc %d" % (days * 86400 + when[4] * 3600 + when[5] * 60 + when[6]))

    def init(self, when):
        self.datetime(when)

    def memory(self, data=None):
        if data is None:
            return _board.ask("rtc_memory")
        data = bytes(data)
        if len(data) > self._MEMORY:
            raise ValueError("buffer too long")
        _board.ask("rtc_memory =" + hexlify(data).decode())


def _days(year, month, day):
    """Days from 1970-01-01, by the civil calendar."""
    if month <= 2:
        year -= 1
        month += 12
    leaps = year // 4 - year // 100 + year // 400
    return 365 * year + leaps + (153 * (month - 3) + 2) // 5 + day - 719469


class WDT:
    """Watchdog: cannot be stopped, as on the chip; constructing it again changes the timeout."""

    def __init__(self, id=0, timeout=5000):
        if id != 0:
            raise ValueError("WDT(%s) doesn't exist" % id)
        if timeout <= 0:
            raise ValueError("WDT timeout too short")
        self._timeout = timeout
        self.feed()

    def feed(self):
        _board.tell("wdt %d" % self._timeout)
