"""The buses: which chip answers an address, chip select or pulse, and the controller's view of
it."""

from __future__ import annotations

import errno
from collections import deque

from tenner_sim.vboard.devices import I2CDevice, OneWireDevice, PulseDevice, SPIDevice


class BusError(Exception):
    """The ESP32 driver's error for a failed transfer: an errno."""

    def __init__(self, number: int) -> None:
        super().__init__(errno.errorcode[number])
        self.number = number


class I2CBus:
    """One pair of wires with chips on it.

    A NACK anywhere is ENODEV, as in the ESP32 port; a clock held low is ETIMEDOUT for everybody.
    """

    #: Number of transactions kept for inspection.
    LOG = 200

    def __init__(self) -> None:
        self.devices: dict[int, I2CDevice] = {}
        self._open: I2CDevice | None = None  # addressed and not stopped yet
        self.log: deque[str] = deque(maxlen=self.LOG)

    def attach(self, address: int, device: I2CDevice) -> None:
        if not 0x08 <= address <= 0x77:
            raise ValueError(f"0x{address:02x} is no 7-bit I2C address for a device")
        if address in self.devices:
            raise ValueError(f"two devices at 0x{address:02x}")
        self.devices[address] = device

    def detach(self, device: I2CDevice) -> None:
        if self._open is device:
            self._open = None
        self.devices = {at: each for at, each in self.devices.items() if each is not device}

    def _check_lines(self) -> None:
        if any(device.fault == "stuck" for device in self.devices.values()):
            raise BusError(errno.ETIMEDOUT)

    def _start(self, address: int, read: bool) -> I2CDevice:
        self._check_lines()
        device = self.devices.get(address)
        if self._open is not None and self._open is not device:
            # A repeated START to another address ends the first transaction.
            self._open.stop()
            self._open = None
        if device is None or device.fault == "absent" or not self._acknowledges(device, read):
            self._open = None
            raise BusError(errno.ENODEV)
        self._open = device
        return device

    @staticmethod
    def _acknowledges(device: I2CDevice, read: bool) -> bool:
        if device.fault == "nack" and read:
            return False
        return device.start(read)

    def _stop(self) -> None:
        if self._open is not None:
            self._open.stop()
            self._open = None

    def scan(self) -> list[int]:
        """Addresses that acknowledge an empty write."""
        self._check_lines()
        found = []
        for address in range(0x08, 0x78):
            try:
                self._start(address, False)
            except BusError:
                continue
            self._stop()
            found.append(address)
        return found

    def write(self, address: int, data: bytes, stop: bool = True) -> int:
        """START, address, data, maybe STOP; return the number of acknowledged bytes."""
        self.log.append(f"W {address:02x} {data.hex()}{' P' if stop else ''}")
        device = self._start(address, False)
        for byte in data:
            if device.fault == "nack" or not device.write(byte):
                self._stop()
                raise BusError(errno.ENODEV)
        if stop:
            self._stop()
        return len(data)

    def read(self, address: int, count: int, stop: bool = True) -> bytes:
        """START, address, `count` bytes, maybe STOP."""
        device = self._start(address, True)
        data = bytes(device.read() & 0xFF for _ in range(count))
        self.log.append(f"R {address:02x} {data.hex()}{' P' if stop else ''}")
        if stop:
            self._stop()
        return data


