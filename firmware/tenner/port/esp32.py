# tenner port.esp32: stock MicroPython on an ESP32-class chip, with its own values.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import sys
import time

import machine
import network

from tenner import chip_heap
from tenner.port import sntp
from tenner.port.compat import const
from tenner.port.gpio import Gpio
from tenner.port.package import package_path
from tenner.port.pins import Pins
from tenner.port.stdin import Stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from network import WLAN

    from tenner.port.types import Sections

_PSRAM_HEAP = const(1000000)  # no ESP32 without PSRAM has a GC heap of this size
# A session takes up to 32 KB, one block of 17 KB among it; the rest is for Wi-Fi and for the
# growth of Python's heap.
_TLS_BLOCK = const(20000)
_TLS_FREE = const(64000)
_FIRST = const(0x08)  # an I2C address that no chip has
_OLDEST_TIME = const(1735689600)  # 2025-01-01: an earlier clock was never set
# A clock that is set moves further only if a second answer agrees, give or take some seconds.
_DAY_S = const(86400)
_AGREE_S = const(10)
#: Built-in modules that many others import, and that a file can replace.
_REPLACEABLE = const("binascii hashlib json os struct time")

# time.time() counts from 2000 on an ESP32 and from 1970 elsewhere.
_EPOCH = 946684800 if time.gmtime(0)[0] == 2000 else 0


