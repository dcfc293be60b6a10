"""Sensirion SHT40 humidity and temperature sensor (data sheet SHT4x, version 6.5)."""

from __future__ import annotations

from tenner_sim.vboard.devices.sensirion import SensirionDevice

# Commands of one byte (4.5, table 8) and the longest they take (3.1, table 5; 4.9 for the heater).
_MEASURE = {
    0xFD: 0.0083,
    0xF6: 0.0045,
    0xE0: 0.0016,
    0x39: 1.1,
    0x32: 0.11,
    0x2F: 1.1,
    0x24: 0.11,
    0x1E: 1.1,
    0x15: 0.11,
}
_SERIAL_NUMBER = 0x89
_SOFT_RESET = 0x94

_SERIAL = 0x54454E32


class SHT40(SensirionDevice):
    """Commands of one byte."""

    def start(self, read: bool) -> bool:
        # Busy, or without a result, it does not acknowledge a read header (4.2).
        return not read or (bool(self._output) and self.now() >= self._ready_at)

    def write(self, byte: int) -> bool:
        if byte == _SOFT_RESET:
            # A command ends a measurement too.
            self.power_on()
            return True
        if self.now() < self._ready_at:
            return False
        if byte in _MEASURE:
            if self.dips():
                return True
            # 4.6: T = -45 + 175 S/(2^16-1), RH = -6 + 125 S/(2^16-1)
            temperature = round((self.reads("temperature", -45, 130) + 45) / 175 * 65535)
            humidity = round((self.reads("humidity", -6, 119) + 6) / 125 * 65535)
            self.answer(temperature, humidity)
            self._ready_at = self.takes(_MEASURE[byte])
        elif byte == _SERIAL_NUMBER:
            self.answer(_SERIAL >> 16, _SERIAL & 0xFFFF)
        else:
            return False
        return True

    def stop(self) -> None:
        if self.now() >= self._ready_at and len(self._output) < 6:
            # A result is read once, even if only in part.
            self._output = []
