"""Maxim MAX6675 thermocouple converter (data sheet 19-2235, revision 2)."""

from __future__ import annotations

from tenner_sim.vboard.devices.base import SPIDevice

_CONVERSION_S = 0.22  # electrical characteristics, maximum
_OPEN = 1 << 2


class MAX6675(SPIDevice):
    """Read-only: 16 bits from the falling edge of CS. Value `temperature`, 0 to 1023.75 degrees.

    Its own fault is a thermocouple that is `open`.
    """

    OWN_FAULTS = ("range", "brownout", "open")
    VALUES = {"temperature": 120.0}
    MODES = (0, 1)  # figure 1b: a bit changes after the falling edge of the clock
    MAX_HZ = 4_300_000

    def power_on(self) -> None:
        self._left: list[int] = []
        self._latched = 0
        self._since = self.now()  # CS is high, so a conversion runs

    def select(self) -> None:
        self.dips()
        # "Forcing CS low immediately stops any conversion process": only a complete one counts.
        if self.now() >= self._since + _CONVERSION_S:
            self._latched = round(self.reads("temperature", 0, 1023.75) * 4)
        # Bit 0 is three-state: the pull-up reads as one. Bit 1 is the identity, always 0.
        bits = self._latched << 3 | 1
        if self.fault == "open":
            bits |= _OPEN
        self._left = list(bits.to_bytes(2, "big"))

    def exchange(self, byte: int) -> int:
        return self._left.pop(0) if self._left else 0xFF

    def deselect(self) -> None:
        self._left = []
        self._since = self.now()
