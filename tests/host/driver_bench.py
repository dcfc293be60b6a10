"""A board in this process with a clock of its own: the firmware's drivers on the virtual chips.

The firmware's `port`, the onboard `machine`, `onewire` and `dht`, and the models of the chips are
the real ones. Between the last two there is a function call in place of a process, and time passes
when a driver sleeps.
"""

import asyncio
import importlib.util
import json
import os
import sys
import types

from tenner.port.gpio import Gpio
from tenner.sensors import ads1115, aht20, bh1750, bme280, dht22, ds18b20, reading, sht, tmp102
from tenner_host import BOARDS
from tenner_sim.vboard.bus import BusError
from tenner_sim.vboard.hardware import Hardware
from tenner_sim.vboard.prepare import ONBOARD

BOARD = BOARDS / "VIRTUAL"
#: The time of a transfer on the wires, so that no two things happen at the same time.
TRANSFER_S = 0.00002


class Port:
    """The part of a port that drivers use, on the board's own pins."""

    small = False

    def __init__(self):
        self._wires = Gpio(str(BOARD / "pins.csv"))

    def i2c_names(self):
        return self._wires.buses("i2c")

    def i2c(self, name):
        return self._wires.i2c(name)

    def spi_names(self):
        return self._wires.buses("spi")

    def spi(self, device):
        return self._wires.spi(device)

    def pins(self):
        return self._wires


class Bench:
    """The wiring, the clock, and readings of the sensor "it"."""

    def __init__(self, monkeypatch, folder):
        self.seconds = 100.0
        self.hardware = Hardware(BOARD, lambda: self.seconds)
        for name in list(self.hardware.devices):
            self.hardware.detach(name)
        wires = types.ModuleType("_board")
        wires.ask, wires.ask_into, wires.tell = self.ask, self.ask_into, self.tell
        monkeypatch.setitem(sys.modules, "_board", wires)
        for name in ("_pins", "_buses", "machine", "onewire", "dht"):
            spec = importlib.util.spec_from_file_location(name, ONBOARD / f"{name}.py")
            module = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, name, module)
            spec.loader.exec_module(module)
        self._monkeypatch = monkeypatch
        self.wait_with(self.wait_ms)
        self.folder = folder
        self.port = Port()

    def wait_with(self, wait_ms):
        """Let the drivers sleep by this coroutine function."""
        for module in (ads1115, aht20, bh1750, bme280, dht22, ds18b20, sht, tmp102):
            self._monkeypatch.setattr(module, "wait_ms", wait_ms)

    def attach(self, chip, bus, address=None, **values):
        """Wire a chip called "it"."""
        self.hardware.attach("it", chip, bus, address)
        self.set(**values)
        # As a board does that has been on for a while.
        self.seconds += 1

    def set(self, **values):
        for name, value in values.items():
            self.hardware.signals.set(f"it.{name}", value)

    def fault(self, kind):
        self.hardware.device("it").set_fault(kind)

    def read(self, driver, **settings):
        """Return the values of a reading; SensorError has the owner's text."""
        table = {"it": {"driver": driver, **settings}}
        (self.folder / "SENSORS.json").write_text(json.dumps(table))
        return asyncio.run(reading.measure(self.port, str(self.folder), "it"))

    async def wait_ms(self, ms):
        """Let time pass for the chips."""
        self.seconds += ms / 1000

    def ask(self, text):
        self.seconds += TRANSFER_S
        verb, *arguments = text.split()
        try:
            return getattr(self.hardware, f"ask_{verb}")(*arguments)
        except BusError as exc:
            raise OSError(exc.number, os.strerror(exc.number)) from exc

    def ask_into(self, text, buf):
        buf[:] = self.ask(text)

    def tell(self, text):
        verb, *arguments = text.split()
        getattr(self.hardware, f"tell_{verb}")(*arguments)
