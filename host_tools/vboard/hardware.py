"""The chips on the board, wired as boards/<BOARD>/pins.csv and devices.json say."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from host_tools.vboard.bus import I2CBus, SPIBus
from host_tools.vboard.devices import AT24C32, CHIPS, Device, I2CDevice, SPIDevice
from host_tools.vboard.world import World


class HardwareError(Exception):
    """The description of the board is wrong, or names a device it lacks; the text says where."""


def read_pins(path: Path) -> dict[str, int]:
    """NAME,GPIOn[,note] rows as a dict of names and numbers."""
    pins = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(",", 2)]
        if len(fields) < 2 or not fields[1].startswith("GPIO") or not fields[1][4:].isdigit():
            raise HardwareError(f"{path.name}:{number}: not NAME,GPIOn[,note]: {line!r}")
        pins[fields[0]] = int(fields[1][4:])
    return pins


class Hardware:
    """All devices by name, and the questions the overlay's `machine` asks about pins and buses."""

    def __init__(self, folder: Path, now: Callable[[], float] | None = None) -> None:
        description = json.loads((folder / "devices.json").read_text())
        self.pins = read_pins(folder / "pins.csv")
        self.world = World(description["world"])
        self.wifi: dict[str, str | int] = description["wifi"]
        self.devices: dict[str, Device] = {}
        self.where: dict[str, str] = {}
        # A bus is known by its pins, as wires are: (scl, sda), (sck, mosi, miso).
        self.i2c: dict[tuple[int, int], I2CBus] = {}
        self.spi: dict[tuple[int, int], SPIBus] = {}
        self._names: dict[str, I2CBus | SPIBus] = {}
        self._pulls: dict[int, int] = {}
        for name in self.pins:
            if name.startswith("I2C") and name.endswith("_SCL"):
                bus = name[:-4]
                self._names[bus.lower()] = self.i2c[self.pins[name], self.pins[bus + "_SDA"]] = (
                    I2CBus()
                )
            elif name.startswith("SPI") and name.endswith("_SCK"):
                bus = name[:-4]
                self._names[bus.lower()] = self.spi[self.pins[name], self.pins[bus + "_MISO"]] = (
                    SPIBus()
                )
        for row in description["devices"]:
            self._add(row, now)

    def _add(self, row: dict[str, object], now: Callable[[], float] | None) -> None:
        name, chip, place = str(row["name"]), str(row["chip"]), str(row["bus"])
        if chip not in CHIPS:
            raise HardwareError(f"devices.json: {name}: no model of {chip!r}: {', '.join(CHIPS)}")
        values = row.get("values")
        assert isinstance(values, dict)
        read = partial(self._value, values)
        device = CHIPS[chip](read, now) if now else CHIPS[chip](read)
        bus_name, _, select = place.partition(".")
        bus = self._names.get(bus_name)
        if isinstance(bus, I2CBus) and isinstance(device, I2CDevice):
            bus.attach(int(str(row["address"]), 16), device)
            self.where[name] = f"{bus_name} {row['address']}"
        elif isinstance(bus, SPIBus) and isinstance(device, SPIDevice) and select.isdigit():
            bus.attach(self.pins[f"{bus_name.upper()}_CS{select}"], device)
            self.where[name] = place
        else:
            raise HardwareError(f"devices.json: {name}: {chip} cannot be on {place!r}")
        self.devices[name] = device

    def _value(self, values: dict[str, str], name: str) -> float:
        return self.world.get(values[name])

    def device(self, name: str) -> Device:
        try:
            return self.devices[name]
        except KeyError:
            known = ", ".join(self.devices)
            raise HardwareError(f"no device {name!r} on this board; there is: {known}") from None

    def bus_log(self, bus: str) -> list[str]:
        known = self._names.get(bus)
        if not isinstance(known, I2CBus):
            raise HardwareError(f"no I2C bus {bus!r} on this board")
        return list(known.log)

    def power_on(self) -> None:
        for device in self.devices.values():
            device.power_on()

    def release_pins(self) -> None:
        """The chip was reset: all its pins are inputs again."""
        for bus in self.spi.values():
            bus.release()
        self._pulls.clear()

    def save(self, folder: Path) -> None:
        """Keep what EEPROMs hold."""
        for name, device in self.devices.items():
            if isinstance(device, AT24C32):
                (folder / f"{name}.bin").write_bytes(device.memory)

    def load(self, folder: Path) -> None:
        for name, device in self.devices.items():
            path = folder / f"{name}.bin"
            if isinstance(device, AT24C32) and path.exists():
                device.memory[:] = path.read_bytes().ljust(len(device.memory), b"\xff")

    # What the overlay asks. Arguments are words; the answer is bytes, or a BusError.

    def _i2c_bus(self, scl: str, sda: str) -> I2CBus:
        if scl == "-" or sda == "-":
            bus = self._names.get("i2c0")
            return bus if isinstance(bus, I2CBus) else I2CBus()
        # No wires on these pins: an empty bus, on which nobody acknowledges.
        return self.i2c.get((int(scl), int(sda)), I2CBus())

    def ask_i2c_scan(self, scl: str, sda: str, hz: str) -> bytes:
        return bytes(self._i2c_bus(scl, sda).scan())

    def ask_i2c_write(
        self, scl: str, sda: str, hz: str, address: str, stop: str, data: str = ""
    ) -> bytes:
        bus = self._i2c_bus(scl, sda)
        return b"%d" % bus.write(int(address), bytes.fromhex(data), stop in ("1", "True"))

    def ask_i2c_read(
        self, scl: str, sda: str, hz: str, address: str, stop: str, count: str
    ) -> bytes:
        bus = self._i2c_bus(scl, sda)
        return bus.read(int(address), int(count), stop in ("1", "True"))

    def ask_spi(
        self, sck: str, mosi: str, miso: str, hz: str, mode: str, first_bit: str, data: str
    ) -> bytes:
        out = bytes.fromhex(data)
        if sck == "-" or miso == "-":
            bus = self._names.get("spi0")
        else:
            bus = self.spi.get((int(sck), int(miso)))
        if not isinstance(bus, SPIBus):
            return b"\xff" * len(out)
        return bus.exchange(out, hz=int(hz), mode=int(mode), lsb_first=first_bit == "1")

    def ask_pin_number(self, name: str) -> bytes:
        if name.startswith("GPIO") and name[4:].isdigit():
            return name[4:].encode()
        return b"%d" % self.pins.get(name, -1)

    def ask_pin_read(self, gpio: str) -> bytes:
        pulled = self._pulls.get(int(gpio), 0)
        return b"%d" % bool(self.world.get_or(f"gpio{gpio}", 1.0 if pulled == 2 else 0.0))

    def ask_adc(self, gpio: str) -> bytes:
        return str(self.world.get_or(f"gpio{gpio}.volts", 0.0)).encode()

    def ask_world(self, name: str) -> bytes:
        return str(self.world.get(name)).encode()

    # What the overlay tells.

    def tell_pin(self, gpio: str, level: str) -> None:
        self.world.publish(f"gpio{gpio}", float(level))
        for bus in self.spi.values():
            bus.pin(int(gpio), int(level))

    def tell_pin_mode(self, gpio: str, mode: str, pull: str) -> None:
        self._pulls[int(gpio)] = int(pull)

    def tell_pwm(self, gpio: str, hz: str, duty: str) -> None:
        self.world.publish(f"gpio{gpio}.hz", float(hz))
        self.world.publish(f"gpio{gpio}.duty", int(duty) / 65535)
