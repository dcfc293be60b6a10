# tenner port.linux: a Linux board or a desk computer, under Unix MicroPython or CPython.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import os
import sys
import time

from tenner.port.compat import const
from tenner.port.stdin import Stdin

_OLDEST_TIME = const(1735689600)  # 2025-01-01: a board without a battery clock starts earlier


class Port:
    kind = "linux"
    small = False

    def __init__(self, root="."):
        self.root = root or "."
        self._stdin = Stdin()

    def path(self, name):
        return self.root + "/" + name

    # --- identity, memory, life

    def device_id(self):
        """The machine id, or the root folder's name where there is none."""
        try:
            with open("/etc/machine-id", "rb") as file:
                return file.read(64).strip()
        except OSError:
            return self.root.encode()

    def memory(self):
        """Return (free, used) bytes of the GC heap, or (0, resident size) under CPython."""
        gc.collect()
        if hasattr(gc, "mem_free"):
            return gc.mem_free(), gc.mem_alloc()
        with open("/proc/self/statm") as file:
            return 0, int(file.read().split()[1]) * 4096

    def reset(self):
        """Leave; the init system starts the agent again."""
        sys.exit(0)

    def reset_cause(self):
        return "START"

    def deep_sleep(self, ms, wake_pin=None):
        raise OSError("deep sleep is for boards: set power.mode to on")

    async def stdin_line(self):
        return await self._stdin.line()

    # --- clock: the system's own NTP sets it, the agent only waits for that

    def unix_time(self):
        return int(time.time())

    def clock_is_set(self):
        return self.unix_time() >= _OLDEST_TIME

    def sync_clock(self, host):
        if not self.clock_is_set():
            raise OSError("the system clock is not set yet")

    # --- network: the system's business

    def network_up(self):
        """True when an interface other than loopback is up, or when that cannot be told."""
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

    def connect_network(self, ssid, password):
        return None

    # --- buses: none yet

    def configure(self, config):
        """Refuse settings that are for boards; ValueError is a sentence for the owner."""
        if config.section("power").get("mode") == "sleep":
            raise ValueError('power.mode: "sleep" is for boards with deep sleep; set it to "on"')

    def i2c_names(self):
        return []

    def spi_names(self):
        return []

    def i2c(self, name):
        raise OSError("no i2c bus %s here" % name)

    def spi(self, device):
        raise OSError("no spi device %s here" % device)
