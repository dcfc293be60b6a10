# tenner port.linux.port: a Linux board or a desk computer, under Unix MicroPython or CPython.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import gc
import os
import sys
import time

from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.port.linux import certs, vitals
from tenner.port.linux.buses import Buses, listed
from tenner.port.linux.pins import Gpio
from tenner.port.package import package_path
from tenner.port.stdin import Stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tenner.port.linux.i2c import I2C
    from tenner.port.linux.spi import SPI, ChipSelect
    from tenner.port.types import Sections

_OLDEST_TIME = const(1735689600)  # 2025-01-01: a board without a battery clock starts earlier
_NTP_S = const(120)  # NTP may take so long after a start

#: More than the connections of the page (page.server) and of all channels.
_FILES = const(64)


class Port:
    kind = "linux"
    shares_memory = False
    small = False
    top = ""  # of /sys and /dev
    settings = ""  # the file with the settings, when it is not config.json in the root folder

    def __init__(self, root: str = ".") -> None:
        self.root = root or "."
        self._stdin = Stdin()
        self._waits_since: int | None = None
        self._config: Sections | None = None
        self._kept = {}  # open buses and pins, and the names of each kind

    def path(self, name: str) -> str:
        return self.root + "/" + name

    def private(self) -> list[str]:
        """Return the agent's own files and folders that are not in the root folder: settings,
        code, how it is started."""
        found = [
            "/run/tenner",
            "/var/run/tenner",
            "/etc/tenner",
            "/etc/init.d/S90tenner",
            "/etc/init.d/tenner",
        ]
        units = ["/etc/systemd/system"]
        home = os.getenv("XDG_CONFIG_HOME") or (os.getenv("HOME") or "/root") + "/.config"
        # Without settings the next start would look for them there.
        found.append(home + "/tenner")
        units.append(home + "/systemd/user")
        if self.settings:
            folder = self.settings.rpartition("/")[0] or "."
            found += [self.settings, folder + "/environment"]
            found += [
                folder + "/" + name for name in listed(folder) if name.startswith("config.json")
            ]
        for folder in units:
            found += [folder + "/tenner.service", folder + "/tenner.service.d"]
        code = package_path("").rsplit("/", 2)[0] or "."
        # A release is one of several in a folder, beside the files that start it.
        found.append(code.split("/releases/")[0])
        return found

    # --- identity, memory, life

    def device_id(self) -> bytes:
        """Return the machine id, or the root folder's name on a system without one."""
        try:
            with open("/etc/machine-id", "rb") as file:
                return file.read(64).strip()
        except OSError:
            return self.root.encode()

    def memory(self) -> tuple[int, int]:
        """Return (free, used) bytes of the GC heap, or (0, resident size) under CPython."""
        gc.collect()
        if hasattr(gc, "mem_free"):
            return gc.mem_free(), gc.mem_alloc()
        with open("/proc/self/statm") as file:
            return 0, int(file.read().split()[1]) * 4096

    def system_memory(self) -> None:
        """Return None: only the heap can be too small."""
        return None

    def vitals(self) -> dict[str, float]:
        """Return those of the machine's own values that it reports."""
        return vitals.vitals(self.top)

    def reset(self) -> None:
        """Exit; the init system starts the agent again."""
        sys.exit(0)

    def reset_cause(self) -> str:
        return "START"

    def deep_sleep(self, ms: int, wake_pin: int | str | None = None) -> None:
        raise OSError("deep sleep is for boards: set power.mode to on")

    async def stdin_line(self) -> str | None:
        return await self._stdin.line()

    def authorities(self, trust: "Callable[[bytes], None]") -> int:
        """Call `trust` with every certificate the system trusts; return their number."""
        return certs.each(trust)

    # --- clock: the system's own NTP sets it, the agent only waits for that

    def unix_time(self) -> int:
        return int(time.time())

    def clock_is_set(self) -> bool:
        return self.unix_time() >= _OLDEST_TIME

    def sync_clock(self, host: str) -> None:
        """Set nothing; OSError says how long the system's own NTP has been due."""
        if self.clock_is_set():
            return
        now_ms = ticks_ms()
        if self._waits_since is None:
            self._waits_since = now_ms
        waited_s = ticks_diff(now_ms, self._waits_since) // 1000
        text = "the system's clock is not set yet; tasks by the time of day wait"
        if waited_s >= _NTP_S:
            text += ", for %d min now: is NTP running on this board?" % (waited_s // 60)
        raise OSError(text)

    # --- network: the system's business

    def network_up(self) -> bool:
        """Return whether an interface other than loopback is up; True when that is unknown."""
        try:
            names = os.listdir("/sys/class/net")
        except OSError:
            return True
        for name in names:
            if name != "lo" and self._interface_up(name):
                return True
        # A machine without any other interface can still reach a model on itself.
        return "lo" in names and len(names) == 1

    def _interface_up(self, name):
        try:
            with open("/sys/class/net/" + name + "/operstate") as file:
                return file.read().strip() in ("up", "unknown")
        except OSError:
            return False

    def connect_network(self, ssid: str, password: str) -> None:
        return None

    # --- buses and pins

    def configure(self, config: "Sections") -> None:
        """Take the owner's settings of buses; ValueError is a sentence for the owner."""
        if config.section("power").get("mode") == "sleep":
            raise ValueError('power.mode: "sleep" is for boards with deep sleep; set it to "on"')
        for kind, foreign in (
            ("i2c", ("scl", "sda", "freq")),
            ("spi", ("sck", "mosi", "miso", "cs")),
        ):
            section = config.section(kind)
            for bus in section:
                for line in foreign:
                    if line in section[bus]:
                        raise ValueError(
                            "%s.%s.%s: on Linux the device tree decides this; take it out"
                            % (kind, bus, line)
                        )
        self._config = config

    def i2c_names(self) -> list[str]:
        return self._names("i2c")

    def spi_names(self) -> list[str]:
        return self._names("spi")

    def i2c(self, name: str) -> "I2C":
        """Return the bus, opened on its first use, with the API of machine.I2C."""
        if name not in self._kept:
            self._kept[name] = self._wires().i2c(name)
        return self._kept[name]

    def spi(self, device: str) -> "tuple[SPI, ChipSelect]":
        """Return (bus, chip select) of a device such as `spi0.0`, with the API of machine.SPI and
        Pin."""
        if device not in self._kept:
            self._kept[device] = self._wires().spi(device)
        return self._kept[device]

    def pins(self) -> Gpio:
        """Return the pins besides the buses, for the tools gpio, adc and pwm: see `port.gpio`."""
        return self._wires(Gpio)

    def has(self, kind: str) -> bool:
        """Can the machine do this: i2c, spi, gpio, adc, pwm, exec?"""
        return kind == "exec" or bool(self._names(kind))

    def scan(self, name: str) -> list[int]:
        """Return the addresses that answer on an I2C bus."""
        return self.i2c(name).scan()

    def why_not(self, kind: str, name: str) -> str | None:
        """Return why a bus that is there may not be used, or None."""
        return self._wires().why_not(kind, name)

    def _names(self, kind):
        if kind not in self._kept:
            if kind in ("i2c", "spi"):
                self._kept[kind] = self._wires().buses(kind)
            else:
                self._kept[kind] = self.pins().names(kind)
        return self._kept[kind]

    def _wires(self, kind=None):
        # The owner's file, else that of the board the code was built for, else none.
        path = self.path("pins.csv")
        try:
            os.stat(path)
        except OSError:
            try:
                path = package_path("pins.csv")
            except OSError:
                path = ""
        return (kind or Buses)(path, self._config, self._kept, self.top)


# MicroPython on Linux keeps the files that it polls in a list. When the list moves to a larger
# place, a stream without a file number gets a wrong pointer. A TLS session is such a stream, and
# the program crashes. The list never shrinks, so it gets its room before there is a stream.
def reserve() -> None:
    """Make the room, before anything is polled."""
    if sys.implementation.name == "micropython":
        poll = asyncio.core._io_queue.poller  # type: ignore[attr-defined]
        for number in range(_FILES):
            poll.register(number)
        for number in range(_FILES):
            poll.unregister(number)
