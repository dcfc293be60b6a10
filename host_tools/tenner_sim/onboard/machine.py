# virtual board: the `machine` module of an ESP32-C3, backed by the supervisor's devices.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Same names, arguments and errors as MicroPython's ESP32 port; runs on Unix MicroPython and CPython.
Left out: Timer, UART, I2S, TouchPad, and `Pin.irq()`, which needs real interrupts.
"""
# ruff: noqa: F401 -- names for others to import

import time
from binascii import hexlify

import _board
from _buses import I2C, SPI, SoftI2C, SoftSPI
from _buses import sleep_ms as _sleep_ms
from _pins import ADC, PWM, Pin, Signal

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
