"""Microchip MCP3008 analog-to-digital converter (data sheet DS21295D)."""

from __future__ import annotations

from tenner_sim.vboard.devices.base import SPIDevice


class MCP3008(SPIDevice):
    """Ten bits of eight inputs, or of pairs of them. Values `ch0` to `ch7` and `vref`, in
    volts."""

    OWN_FAULTS = ("range", "brownout")
    VALUES = {f"ch{n}": round(0.3 * n + 0.15, 2) for n in range(8)} | {"vref": 3.3}
    MODES = (0, 3)  # 6.1: data is clocked in and valid at the rising edge
    MAX_HZ = 1_350_000  # at 2.7 V

    def power_on(self) -> None:
        self._configuration: list[int] | None = None
        self._output: list[int] = []
        self._driven = False
        self._dead = False

    def select(self) -> None:
        self.power_on()
        self._dead = self.dips()

    def exchange(self, byte: int) -> int:
        result = 0
        for place in range(7, -1, -1):
            result = result << 1 | self._clock(byte >> place & 1)
        return result

    def deselect(self) -> None:
        self.power_on()

    def _clock(self, bit: int) -> int:
        """One clock (5.0, figure 5-1): before the null bit no chip drives the data line."""
        if self._dead:
            return 1
        if self._driven:
            # "it will output the conversion result with LSB first", then zeros
            return self._output.pop(0) if self._output else 0
        if self._configuration is None:
            # Leading zeros are ignored; the first one is the start bit.
            if bit:
                self._configuration = []
            return 1
        self._configuration.append(bit)
        if len(self._configuration) == 5:
            # The fifth clock after the start bit ends the sample period.
            counts = self._convert()
            bits = [counts >> place & 1 for place in range(9, -1, -1)]
            self._output = [0, *bits, *bits[-2::-1]]
            self._driven = True
        return 1

    def _convert(self) -> int:
        assert self._configuration is not None
        single, *address = self._configuration[:4]
        channel = address[0] << 2 | address[1] << 1 | address[2]
        volts = self.value(f"ch{channel}")
        if not single:
            # Table 5-2: pairs, the odd codes with the signs changed.
            volts -= self.value(f"ch{channel ^ 1}")
        counts = 1023 if self.fault == "range" else int(volts * 1024 / self.value("vref"))
        return max(0, min(counts, 1023))
