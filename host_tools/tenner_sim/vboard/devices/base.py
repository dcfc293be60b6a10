"""The base of all chips: the source of their values, and their faults."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Reads one of the chip's physical values by the chip's own name, e.g. "temperature".
Reader = Callable[[str], float]
#: A clock in seconds, replaced in tests.
Now = Callable[[], float]


class FaultError(Exception):
    """This chip has no such fault; the text lists its faults."""


class Device:
    """A chip with a supply. Subclasses model one data sheet."""

    #: Faults that the bus applies to every chip of its kind.
    BUS_FAULTS: tuple[str, ...] = ()
    #: Faults of this chip. These mean the same on all chips: `bad_crc`, `slow` (a conversion takes
    #: twice as long as the data sheet allows), `range` (the converter is at its end).
    #: `brownout`: the supply fails in a measurement, once a second at most, and the chip restarts.
    OWN_FAULTS: tuple[str, ...] = ()
    #: Its physical values with their defaults.
    VALUES: dict[str, float] = {}

    def __init__(self, read_value: Reader, now: Now = time.monotonic) -> None:
        self.value = read_value
        self.now = now
        self.fault: str | None = None
        self._dipped_at = -1.0
        self.power_on()

    def power_on(self) -> None:
        """Set registers to their values after power-on. Non-volatile memory keeps its content."""

    @property
    def faults(self) -> tuple[str, ...]:
        return self.BUS_FAULTS + self.OWN_FAULTS

    def set_fault(self, kind: str | None) -> None:
        if kind is not None and kind not in self.faults:
            raise FaultError(
                f"{type(self).__name__} has no fault {kind!r}; it has: {', '.join(self.faults)}"
            )
        self.fault = kind

    def dips(self) -> bool:
        """Whether the supply fails now; the chip has restarted then."""
        if self.fault != "brownout" or self.now() < self._dipped_at + 1:
            return False
        self._dipped_at = self.now()
        self.power_on()
        return True

    def takes(self, seconds: float) -> float:
        """The end of a conversion that takes at most `seconds`."""
        return self.now() + seconds * (2 if self.fault == "slow" else 1)

    def reads(self, name: str, low: float, high: float) -> float:
        """A value within the converter's range; the fault `range` returns the upper end."""
        return high if self.fault == "range" else max(low, min(self.value(name), high))


class I2CDevice(Device):
    """A chip on I2C: receives START, bytes and STOP.

    Faults of every one: `absent` (no acknowledge), `nack` (acknowledges its address, then no data
    byte; does not acknowledge reads), `stuck` (holds the clock low: the whole bus hangs).
    """

    BUS_FAULTS = ("absent", "nack", "stuck")

    def start(self, read: bool) -> bool:
        """(Repeated) START and address; return whether it is acknowledged."""
        return True

    def write(self, byte: int) -> bool:
        """One byte from the controller; return whether it is acknowledged."""
        raise NotImplementedError

    def read(self) -> int:
        """One byte to the controller."""
        raise NotImplementedError

    def stop(self) -> None:
        """STOP."""


class SPIDevice(Device):
    """A chip on SPI: receives its chip select and bytes.

    Faults of every one: `absent` (no chip drives MISO; its pull-up reads as ones), `stuck` (MISO
    low).
    """

    BUS_FAULTS = ("absent", "stuck")
    #: SPI modes (CPOL and CPHA as one number) in which the chip is readable.
    MODES: tuple[int, ...] = (0,)
    MAX_HZ = 1_000_000

    def select(self) -> None:
        """CS goes low."""

    def exchange(self, byte: int) -> int:
        """Eight clocks: `byte` on MOSI, the result on MISO."""
        raise NotImplementedError

    def deselect(self) -> None:
        """CS goes high."""


class OneWireDevice(Device):
    """A chip on a 1-Wire bus: receives reset pulses and time slots, and executes the ROM commands.

    Faults of every one: `absent` (no presence pulse), `stuck` (holds the line low).
    """

    BUS_FAULTS = ("absent", "stuck")
    FAMILY = 0

    #: Six bytes, unique on the bus.
    serial = b"\x01\x02\x03\x04\x05\x06"

    @property
    def rom(self) -> bytes:
        """Family code, serial number, CRC: the chip's identity, least significant byte first."""
        body = bytes([self.FAMILY]) + self.serial
        return body + bytes([crc8_maxim(body)])

    def reset(self) -> None:
        """A reset pulse: aborts every transaction, and accepts ROM commands again."""
        raise NotImplementedError

    def write_bit(self, bit: int) -> None:
        """A write slot."""
        raise NotImplementedError

    def read_bit(self) -> int:
        """A read slot; 1 leaves the line to its pull-up."""
        raise NotImplementedError


class PulseDevice(Device):
    """A chip that answers a long low pulse with a pulse train: DHT sensors.

    Faults of every one: `absent`, `stuck` (holds the line low).
    """

    BUS_FAULTS = ("absent", "stuck")

    def answer(self) -> bytes:
        """The bytes after one start pulse."""
        raise NotImplementedError


def crc8(data: bytes) -> int:
    """CRC-8 of Sensirion and Aosong: polynomial 0x31, start 0xFF, no reflection, no final XOR."""
    crc = 0xFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1) ^ 0x31 if crc & 0x80 else crc << 1
            crc &= 0xFF
    return crc


def crc8_maxim(data: bytes) -> int:
    """CRC-8 of 1-Wire: polynomial 0x31 reflected, start 0."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8C if crc & 1 else crc >> 1
    return crc
