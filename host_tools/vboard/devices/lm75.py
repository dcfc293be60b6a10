"""National LM75 temperature sensor (data sheet DS012658, section 1)."""

from __future__ import annotations

from host_tools.vboard.devices.base import I2CDevice

_TEMPERATURE = 0
_CONFIGURATION = 1
_HYSTERESIS = 2
_OVERTEMPERATURE = 3


class LM75(I2CDevice):
    """Four registers behind a pointer; nine bits of temperature. Value `temperature`."""

    OWN_FAULTS = ("range",)
    VALUES = {"temperature": 21.5}

    def power_on(self) -> None:
        self._pointer = 0
        self._configuration = 0
        self._limits = {_HYSTERESIS: 0x4B00, _OVERTEMPERATURE: 0x5000}  # 75 and 80 degrees
        self._got: list[int] = []
        self._frozen: int | None = None

    def start(self, read: bool) -> bool:
        self._got = []
        self._at = 0
        if read:
            self._word = self._register()
        return True

    def write(self, byte: int) -> bool:
        self._got.append(byte)
        if len(self._got) == 1:
            self._pointer = byte & 3
        elif len(self._got) == 2 and self._pointer == _CONFIGURATION:
            self._configuration = byte & 0x1F
            # Shut down, the register keeps what it has.
            self._frozen = self._convert() if byte & 1 else None
        elif len(self._got) == 3 and self._pointer in self._limits:
            self._limits[self._pointer] = (self._got[1] << 8 | byte) & 0xFF80
        return True

    def read(self) -> int:
        byte = self._word >> 8 if self._at == 0 else self._word & 0xFF
        self._at ^= 1
        return byte

    def _convert(self) -> int:
        """Halves of a degree, left-justified; the low seven bits are undefined, here 0."""
        return (round(self.reads("temperature", -128, 127.5) * 2) & 0x1FF) << 7

    def _register(self) -> int:
        if self._pointer == _TEMPERATURE:
            return self._convert() if self._frozen is None else self._frozen
        if self._pointer == _CONFIGURATION:
            return self._configuration << 8 | self._configuration
        return self._limits[self._pointer]
