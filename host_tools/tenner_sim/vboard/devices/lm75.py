"""National LM75 temperature sensor (data sheet DS012658, section 1)."""

from __future__ import annotations

from tenner_sim.vboard.devices.registers import PointedRegisters

_TEMPERATURE = 0
_CONFIGURATION = 1
_HYSTERESIS = 2
_OVERTEMPERATURE = 3

_CONVERSION_S = 0.3  # electrical characteristics, maximum


class LM75(PointedRegisters):
    """Four registers behind a pointer; nine bits of temperature. Value `temperature`."""

    OWN_FAULTS = ("range", "brownout")
    VALUES = {"temperature": 21.5}

    def power_on(self) -> None:
        super().power_on()
        self._configuration = 0
        self._limits = {_HYSTERESIS: 0x4B00, _OVERTEMPERATURE: 0x5000}  # 75 and 80 degrees
        self._frozen: int | None = None
        self._measured_at = 0.0  # a board takes longer to start than the first measurement

    def before_read(self) -> None:
        if self._pointer == _TEMPERATURE and self.dips():
            self._measured_at = self.now() + _CONVERSION_S

    def store_high(self, number: int, byte: int) -> None:
        # The configuration has one byte.
        if number == _CONFIGURATION:
            self._configuration = byte & 0x1F
            # In shutdown the register keeps its value.
            self._frozen = self._convert() if byte & 1 else None

    def store(self, number: int, word: int) -> None:
        if number in self._limits:
            self._limits[number] = word & 0xFF80

    def _convert(self) -> int:
        """Halves of a degree, left-justified; the low seven bits are undefined, here 0."""
        return (round(self.reads("temperature", -128, 127.5) * 2) & 0x1FF) << 7

    def register(self, number: int) -> int:
        if number == _TEMPERATURE:
            if self.now() < self._measured_at:
                return 0
            return self._convert() if self._frozen is None else self._frozen
        if number == _CONFIGURATION:
            return self._configuration << 8 | self._configuration
        return self._limits[number]
