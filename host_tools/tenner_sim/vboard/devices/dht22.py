"""Aosong AM2302 (DHT22) humidity and temperature sensor (product manual AM2302, version 1.0)."""

from __future__ import annotations

from tenner_sim.vboard.devices.base import PulseDevice

_INTERVAL_S = 2.0  # 7.1: the shortest time between two readings


class DHT22(PulseDevice):
    """Five bytes for a start pulse: the result of the previous measurement. Values `temperature`,
    `humidity`."""

    OWN_FAULTS = ("bad_crc", "range", "brownout")
    VALUES = {"temperature": 23.0, "humidity": 50.0}

    def power_on(self) -> None:
        self._measured_at = self.now()
        self._frame: bytes | None = None

    def answer(self) -> bytes:
        # 7.1: a read always returns the result of the previous measurement, and starts the next
        # one.
        if self.dips():
            return bytes(5)  # nothing measured yet
        before = self._measure() if self._frame is None else self._frame
        if self.now() - self._measured_at >= _INTERVAL_S:
            self._frame = self._measure()
            self._measured_at = self.now()
        elif self._frame is None:
            self._frame = before
        crc = sum(before) & 0xFF
        return before + bytes([crc ^ 0x55 if self.fault == "bad_crc" else crc])

    def _measure(self) -> bytes:
        # 7.2: tenths; the highest bit of the temperature is its sign.
        humidity = round(self.reads("humidity", 0, 100) * 10)
        tenths = round(self.reads("temperature", -100, 200) * 10)
        temperature = abs(tenths) | (0x8000 if tenths < 0 else 0)
        return humidity.to_bytes(2, "big") + temperature.to_bytes(2, "big")