class SPIBus:
    """Clock and data wires; each chip is known by the GPIO of its chip select."""

    def __init__(self) -> None:
        self.devices: dict[int, SPIDevice] = {}
        self._selected: set[int] = set()

    def attach(self, cs_gpio: int, device: SPIDevice) -> None:
        if cs_gpio in self.devices:
            raise ValueError(f"two devices selected by GPIO{cs_gpio}")
        self.devices[cs_gpio] = device

    def detach(self, device: SPIDevice) -> None:
        self.devices = {at: each for at, each in self.devices.items() if each is not device}
        self._selected &= self.devices.keys()

    def pin(self, gpio: int, level: int) -> None:
        """A GPIO changed; it may be a chip select (active low)."""
        device = self.devices.get(gpio)
        if device is None:
            return
        if level == 0 and gpio not in self._selected:
            self._selected.add(gpio)
            device.select()
        elif level and gpio in self._selected:
            self._selected.discard(gpio)
            device.deselect()

    def release(self) -> None:
        """The controller was reset: its pins float, and pull-ups deselect all chips."""
        for gpio in list(self._selected):
            self.pin(gpio, 1)

    def exchange(self, data: bytes, *, hz: int, mode: int, lsb_first: bool) -> bytes:
        """Clock `data` out and return the bits on MISO; several chips at once pull it low
        together."""
        out = bytearray(b"\xff" * len(data))
        for gpio in self._selected:
            device = self.devices[gpio]
            got = self._answer(device, data, hz, mode)
            for i, byte in enumerate(got):
                out[i] &= byte
        return bytes(_reversed_bits(byte) for byte in out) if lsb_first else bytes(out)

    @staticmethod
    def _answer(device: SPIDevice, data: bytes, hz: int, mode: int) -> bytes:
        got = bytes(device.exchange(byte) & 0xFF for byte in data)
        if device.fault == "absent":
            return b"\xff" * len(data)
        if device.fault == "stuck" or hz > device.MAX_HZ:
            # Too fast a clock: the output has not changed yet when it is sampled.
            return bytes(len(data))
        if mode not in device.MODES:
            # Sampled at the wrong edge, all data are one bit late.
            number = int.from_bytes(got, "big") >> 1
            return number.to_bytes(len(data), "big")
        return got


class OneWireBus:
    """One line with a pull-up; every chip can pull it low."""

    def __init__(self) -> None:
        self.devices: list[OneWireDevice] = []

    def attach(self, device: OneWireDevice) -> None:
        if any(each.rom == device.rom for each in self.devices):
            raise ValueError(f"two devices with the ROM {device.rom.hex()}")
        self.devices.append(device)

    def detach(self, device: OneWireDevice) -> None:
        self.devices.remove(device)

    @property
    def level(self) -> int:
        """The idle line."""
        return 0 if any(device.fault == "stuck" for device in self.devices) else 1

    def _present(self) -> list[OneWireDevice]:
        return [device for device in self.devices if device.fault != "absent"]

    def reset(self) -> bool:
        """Send a reset pulse; return whether the line is low afterwards, the sign of presence."""
        for device in self._present():
            device.reset()
        return bool(self._present()) or not self.level

    def write_bit(self, bit: int) -> None:
        for device in self._present():
            device.write_bit(bit)

    def read_bit(self) -> int:
        """A read slot: one chip suffices to pull the line low."""
        bits = [device.read_bit() for device in self._present()]
        return min([*bits, self.level])

    def write(self, data: bytes) -> None:
        """Least significant bit first, as always on this bus."""
        for byte in data:
            for place in range(8):
                self.write_bit(byte >> place & 1)

    def read(self, count: int) -> bytes:
        return bytes(sum(self.read_bit() << place for place in range(8)) for _ in range(count))


class PulseLine:
    """A line to one DHT sensor, which holds it high while it is idle."""

    def __init__(self) -> None:
        self.device: PulseDevice | None = None

    def attach(self, device: PulseDevice) -> None:
        if self.device is not None:
            raise ValueError("two devices on one line that takes one")
        self.device = device

    def detach(self) -> None:
        self.device = None

    @property
    def level(self) -> int:
        return 0 if self.device and self.device.fault == "stuck" else 1

    def exchange(self) -> bytes:
        """Send a start pulse and return the answer."""
        if self.device is None or self.device.fault in ("absent", "stuck"):
            raise BusError(errno.ETIMEDOUT)
        return self.device.answer()


def _reversed_bits(byte: int) -> int:
    return int(f"{byte:08b}"[::-1], 2)
