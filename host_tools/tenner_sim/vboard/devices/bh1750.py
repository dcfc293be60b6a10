"""ROHM BH1750FVI ambient light sensor (technical note 11046EDT01, 2011.11)."""

from __future__ import annotations

from tenner_sim.vboard.devices.base import I2CDevice

# "Instruction Set Architecture"
_POWER_DOWN = 0x00
_POWER_ON = 0x01
_RESET = 0x07
_CONTINUOUS = (0x10, 0x11, 0x13)
_ONE_TIME = (0x20, 0x21, 0x23)
_TIME_HIGH = 0x40  # 01000_MT[7,6,5]
_TIME_LOW = 0x60  # 011_MT[4,3,2,1,0]

# "Measurement time": the longest at MTreg 69, for H-, H2- and L-resolution, by the mode's low
# bits.
_LONGEST_S = {0: 0.180, 1: 0.180, 3: 0.024}
_DEFAULT_TIME = 69


class BH1750(I2CDevice):
    """One-byte instructions; a read returns the data register, even during a measurement. Value
    `light`."""

    OWN_FAULTS = ("slow", "range", "brownout")
    VALUES = {"light": 300.0}

    def power_on(self) -> None:
        self._data = 0
        self._powered = False  # "Initial state is Power Down mode after VCC is supplied"
        self._time = _DEFAULT_TIME
        self._mode: int | None = None
        self._next: int | None = None
        self._ready_at = 0.0

    def start(self, read: bool) -> bool:
        self._at = 0
        self._finish()
        return True

    def write(self, byte: int) -> bool:
        if byte == _POWER_DOWN:
            self._powered = False
            self._mode = None
        elif byte == _POWER_ON:
            self._powered = True
        elif byte == _RESET:
            # "Reset command is not acceptable in Power Down mode"
            if self._powered:
                self._data = 0
        elif byte in _CONTINUOUS or byte in _ONE_TIME:
            self._powered = True
            self._mode = byte
            self._begin()
        elif byte & 0xF8 == _TIME_HIGH:
            self._time = (byte & 7) << 5 | (self._time & 0x1F)
        elif byte & 0xE0 == _TIME_LOW:
            self._time = (self._time & 0xE0) | (byte & 0x1F)
        else:
            return False
        return True

    def read(self) -> int:
        byte = self._data >> 8 if self._at == 0 else self._data & 0xFF
        self._at ^= 1
        return byte

    def _begin(self) -> None:
        """Start a measurement, whose time grows with MTreg."""
        if self.dips():
            return
        assert self._mode is not None
        kind = self._mode & 3
        # "lx per count": 1/1.2 at MTreg 69, half of that in H-resolution mode 2.
        counts = self.reads("light", 0, 1e9) * 1.2 * self._time / _DEFAULT_TIME
        if kind == 1:
            counts *= 2
        elif kind == 3:
            counts = counts // 4 * 4  # a resolution of 4 lx
        self._next = min(int(counts), 0xFFFF)
        self._ready_at = self.takes(_LONGEST_S[kind] * self._time / _DEFAULT_TIME)

    def _finish(self) -> None:
        if self._next is None or self.now() < self._ready_at:
            return
        self._data, self._next = self._next, None
        if self._mode in _CONTINUOUS:
            late = self.now() - self._ready_at
            self._begin()
            if late >= self._ready_at - self.now():
                # Later measurements are over too since the last read.
                self._data = self._next or 0
        else:
            # "Automatically set to Power Down mode after measurement"
            self._powered = False
            self._mode = None
