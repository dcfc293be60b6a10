"""The base of Sensirion's humidity sensors: words that are read once, each with its checksum."""

from __future__ import annotations

from tenner_sim.vboard.devices.base import I2CDevice, crc8


class SensirionDevice(I2CDevice):
    """Values `temperature`, `humidity`."""

    OWN_FAULTS = ("bad_crc", "slow", "range", "brownout")
    VALUES = {"temperature": 24.0, "humidity": 55.0}

    def power_on(self) -> None:
        self._output: list[int] = []
        self._ready_at = 0.0  # when `_output` is readable

    def read(self) -> int:
        return self._output.pop(0) if self._output else 0xFF

    def answer(self, *words: int) -> None:
        """Set the words of the next read, available at once."""
        self._output = []
        self._ready_at = 0.0
        for word in words:
            data = word.to_bytes(2, "big")
            crc = crc8(data)
            self._output += [*data, crc ^ 0x55 if self.fault == "bad_crc" else crc]
