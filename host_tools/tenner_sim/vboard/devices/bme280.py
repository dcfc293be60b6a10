"""Bosch BME280 and BMP280 climate sensors (data sheets BST-BME280-DS002, BST-BMP280-DS001)."""

from __future__ import annotations

import struct
from collections.abc import Callable

from tenner_sim.vboard.devices.base import I2CDevice

# 5.3, table 18.
_CALIBRATION = 0x88
_ID = 0xD0
_RESET = 0xE0
_CALIBRATION_HUMIDITY = 0xE1
_CTRL_HUM = 0xF2
_STATUS = 0xF3
_CTRL_MEAS = 0xF4
_CONFIG = 0xF5
_DATA = 0xF7
_RESET_WORD = 0xB6

_MEASURING = 0x08
_COPYING = 0x01
_STARTUP_S = 0.002  # 1.1, table 2

_SLEEP, _NORMAL = 0, 3  # mode 1 and 2 are both forced
_OVERSAMPLING = (0, 1, 2, 4, 8, 16, 16, 16)
_FILTERS = (1, 2, 4, 8, 16, 16, 16, 16)
# 5.4.6, table 27; a BMP280 has 2 and 4 s for the last two.
_STANDBY_S = (0.0005, 0.0625, 0.125, 0.25, 0.5, 1.0, 0.01, 0.02)
_SKIPPED = 0x80000
_SKIPPED_HUMIDITY = 0x8000

# dig_T1 to dig_P9 of the worked example in BST-BMP280-DS001, 3.12; dig_H1 to dig_H6 as common
# chips have them.
_T = (27504, 26435, -1000)
_P = (36477, -10685, 3024, 2855, 140, -7, 15500, -14600, 6000)
_H = (75, 362, 0, 313, 50, 30)


def t_fine(raw: int) -> float:
    """8.1: compensated temperature; a degree is 5120 of it."""
    t1, t2, t3 = _T
    fine = (raw / 16384 - t1 / 1024) * t2
    return fine + (raw / 131072 - t1 / 8192) ** 2 * t3


def pascals(raw: int, fine: float) -> float:
    """8.1."""
    p1, p2, p3, p4, p5, p6, p7, p8, p9 = _P
    var1 = fine / 2 - 64000
    var2 = var1 * var1 * p6 / 32768 + var1 * p5 * 2
    var2 = var2 / 4 + p4 * 65536
    var1 = (p3 * var1 * var1 / 524288 + p2 * var1) / 524288
    var1 = (1 + var1 / 32768) * p1
    p = (1048576 - raw - var2 / 4096) * 6250 / var1
    return p + (p9 * p * p / 2147483648 + p * p8 / 32768 + p7) / 16


def percent(raw: int, fine: float) -> float:
    """8.1, without clipping at 0 and 100."""
    h1, h2, h3, h4, h5, h6 = _H
    h = fine - 76800
    h = (raw - (h4 * 64 + h5 / 16384 * h)) * (
        h2 / 65536 * (1 + h6 / 67108864 * h * (1 + h3 / 67108864 * h))
    )
    return h * (1 - h1 * h / 524288)


def _inverse(function: Callable[[int], float], wanted: float, bits: int) -> int:
    """The raw value whose compensated one is nearest; `function` only rises or only falls."""
    low, high = 0, (1 << bits) - 1
    rises = function(high) > function(low)
    while low < high:
        middle = (low + high) // 2
        if (function(middle) < wanted) == rises:
            low = middle + 1
        else:
            high = middle
    return min((low - 1, low), key=lambda raw: abs(function(raw) - wanted)) if low else 0