class Port:
    kind = "esp32"
    #: The seconds that an answer of a time server would move the clock, until another confirms it.
    doubt: int | None = None

    def __init__(self, root: str = "") -> None:
        self.root = root
        self.small = chip_heap.heap_bytes() < _PSRAM_HEAP
        #: Does Python's heap grow into the memory that Wi-Fi and TLS live on?
        self.shares_memory = chip_heap.is_shared
        self._config: Sections | None = None
        self._buses = {}  # open buses and pins by name or GPIO, and the names of each kind
        self._stdin: Stdin | None = None
        # Else each import of one looks for six files first.
        for name in _REPLACEABLE.split():
            sys.modules[name] = __import__(name)

    def path(self, name: str) -> str:
        return self.root + "/" + name

    def private(self) -> "Sequence[str]":
        """Return the agent's own files and folders that are not in the root folder."""
        return ()

    # --- identity, memory, life

    def device_id(self) -> bytes:
        return machine.unique_id()

    def memory(self) -> tuple[int, int]:
        """Return (free, used) bytes of the GC heap at its present size; to grow costs TLS
        memory."""
        gc.collect()
        used = gc.mem_alloc()
        return chip_heap.heap_bytes() - used, used

    def system_memory(self) -> tuple[int, int, int]:
        """Return (free, largest free block, least ever free) bytes of the memory for Wi-Fi and
        TLS."""
        return chip_heap.figures()

    def vitals(self) -> dict[str, float]:
        """Return the available ones of the chip's own values `temperature` and `rssi`."""
        return vitals(self._wlan())

    def reset(self) -> None:
        machine.reset()

    def reset_cause(self) -> str:
        """Return why the board started: "PWRON", "HARD", "WDT", "DEEPSLEEP", "SOFT" or "?"."""
        cause = machine.reset_cause()
        for name in ("PWRON", "HARD", "WDT", "DEEPSLEEP", "SOFT"):
            if cause == getattr(machine, name + "_RESET", None):
                return name
        return "?"

    def deep_sleep(self, ms: int, wake_pin: int | str | None = None) -> None:
        """Sleep until the time is over or the pin's level changes; then the board boots."""
        if wake_pin is not None:
            self._wires().wake_on(wake_pin)
        machine.deepsleep(ms)

    def woke_by_time(self) -> bool:
        """Did the end of a deep sleep's time start the board?"""
        return self.reset_cause() == "DEEPSLEEP" and machine.wake_reason() == machine.TIMER_WAKE

    async def stdin_line(self) -> str | None:
        if self._stdin is None:
            self._stdin = Stdin(echo=True)
        return await self._stdin.line()

    # --- clock

    def unix_time(self) -> int:
        return int(time.time()) + _EPOCH

    def clock_is_set(self) -> bool:
        return self.unix_time() >= _OLDEST_TIME

    def sync_clock(self, host: str) -> None:
        """Set the clock by NTP. Blocks for a second at most; OSError when that fails, or when only
        one answer says that the clock is more than a day wrong."""
        found = sntp.ask(host)
        if found < _OLDEST_TIME:
            raise OSError("it sent a time before 2025")
        change = found - self.unix_time()
        if self.clock_is_set() and abs(change) > _DAY_S:
            doubt, self.doubt = self.doubt, change
            if doubt is None or abs(change - doubt) > _AGREE_S:
                text = "it would move the clock by %d days, so a second answer must agree"
                raise OSError(text % (change // _DAY_S))
        self.doubt = None
        date = time.gmtime(found - _EPOCH)
        machine.RTC().datetime(date[:3] + (date[6] + 1,) + date[3:6] + (0,))

    # --- network

    def _wlan(self):
        return network.WLAN(0)  # the station; 1.22 has no WLAN.IF_STA

    def network_up(self) -> bool:
        try:
            return self._wlan().isconnected()
        except OSError:
            return False  # the driver does not start: connect_network raises why

    def address(self) -> str:
        """Return the board's address in its network."""
        return self._wlan().ifconfig()[0]

    def connect_network(self, ssid: str, password: str) -> None:
        """Start connecting and return at once."""
        wlan = self._wlan()
        wlan.active(True)
        # A second connect() while the first is under way is a "Wifi Internal Error".
        wlan.disconnect()
        time.sleep(0.1)
        wlan.connect(ssid, password)

    def tls_fits(self) -> bool:
        """Does the memory outside Python's heap have room for one more TLS session?"""
        free, largest, _ = chip_heap.figures()
        return largest >= _TLS_BLOCK and free >= _TLS_FREE

    def tls_bytes(self) -> int:
        """Return the bytes that this start has left to a TLS handshake."""
        return chip_heap.tls_bytes

    # --- buses

    def configure(self, config: "Sections") -> None:
        """Take the pins and speeds of buses from the owner's settings; ValueError: a pin that
        cannot wake."""
        self._config = config
        pin = config.section("power").get("wake_gpio")
        if pin:
            try:
                self._wires().wake_on(pin)
            except OSError as error:
                raise ValueError("power.wake_gpio: %s" % error)

    def i2c_names(self) -> list[str]:
        return self._names("i2c")

    def spi_names(self) -> list[str]:
        return self._names("spi")

    def i2c(self, name: str) -> machine.I2C:
        """Return the bus `i2c0`, opened on its first use, with the API of machine.I2C."""
        if name not in self._buses:
            self._buses[name] = self._wires().i2c(name)
        return self._buses[name]

    def spi(self, device: str) -> tuple[machine.SPI, machine.Pin]:
        """Return (bus, chip select) of `spi0.0`: machine.SPI and a machine.Pin that idles high."""
        if device not in self._buses:
            self._buses[device] = self._wires().spi(device)
        return self._buses[device]

    def has(self, kind: str) -> bool:
        """
        Can the board do this: i2c, spi, gpio, adc, pwm? The first answer, at boot, is cached.
        "exec" is for systems that have programs.
        """
        if kind not in self._buses:
            if kind in ("i2c", "spi"):
                self._buses[kind] = self._wires().buses(kind)
            elif kind in ("gpio", "adc", "pwm"):
                self._buses[kind] = len(self.pins().names(kind))
            else:
                return False
        return bool(self._buses[kind])

    def why_not(self, kind: str, name: str) -> str | None:
        """Return why a bus that is there may not be used; here all may."""
        return None

    def scan(self, name: str) -> list[int]:
        """Return the addresses that answer on an I2C bus."""
        bus = self.i2c(name)
        # The scan of a hanging bus takes seconds and finds nothing; one transfer reports it at
        # once.
        try:
            bus.writeto(_FIRST, b"")
        except OSError as error:
            if error.args[0] in (110, 116):  # ETIMEDOUT, here and on an ESP32
                raise
        return bus.scan()

    def _names(self, kind):
        self.has(kind)
        return self._buses[kind]

    def pins(self) -> Gpio:
        """Return a `port.gpio.Gpio`: the pins besides the buses, for the tools gpio, adc and
        pwm."""
        return self._wires(Gpio)

    def _wires(self, kind=None):
        return (kind or Pins)(package_path("pins.csv"), self._config, self._buses)


def vitals(wlan: "WLAN") -> dict[str, float]:
    """Return the available ones of `temperature` and `rssi`."""
    import esp32

    values = {}
    if hasattr(esp32, "mcu_temperature"):
        values["temperature"] = esp32.mcu_temperature()
    elif hasattr(esp32, "raw_temperature"):
        # The first ESP32 reports degrees Fahrenheit.
        values["temperature"] = round((esp32.raw_temperature() - 32) / 1.8, 1)
    if wlan.isconnected():
        values["rssi"] = wlan.status("rssi")
    return values
