# tenner port.esp32: stock MicroPython on an ESP32-class chip, and the virtual board.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import time

import machine
import network
from tenner.port.compat import const
from tenner.port.package import package_path
from tenner.port.pins import Pins
from tenner.port.stdin import Stdin

_PSRAM_HEAP = const(1000000)  # no ESP32 without PSRAM has a GC heap of this size
_OLDEST_TIME = const(1735689600)  # 2025-01-01: an earlier clock was never set

# time.time() counts from 2000 on an ESP32 and from 1970 elsewhere.
_EPOCH = 946684800 if time.gmtime(0)[0] == 2000 else 0

_RESET_CAUSES = ("PWRON", "HARD", "WDT", "DEEPSLEEP", "SOFT")


class Port:
    kind = "esp32"

    def __init__(self, root=""):
        self.root = root
        self.small = gc.mem_free() + gc.mem_alloc() < _PSRAM_HEAP
        self.pins = Pins(package_path("pins.csv"))
        self._buses = {}
        self._stdin = Stdin(echo=True)

    def path(self, name):
        return self.root + "/" + name

    # --- identity, memory, life

    def device_id(self):
        return machine.unique_id()

    def memory(self):
        """Return (free, used) bytes of the GC heap."""
        gc.collect()
        return gc.mem_free(), gc.mem_alloc()

    def reset(self):
        machine.reset()

    def reset_cause(self):
        """Return why the board started: "PWRON", "HARD", "WDT", "DEEPSLEEP", "SOFT" or "?"."""
        cause = machine.reset_cause()
        for name in _RESET_CAUSES:
            if cause == getattr(machine, name + "_RESET", None):
                return name
        return "?"

    def deep_sleep(self, ms):
        machine.deepsleep(ms)

    async def stdin_line(self):
        return await self._stdin.line()

    # --- clock

    def unix_time(self):
        return int(time.time()) + _EPOCH

    def clock_is_set(self):
        return self.unix_time() >= _OLDEST_TIME

    def sync_clock(self, host):
        """Set the clock by NTP. Blocks for a second at most; OSError when it did not work."""
        import ntptime

        ntptime.host = host
        ntptime.settime()

    # --- network

    def _wlan(self):
        return network.WLAN(network.WLAN.IF_STA)

    def network_up(self):
        return self._wlan().isconnected()

    def connect_network(self, ssid, password):
        """Start connecting and return at once."""
        wlan = self._wlan()
        wlan.active(True)
        # A second connect() while the first is under way is a "Wifi Internal Error".
        wlan.disconnect()
        time.sleep_ms(100) if hasattr(time, "sleep_ms") else time.sleep(0.1)
        wlan.connect(ssid, password)

    # --- buses

    def i2c_names(self):
        return self.pins.buses("i2c")

    def spi_names(self):
        return self.pins.buses("spi")

    def i2c(self, name):
        """Return the bus `i2c0`, opened on its first use, with the API of machine.I2C."""
        if name not in self._buses:
            row = name.upper()
            self._buses[name] = machine.I2C(
                int(name[3:]),
                scl=machine.Pin(self.pins.number(row + "_SCL")),
                sda=machine.Pin(self.pins.number(row + "_SDA")),
                freq=100000,
            )
        return self._buses[name]

    def spi(self, device):
        """Return (bus, chip select) of `spi0.0`: machine.SPI and a machine.Pin that idles high."""
        if device not in self._buses:
            name, _, select = device.partition(".")
            row = name.upper()
            bus = machine.SPI(
                int(name[3:]) + 1,  # SPI 0 belongs to the flash chip
                baudrate=1000000,
                sck=machine.Pin(self.pins.number(row + "_SCK")),
                mosi=machine.Pin(self.pins.number(row + "_MOSI")),
                miso=machine.Pin(self.pins.number(row + "_MISO")),
            )
            cs = machine.Pin(self.pins.number(row + "_CS" + select), machine.Pin.OUT, value=1)
            self._buses[device] = (bus, cs)
        return self._buses[device]