class BME280(I2CDevice):
    """Values `temperature`, `pressure` (hPa), `humidity`."""

    OWN_FAULTS = ("slow", "range", "brownout")
    VALUES = {"temperature": 21.0, "pressure": 1013.25, "humidity": 48.0}
    CHIP_ID = 0x60

    def power_on(self) -> None:
        self._control = {_CTRL_HUM: 0, _CTRL_MEAS: 0, _CONFIG: 0}
        self._humidity_oversampling = 0
        self._data = _pack(_SKIPPED, _SKIPPED, _SKIPPED_HUMIDITY)
        self._next: bytes | None = None
        self._filtered: tuple[float, float] | None = None
        self._ready_at = 0.0
        self._copied_at = self.takes(_STARTUP_S)
        self._register = 0
        self._address: int | None = None

    def start(self, read: bool) -> bool:
        self._address = None
        self._finish()
        # 4: data registers are shadowed during a burst.
        self._shadow = self._data
        return True

    def write(self, byte: int) -> bool:
        # 6.2.1: pairs of a register address and its value.
        if self._address is None:
            self._address = self._register = byte
        else:
            self._store(self._address, byte)
            self._address = None
        return True

    def read(self) -> int:
        value = self._load(self._register)
        self._register = (self._register + 1) & 0xFF
        return value

    def _load(self, register: int) -> int:
        humid = self.CHIP_ID == BME280.CHIP_ID
        if _CALIBRATION <= register < _CALIBRATION + 26:
            block = struct.pack("<H2hH8hBB", *_T, *_P, 0, _H[0] if humid else 0)
            return block[register - _CALIBRATION]
        if humid and _CALIBRATION_HUMIDITY <= register < _CALIBRATION_HUMIDITY + 7:
            _, h2, h3, h4, h5, h6 = _H
            # Table 16: dig_H4 and dig_H5 share a byte.
            shared = (h4 & 0xF) | (h5 & 0xF) << 4
            block = struct.pack("<hBbBbb", h2, h3, h4 >> 4, shared, h5 >> 4, h6)
            return block[register - _CALIBRATION_HUMIDITY]
        if register == _ID:
            return self.CHIP_ID
        if register == _STATUS:
            status = _MEASURING if self._next is not None else 0
            return status | (_COPYING if self.now() < self._copied_at else 0)
        if register in self._control and (humid or register != _CTRL_HUM):
            return self._control[register]
        if _DATA <= register < _DATA + (8 if humid else 6):
            return self._shadow[register - _DATA]
        return 0

    def _store(self, register: int, value: int) -> None:
        if register == _RESET and value == _RESET_WORD:
            self.power_on()
        elif register == _CTRL_MEAS:
            self._control[register] = value
            # 5.4.3: ctrl_hum takes effect with a write to ctrl_meas.
            self._humidity_oversampling = _OVERSAMPLING[self._control[_CTRL_HUM] & 7]
            if value & 3 == _SLEEP:
                self._next = None
            elif self._next is None:
                self._begin()
        elif register in self._control:
            self._control[register] = value & (0x07 if register == _CTRL_HUM else 0xFD)

    def _begin(self) -> None:
        """Measure; the result is ready after the longest time of 9.1."""
        if self.dips():
            return
        t = _OVERSAMPLING[self._control[_CTRL_MEAS] >> 5]
        p = _OVERSAMPLING[self._control[_CTRL_MEAS] >> 2 & 7]
        h = self._humidity_oversampling if self.CHIP_ID == BME280.CHIP_ID else 0
        milliseconds = 1.25 + 2.3 * t + (2.3 * p + 0.575 if p else 0)
        milliseconds += 2.3 * h + 0.575 if h else 0
        self._next = self._measure(t, p, h)
        self._ready_at = self.takes(milliseconds / 1000)

    def _measure(self, t: int, p: int, h: int) -> bytes:
        wanted = self.reads("temperature", -60, 110) * 5120
        raw_t = _inverse(t_fine, wanted, 20)
        fine = t_fine(raw_t)
        hectopascals = self.reads("pressure", 200, 1200)
        raw_p = _inverse(lambda raw: pascals(raw, fine), hectopascals * 100, 20)
        coefficient = _FILTERS[self._control[_CONFIG] >> 2 & 7]
        if coefficient > 1:
            before = self._filtered or (raw_t, raw_p)
            # 3.4.4: old data times coefficient less one, new data, and an average of them.
            now_t, now_p = (
                (old * (coefficient - 1) + new) / coefficient
                for old, new in zip(before, (raw_t, raw_p), strict=True)
            )
            self._filtered = now_t, now_p
            raw_t, raw_p = round(now_t), round(now_p)
        else:
            # 3.4.1 and 3.4.2: without the filter 16 bits, and one more for each oversampling step.
            raw_t, raw_p = _rounded(raw_t, t), _rounded(raw_p, p)
        raw_h = _SKIPPED_HUMIDITY
        if h:
            share = max(0.0, min(self.value("humidity"), 100.0))
            raw_h = _inverse(lambda raw: percent(raw, fine), share, 16)
        return _pack(raw_p if p else _SKIPPED, raw_t if t else _SKIPPED, raw_h)

    def _finish(self) -> None:
        if self._next is None or self.now() < self._ready_at:
            return
        self._data, self._next = self._next, None
        if self._control[_CTRL_MEAS] & 3 == _NORMAL:
            self._begin()
            self._ready_at += _STANDBY_S[self._control[_CONFIG] >> 5]
        else:
            # Forced mode: back to sleep afterwards (3.3.3).
            self._control[_CTRL_MEAS] &= ~3


class BMP280(BME280):
    """The same chip without humidity."""

    VALUES = {"temperature": 21.0, "pressure": 1013.25}
    CHIP_ID = 0x58


def _rounded(raw: int, oversampling: int) -> int:
    unused = 4 - min(oversampling, 16).bit_length() + 1 if oversampling else 0
    return min((raw + (1 << unused >> 1)) >> unused << unused, 0xFFFFF)


def _pack(pressure: int, temperature: int, humidity: int) -> bytes:
    """The data registers: 20, 20 and 16 bits, left-justified."""
    data = (pressure << 4).to_bytes(3, "big") + (temperature << 4).to_bytes(3, "big")
    return data + humidity.to_bytes(2, "big")
