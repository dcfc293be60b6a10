"""The BME280's formulas in 32-bit floating point, which is all that an ESP32 has."""

import itertools
import struct

import pytest

from tenner.sensors.bme280 import hectopascals, percent, t_fine
from tenner_sim.vboard.devices import bme280 as chip

TRIM = struct.pack("<H2hH8hBB", *chip._T, *chip._P, 0, chip._H[0])
MORE = b"\x6a\x01\x00\x13\x29\x03\x1e"


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


class Single:
    """A number whose every operation is rounded to 24 bits."""

    def __init__(self, value):
        self.value = single(float(value))

    def __float__(self):
        return self.value

    def __bool__(self):
        return bool(self.value)

    def __lt__(self, other):
        return self.value < float(other)

    def __gt__(self, other):
        return self.value > float(other)


def operation(name):
    compute = getattr(float, name)

    def method(self, other):
        return Single(compute(self.value, single(float(other))))

    return method


for name in ("add", "sub", "mul", "truediv"):
    setattr(Single, f"__{name}__", operation(f"__{name}__"))
    setattr(Single, f"__r{name}__", operation(f"__r{name}__"))


@pytest.mark.parametrize("celsius", [-40, -10, 0, 25, 60, 85])
def test_less_than_a_tenth_of_a_pascal_is_lost(celsius):
    raw_t = chip._inverse(chip.t_fine, celsius * 5120, 20)
    exact, rounded = t_fine(raw_t, TRIM), t_fine(Single(raw_t), TRIM)
    assert isinstance(rounded, Single)
    assert float(rounded) / 5120 == pytest.approx(exact / 5120, abs=0.0005)
    for hpa, share in itertools.product((300, 700, 1013.25, 1100), (0, 20, 50, 100)):
        raw_p = chip._inverse(lambda raw: chip.pascals(raw, exact), hpa * 100, 20)
        raw_h = chip._inverse(lambda raw: chip.percent(raw, exact), share, 16)
        there = float(hectopascals(Single(raw_p), rounded, TRIM))
        assert there == pytest.approx(hectopascals(raw_p, exact, TRIM), abs=0.001)
        there = float(percent(Single(raw_h), rounded, TRIM[25], MORE))
        assert there == pytest.approx(percent(raw_h, exact, TRIM[25], MORE), abs=0.001)
