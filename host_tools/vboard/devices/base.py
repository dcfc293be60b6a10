"""What all chips have in common: where their values come from, and how they fail."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Reads one of the chip's physical values by the chip's own name for it, e.g. "temperature".
Reader = Callable[[str], float]
#: A clock in seconds, replaced in tests.
Now = Callable[[], float]


class FaultError(Exception):
    """This chip cannot fail in this way; the text lists the ways it can."""


class Device:
    """A chip with a supply. Subclasses model one data sheet."""

    #: Ways to fail that the bus knows for every chip of its kind.
    BUS_FAULTS: tuple[str, ...] = ()
    #: Ways to fail that only this chip knows.
    OWN_FAULTS: tuple[str, ...] = ()

    def __init__(self, read_value: Reader, now: Now = time.monotonic) -> None:
        self.value = read_value
        self.now = now
        self.fault: str | None = None
        self.power_on()

    def power_on(self) -> None:
        """Registers take their values after power-on. Non-volatile memory keeps its own."""

    @property
    def faults(self) -> tuple[str, ...]:
        return self.BUS_FAULTS + self.OWN_FAULTS

    def set_fault(self, kind: str | None) -> None:
        if kind is not None and kind not in self.faults:
            raise FaultError(
                f"{type(self).__name__} has no fault {kind!r}; it has: {', '.join(self.faults)}"
            )
        self.fault = kind


class I2CDevice(Device):
    """A chip on I2C: sees START, bytes and STOP.

    Faults every one has: `absent` (no acknowledge), `nack` (acknowledges its address, then no data
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
    """A chip on SPI: sees its chip select and bytes.

    Faults every one has: `absent` (nobody drives MISO; its pull-up reads as ones), `stuck` (MISO low).
    """

    BUS_FAULTS = ("absent", "stuck")
    #: SPI mode (CPOL and CPHA as one number) the chip is read with.
    MODES: tuple[int, ...] = (0,)
    MAX_HZ = 1_000_000

    def select(self) -> None:
        """CS goes low."""

    def exchange(self, byte: int) -> int:
        """Eight clocks: `byte` on MOSI, the result on MISO."""
        raise NotImplementedError

    def deselect(self) -> None:
        """CS goes high."""


def crc8_sensirion(data: bytes) -> int:
    """CRC-8 of SHT3x: polynomial 0x31, start 0xFF, no reflection, no final XOR."""
    crc = 0xFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1) ^ 0x31 if crc & 0x80 else crc << 1
            crc &= 0xFF
    return crc
