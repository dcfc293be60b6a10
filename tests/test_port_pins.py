# tenner test: pins by name, and buses on the pins of pins.csv or of the settings.
# MIT license; Copyright (c) 2026 the tenner authors

import sys
import unittest

from support import temp_folder
from tenner.port.pins import Pins
from tenner.store import files
from tenner.store.config import Config

ROWS = (
    "I2C0_SDA,GPIO4\nI2C0_SCL,GPIO5\nSPI0_SCK,GPIO6\nSPI0_MOSI,GPIO7\nSPI0_MISO,GPIO2\n"
    "SPI0_CS0,GPIO10,MAX31855\nD9,GPIO3\nBOOT,GPIO9,reserved: boot button\n"
    "STRAP,GPIO8,input only: low at boot\nA0,GPIO0,analog\nA1,GPIO9\n"
)


class Machine:
    """Stands in for the module of the board and keeps the calls."""

    class Pin:
        IN = 0
        OUT = 1
        PULL_UP = 2

        def __init__(self, number, mode=None, pull=None, value=None):
            self.shown = (number, value)
            self.pull = pull

    @staticmethod
    def I2C(number, scl, sda, freq):
        return (number, scl.shown[0], sda.shown[0], freq)

    @staticmethod
    def SPI(number, baudrate, sck, mosi, miso):
        return (number, baudrate, sck.shown[0], mosi.shown[0], miso.shown[0], miso.pull)


class TestPins(unittest.TestCase):
    def setUp(self):
        self.path = temp_folder(self) + "/pins.csv"
        files.write_atomic(self.path, ROWS)
        self.real = sys.modules.get("machine")
        sys.modules["machine"] = Machine

    def tearDown(self):
        if self.real is None:
            del sys.modules["machine"]
        else:
            sys.modules["machine"] = self.real

    def pins(self, **settings):
        return Pins(self.path, Config({key.replace("__", "."): settings[key] for key in settings}))

    def test_a_pin_is_found_by_name_or_number(self):
        pins = Pins(self.path)
        for name in ("d9", "GPIO3", "3", 3):
            self.assertEqual(pins.find(name), ("D9", 3, ""))
        self.assertEqual(pins.find("BOOT"), ("BOOT", 9, "reserved: boot button"))
        self.assertIsNone(pins.find("D8"))
        self.assertIsNone(Pins(self.path + "none").find("D9"))

    def test_the_strictest_row_of_a_pin_counts(self):
        files.write_atomic(
            self.path, "D1,GPIO1\nX,GPIO1,reserved: flash\nY,GPIO1,input only: strapping\n"
        )
        for name in ("D1", "X", "Y", 1):
            self.assertEqual(Pins(self.path).find(name)[1:], (1, "reserved: flash"))

    def test_buses_of_the_table(self):
        for pins in (Pins(self.path), self.pins()):
            self.assertEqual(pins.buses("i2c"), ["i2c0"])
            self.assertEqual(pins.buses("spi"), ["spi0.0"])
            self.assertEqual(pins.i2c("i2c0"), (0, 5, 4, 100000))
            bus, cs = pins.spi("spi0.0")
            self.assertEqual(bus, (1, 1000000, 6, 7, 2, Machine.Pin.PULL_UP))
            self.assertEqual(cs.shown, (10, 1))

    def test_settings_go_before_the_rows(self):
        pins = self.pins(
            i2c__i2c0__scl="D9",
            i2c__i2c0__freq=400000,
            i2c__i2c1__scl="20",
            i2c__i2c1__sda="GPIO21",
            spi__spi0__cs="3",
            spi__spi0__freq=2000,
        )
        self.assertEqual(pins.buses("i2c"), ["i2c0", "i2c1"])
        self.assertEqual(pins.i2c("i2c0"), (0, 3, 4, 400000))
        self.assertEqual(pins.buses("spi"), ["spi0.0"])
        bus, cs = pins.spi("spi0.0")
        self.assertEqual((bus[1], cs.shown[0]), (2000, 3))

    def test_a_pin_that_is_unknown_or_reserved_is_refused(self):
        for settings, words in (
            ({"i2c__i2c0__scl": "D77"}, ("i2c0", "D77")),
            ({"i2c__i2c0__sda": "9"}, ("i2c0", "reserved: boot button")),
            ({"i2c__i2c0__sda": "BOOT"}, ("reserved",)),
            ({"i2c__i2c0__sda": "STRAP"}, ("i2c0", "input only: low at boot")),
        ):
            with self.assertRaises(OSError) as caught:
                self.pins(**settings).i2c("i2c0")
            for word in words:
                self.assertIn(word, str(caught.exception))
        with self.assertRaises(OSError) as caught:
            Pins(self.path).i2c("i2c1")
        self.assertIn("I2C1_SCL", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
