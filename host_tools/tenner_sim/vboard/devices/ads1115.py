"""TI ADS1115 analog-to-digital converter (data sheet SBAS444D)."""

from __future__ import annotations

from tenner_sim.vboard.devices.registers import PointedRegisters

_CONVERSION = 0
_CONFIGURATION = 1

_OS = 0x8000
_SINGLE_SHOT = 0x0100
_POWER_UP = 0x8583  # 9.6.3, table 8

# 9.6.3: the inputs (positive, negative) by MUX, full scale by PGA, samples a second by DR.
_INPUTS: tuple[tuple[int, int | None], ...] = (
    (0, 1),
    (0, 3),
    (1, 3),
    (2, 3),
    (0, None),
    (1, None),
    (2, None),
    (3, None),
)
_FULL_SCALE = (6.144, 4.096, 2.048, 1.024, 0.512, 0.256, 0.256, 0.256)
_RATES = (8, 16, 32, 64, 128, 250, 475, 860)
_OSCILLATOR = 1.1  # 7.5: the data rate varies by 10 % at most
_WAKE_S = 25e-6  # 9.4.2.1


class ADS1115(PointedRegisters):
    """Four registers of 16 bits behind a pointer. Values `in0` to `in3`, in volts.

    Its own fault besides the usual: `other_input` (another controller selects another one
    meanwhile).
    """

    OWN_FAULTS = ("slow", "range", "brownout", "other_input")
    VALUES = {"in0": 1.0, "in1": 2.0, "in2": 0.5, "in3": 0.0}

    def power_on(self) -> None:
        super().power_on()
        self._configuration = _POWER_UP
        self._thresholds = {2: 0x8000, 3: 0x7FFF}
        self._result = 0
        self._next: int | None = None
        self._ready_at = 0.0

    def start(self, read: bool) -> bool:
        self._finish()
        return super().start(read)

    def register(self, number: int) -> int:
        if number == _CONVERSION:
            return self._result & 0xFFFF
        if number == _CONFIGURATION:
            # OS reads 0 during a conversion.
            busy = self._next is not None
            return self._configuration & ~_OS | (0 if busy else _OS)
        return self._thresholds[number]

    def store(self, number: int, word: int) -> None:
        if number == _CONFIGURATION:
            self._configuration = word
            if not word & _SINGLE_SHOT or word & _OS:
                if self.dips():
                    return
                if self.fault == "other_input":
                    self._configuration = word ^ 0x1000
                self._begin()
        elif number in self._thresholds:
            self._thresholds[number] = word

    def _begin(self) -> None:
        plus, minus = _INPUTS[self._configuration >> 12 & 7]
        scale = _FULL_SCALE[self._configuration >> 9 & 7]
        volts = self.value(f"in{plus}") - (0 if minus is None else self.value(f"in{minus}"))
        # 9.5.4: the output clips at 7FFFh and 8000h.
        counts = 0x7FFF if self.fault == "range" else round(volts / scale * 32768)
        self._next = max(-0x8000, min(counts, 0x7FFF))
        rate = _RATES[self._configuration >> 5 & 7]
        self._ready_at = self.takes(_OSCILLATOR / rate + _WAKE_S)

    def _finish(self) -> None:
        if self._next is None or self.now() < self._ready_at:
            return
        self._result, self._next = self._next, None
        if not self._configuration & _SINGLE_SHOT:
            late = self.now() - self._ready_at
            self._begin()
            if late >= self._ready_at - self.now():
                # Later conversions are over too since the last read.
                self._result = self._next or 0
