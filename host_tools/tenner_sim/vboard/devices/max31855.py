"""Maxim MAX31855K thermocouple converter (data sheet 19-5793, revision 5)."""

from __future__ import annotations

from tenner_sim.vboard.devices.base import SPIDevice

_POWER_UP_S = 0.2  # "Thermocouple conversion power-up time"
# Fault bits (table 2).
_FAULT = 1 << 16
_FAULT_BITS = {"short_vcc": 1 << 2, "short_gnd": 1 << 1, "open": 1 << 0}


class MAX31855(SPIDevice):
    """Read-only: 32 bits from the falling edge of CS. Values `temperature` and `internal`.

    Its own faults are a thermocouple that is `open`, or shorted: `short_gnd`, `short_vcc`.
    """

    OWN_FAULTS = ("range", "brownout", "open", "short_gnd", "short_vcc")
    VALUES = {"temperature": 180.0, "internal": 25.0}
    MODES = (0,)  # CPOL 0: data is valid at the rising edge (figure 1)
    MAX_HZ = 5_000_000

    def power_on(self) -> None:
        self._left: list[int] = []
        self._ready_at = 0.0  # a board takes longer to start

    def select(self) -> None:
        # CS low stops the conversion and clocks out the last result (page 9).
        if self.dips():
            self._ready_at = self.now() + _POWER_UP_S
        frame = 0 if self.now() < self._ready_at else self.frame()
        self._left = list(frame.to_bytes(4, "big"))

    def exchange(self, byte: int) -> int:
        return self._left.pop(0) if self._left else 0

    def deselect(self) -> None:
        self._left = []

    def frame(self) -> int:
        """The 32 bits (table 1)."""
        # 14 bits of 0.25 degrees, 12 bits of 0.0625, both two's complement (tables 4 and 5).
        hot = round(self.reads("temperature", -270, 1800) * 4)
        cold = max(-880, min(round(self.value("internal") * 16), 2040))
        bits = ((hot & 0x3FFF) << 18) | ((cold & 0xFFF) << 4)
        if self.fault in _FAULT_BITS:
            bits |= _FAULT | _FAULT_BITS[self.fault]
        return bits
