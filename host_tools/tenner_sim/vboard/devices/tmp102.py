"""TI TMP102 temperature sensor (data sheet SBOS397H).

Section numbers below are the data sheet's.
"""

from __future__ import annotations

from tenner_sim.vboard.devices.registers import PointedRegisters

_TEMPERATURE = 0
_CONFIGURATION = 1
_T_LOW = 2
_T_HIGH = 3

# Bits of the configuration register, high byte first (7.5.3, table 10).
_OS = 0x8000  # one-shot, conversion ready
_RESOLUTION = 0x6000  # read-only, always 11
_POLARITY = 0x0400
_INTERRUPT_MODE = 0x0200
_SHUTDOWN = 0x0100
_ALERT = 0x0020  # read-only
_EXTENDED = 0x0010
_WRITABLE = 0x9FD0

_CONVERSION_S = 0.026  # typical (6.5)


class TMP102(PointedRegisters):
    """Four registers behind a pointer. Temperature comes from the signal `temperature`."""

    OWN_FAULTS = ("range", "brownout")
    VALUES = {"temperature": 21.5}

    def power_on(self) -> None:
        super().power_on()  # 7.5.1: the pointer's power-up reset value is 00
        self._configuration = 0x60A0  # 7.5.3
        self._limits = {_T_LOW: 0x4B00, _T_HIGH: 0x5000}  # 7.5.4: 75 and 80 degrees
        self._frozen: int | None = None
        self._ready_at = 0.0
        self._alert = False
        # 7.3.1: the register reads 0 until the first conversion; a board takes longer to start.
        self._measured_at = 0.0

    def before_read(self) -> None:
        if self._pointer == _TEMPERATURE and self.dips():
            self._measured_at = self.now() + _CONVERSION_S

    def store_high(self, number: int, byte: int) -> None:
        # 7.5.3: the first byte alone is stored too.
        if number == _CONFIGURATION:
            self.store(number, byte << 8 | self._configuration & 0xFF)

    def store(self, number: int, word: int) -> None:
        if number == _CONFIGURATION:
            before = self._configuration
            self._configuration = (word & _WRITABLE & ~_OS) | _RESOLUTION
            if self._configuration & _SHUTDOWN:
                if not before & _SHUTDOWN:
                    # 7.4.2: the running conversion finishes, then the register keeps its value.
                    self._frozen = self._convert()
                if word & _OS:
                    # 7.4.3: one conversion, then back to shutdown.
                    self._frozen = self._convert()
                    self._ready_at = self.now() + _CONVERSION_S
            else:
                self._frozen = None
        elif number in self._limits:
            self._limits[number] = word & (0xFFF8 if self._configuration & _EXTENDED else 0xFFF0)

    def _convert(self) -> int:
        """The temperature in sixteenths of a degree (7.3.1: 0.0625 per bit)."""
        bits = 13 if self._configuration & _EXTENDED else 12
        top = 1 << (bits - 1)
        return round(self.reads("temperature", -top / 16, (top - 1) / 16) * 16)

    def register(self, number: int) -> int:
        if number == _TEMPERATURE:
            counts = self._convert() if self._frozen is None else self._frozen
            counts = 0 if self.now() < self._measured_at else counts
            if self._configuration & _EXTENDED:
                # 13 bits left-justified; bit 0 indicates the mode (table 8).
                return ((counts & 0x1FFF) << 3) | 1
            return (counts & 0xFFF) << 4
        if number == _CONFIGURATION:
            word = self._configuration & ~_ALERT
            if self._configuration & _SHUTDOWN and self.now() >= self._ready_at:
                word |= _OS
            # AL shows the comparator; with POL = 0 it reads 1 until the alert is active.
            active = self._comparator()
            return word | (_ALERT if active == bool(word & _POLARITY) else 0)
        return self._limits[number]

    def _comparator(self) -> bool:
        """Alert above T_HIGH until below T_LOW (7.4.4)."""
        counts = self._convert()
        if counts >= self._limit(_T_HIGH):
            self._alert = True
        elif counts < self._limit(_T_LOW):
            self._alert = False
        return self._alert

    def _limit(self, register: int) -> int:
        word = self._limits[register]
        signed = word - 0x10000 if word & 0x8000 else word
        return signed >> (3 if self._configuration & _EXTENDED else 4)
