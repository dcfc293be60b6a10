"""The chips on the board, wired as in boards/<BOARD>/pins.csv and devices.json."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tenner_sim.vboard.bus import I2CBus, OneWireBus, PulseLine, SPIBus
from tenner_sim.vboard.devices import (
    AT24C32,
    CHIPS,
    Device,
    I2CDevice,
    OneWireDevice,
    PulseDevice,
    SPIDevice,
)
from tenner_sim.vboard.signals import Signals


class HardwareError(Exception):
    """The description of the board is wrong, or names a missing device; the text names the
    place."""


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
    """All devices by name, and answers to the onboard `machine` about pins and buses."""

    def __init__(self, folder: Path, now: Callable[[], float] | None = None) -> None:
        description = json.loads((folder / "devices.json").read_text())
        self.pins = read_pins(folder / "pins.csv")
        self.signals = Signals(description["signals"])
        self.wifi: dict[str, str | int] = description["wifi"]
        self.devices: dict[str, Device] = {}
        self.where: dict[str, str] = {}
        # A bus is known by its pins, as wires are: (scl, sda), (sck, mosi, miso).
        self.i2c: dict[tuple[int, int], I2CBus] = {}
        self.spi: dict[tuple[int, int], SPIBus] = {}
        #: Buses on a single pin.
        self.wires: dict[int, OneWireBus | PulseLine] = {}
        self._now = now
        self._disconnect: dict[str, Callable[[], None]] = {}
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
            self.attach(**row)

    # Wiring.

    def attach(
        self,
        name: str,
        chip: str,
        bus: str,
        address: str | None = None,
        values: dict[str, str] | None = None,
    ) -> None:
        """Wire a chip: to `i2c0` at an address, to `spi0.0` or `spi0.gpio3`, or to a pin, `gpio3`.

        `values` maps the chip's own values to signals; an unmapped one is NAME.VALUE.
        """
        if name in self.devices:
            raise HardwareError(f"there is a device {name!r} already, on {self.where[name]}")
        if chip not in CHIPS:
            raise HardwareError(f"{name}: no model of {chip!r}: {', '.join(CHIPS)}")
        names = {value: f"{name}.{value}" for value in CHIPS[chip].VALUES} | (values or {})
        read = partial(self._value, names)
        device = CHIPS[chip](read, self._now) if self._now else CHIPS[chip](read)
        try:
            where, disconnect = self._connect(name, device, bus.lower(), address)
        except ValueError as exc:
            raise HardwareError(f"{name}: {exc}") from exc
        for value, initial in device.VALUES.items():
            self.signals.add(names[value], initial)
        self.devices[name] = device
        self.where[name] = where
        self._disconnect[name] = disconnect

    def detach(self, name: str) -> None:
        """Disconnect a chip; its signals stay."""
        self.device(name)
        self._disconnect.pop(name)()
        del self.devices[name], self.where[name]

    def _connect(
        self, name: str, device: Device, place: str, address: str | None
    ) -> tuple[str, Callable[[], None]]:
        """Put the device on its bus; return its place, and the function that disconnects it."""
        bus_name, _, select = place.partition(".")
        bus = self._names.get(bus_name)
        gpio = self._gpio(bus_name)
        if isinstance(bus, I2CBus) and isinstance(device, I2CDevice) and address:
            try:
                number = int(address, 0)
            except ValueError:
                raise ValueError(f"{address!r} is no address") from None
            bus.attach(number, device)
            return f"{bus_name} {address}", partial(bus.detach, device)
        if isinstance(bus, SPIBus) and isinstance(device, SPIDevice):
            cs = self._gpio(select)
            if cs is None:
                cs = self.pins.get(f"{bus_name.upper()}_CS{select}")
            if cs is not None:
                bus.attach(cs, device)
                return place, partial(bus.detach, device)
        if gpio is not None and isinstance(device, OneWireDevice):
            line = self.wires.setdefault(gpio, OneWireBus())
            if isinstance(line, OneWireBus):
                # A serial number from the name: constant, and unique.
                device.serial = hashlib.sha256(name.encode()).digest()[:6]
                line.attach(device)
                return f"{place} {device.rom.hex()}", partial(line.detach, device)
        if gpio is not None and isinstance(device, PulseDevice):
            single = self.wires.setdefault(gpio, PulseLine())
            if isinstance(single, PulseLine):
                single.attach(device)
                return place, single.detach
        at = f" at {address}" if address else ""
        raise ValueError(f"{type(device).__name__} cannot be on {place!r}{at}")

    @staticmethod
    def _gpio(name: str) -> int | None:
        return int(name[4:]) if name.startswith("gpio") and name[4:].isdigit() else None

    def _value(self, names: dict[str, str], name: str) -> float:
        return self.signals.get(names[name])

    def device(self, name: str) -> Device:
        try:
            return self.devices[name]
        except KeyError:
            known = ", ".join(self.devices)
            raise HardwareError(f"no device {name!r} on this board; available: {known}") from None

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
        """Save the contents of EEPROMs."""
        for name, device in self.devices.items():
            if isinstance(device, AT24C32):
                (folder / f"{name}.bin").write_bytes(device.memory)

    def load(self, folder: Path) -> None:
        for name, device in self.devices.items():
            path = folder / f"{name}.bin"
            if isinstance(device, AT24C32) and path.exists():
                device.memory[:] = path.read_bytes().ljust(len(device.memory), b"\xff")

    # Questions of the onboard modules. Arguments are words; the answer is bytes, or a BusError.

    def _i2c_bus(self, scl: str, sda: str) -> I2CBus:
        if scl == "-" or sda == "-":
            bus = self._names.get("i2c0")
            return bus if isinstance(bus, I2CBus) else I2CBus()
        # No wires on these pins: an empty bus without acknowledges.
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
        line = self.wires.get(int(gpio))
        if line is not None:
            return b"%d" % line.level
        pulled = self._pulls.get(int(gpio), 0)
        return b"%d" % bool(self.signals.get_or(f"gpio{gpio}", 1.0 if pulled == 2 else 0.0))

    def _one_wire(self, gpio: str) -> OneWireBus:
        line = self.wires.get(int(gpio))
        # No 1-Wire chip is wired here: only the pull-up.
        return line if isinstance(line, OneWireBus) else OneWireBus()

    def ask_ow_reset(self, gpio: str) -> bytes:
        return b"%d" % self._one_wire(gpio).reset()

    def ask_ow_write(self, gpio: str, data: str) -> bytes:
        self._one_wire(gpio).write(bytes.fromhex(data))
        return b""

    def ask_ow_read(self, gpio: str, count: str) -> bytes:
        return self._one_wire(gpio).read(int(count))

    def ask_ow_write_bit(self, gpio: str, bit: str) -> bytes:
        self._one_wire(gpio).write_bit(int(bit))
        return b""

    def ask_ow_read_bit(self, gpio: str) -> bytes:
        return b"%d" % self._one_wire(gpio).read_bit()

    def ask_dht(self, gpio: str) -> bytes:
        line = self.wires.get(int(gpio))
        return (line if isinstance(line, PulseLine) else PulseLine()).exchange()

    def ask_adc(self, gpio: str) -> bytes:
        return str(self.signals.get_or(f"gpio{gpio}.volts", 0.0)).encode()

    def ask_signal(self, name: str) -> bytes:
        return str(self.signals.get(name)).encode()

    # Events of the onboard modules.

    def tell_pin(self, gpio: str, level: str) -> None:
        self.signals.publish(f"gpio{gpio}", float(level))
        for bus in self.spi.values():
            bus.pin(int(gpio), int(level))

    def tell_pin_mode(self, gpio: str, mode: str, pull: str) -> None:
        self._pulls[int(gpio)] = int(pull)

    def tell_pwm(self, gpio: str, hz: str, duty: str) -> None:
        self.signals.publish(f"gpio{gpio}.hz", float(hz))
        self.signals.publish(f"gpio{gpio}.duty", int(duty) / 65535)
