# tenner test: single pins by name: refusals before hardware is touched, and the calls on it.
# MIT license; Copyright (c) 2026 the tenner authors

import sys
import unittest

from support import temp_folder
from tenner.port.gpio import Gpio
from tenner.store import files
from tenner.store.config import Config

ROWS = (
    "I2C0_SDA,GPIO4\nI2C0_SCL,GPIO5\nSPI0_SCK,GPIO6\nSPI0_MOSI,GPIO7\nSPI0_MISO,GPIO2\n"
    "SPI0_CS0,GPIO10\nLED,GPIO3\nD8,GPIO18\nA0,GPIO0\nA1,GPIO1\nANALOG,GPIO20\n"
    "BUTTON,GPIO9,input only: boot strapping\nFLASH_CS,GPIO14,reserved: flash chip\n"
)


class Machine:
    """Stands in for the module of the board; `done` lists the calls."""

    done = []
    broken = False

    class Pin:
        IN, OUT, PULL_DOWN, PULL_UP = 1, 3, 1, 2

        def __init__(self, number, mode=None, pull=None, value=None):
            self.number = number
            Machine.done.append((number, mode, pull, value))

    class ADC:
        ATTN_11DB = 3

        def __init__(self, pin, atten):
            if pin.number > 4:
                raise ValueError("invalid pin")
            self.pin = pin

        def read_uv(self):
            if Machine.broken:
                raise OSError(-258, "ESP_ERR_INVALID_ARG")
            return 0

    class PWM:
        def __init__(self, pin, freq, duty_u16):
            if freq > 40000000:
                raise ValueError("frequency must be from 1Hz to 40MHz")
            self.pin = pin

        def deinit(self):
            Machine.done.append((self.pin.number, "deinit"))


class TestGpio(unittest.TestCase):
    def setUp(self):
        self.path = temp_folder(self) + "/pins.csv"
        files.write_atomic(self.path, ROWS)
        self.kept = {}
        self.real = sys.modules.get("machine")
        sys.modules["machine"] = Machine
        Machine.done = []

    def tearDown(self):
        if self.real is None:
            del sys.modules["machine"]
        else:
            sys.modules["machine"] = self.real

    def pins(self, settings=None):
        # Another object for each call, as on a board: only `kept` lasts.
        return Gpio(self.path, Config(settings), self.kept)

    def refused(self, function, *args):
        with self.assertRaises(OSError) as caught:
            function(*args)
        return str(caught.exception)

    def test_names_of_pins(self):
        pins = self.pins()
        self.assertEqual(pins.names("gpio"), ["LED", "D8", "A0", "A1", "ANALOG", "BUTTON"])
        self.assertEqual(pins.names("pwm"), ["LED", "D8", "A0", "A1", "ANALOG"])
        self.assertEqual(pins.names("adc"), ["A0", "A1"])
        self.assertEqual(Gpio(self.path + "none").names("gpio"), [])

    def test_what_is_refused(self):
        for name, uses, words in (
            ("FLASH_CS", ("in", "up", "down", "out", "adc", "pwm"), "is reserved: flash chip"),
            # The same pin by its number.
            ("14", ("in", "out"), "pin FLASH_CS (GPIO14) is reserved"),
            ("GPIO14", ("out",), "is reserved"),
            ("button", ("out", "pwm"), "pin BUTTON (GPIO9) is input only: boot strapping"),
            (4, ("up", "down", "out", "adc", "pwm"), "carries I2C0_SDA: that bus would stop"),
            ("SPI0_CS0", ("out",), "carries SPI0_CS0"),
            ("D77", ("in", "out"), "there is no pin D77; pins: LED, D8, A0"),
            ("11", ("in",), "there is no pin 11"),
            ("", ("in",), "there is no pin"),
        ):
            for use in uses:
                self.assertIn(words, self.refused(self.pins().check, name, use))
                kinds = {"adc": (self.pins().adc, ()), "pwm": (self.pins().pwm, (1000, 0))}
                call, more = kinds.get(use, (self.pins().pin, (use,)))
                self.assertIn(words, self.refused(call, name, *more))
        self.assertEqual(Machine.done, [])

    def test_what_is_allowed(self):
        for name, use, expected in (
            ("led", "out", ("LED", "GPIO3")),
            (9, "in", ("BUTTON", "GPIO9")),
            ("BUTTON", "up", ("BUTTON", "GPIO9")),
            ("GPIO4", "in", ("I2C0_SDA", "GPIO4")),
            ("A0", "out", ("A0", "GPIO0")),
        ):
            self.assertEqual(self.pins().check(name, use), expected)
        self.assertEqual(Machine.done, [])

    def test_a_bus_that_the_settings_moved(self):
        pins = self.pins({"i2c.i2c0.scl": "D8", "spi.spi1.cs": "3", "i2c.i2c0.freq": 1000})
        self.assertIn("carries I2C0_SCL", self.refused(pins.check, "D8", "out"))
        self.assertIn("carries SPI1_CS", self.refused(pins.check, "LED", "out"))
        self.assertEqual(pins.check("I2C0_SCL", "out"), ("I2C0_SCL", "GPIO5"))

    def test_reading_leaves_an_output_an_output(self):
        self.pins().pin("LED", "in")
        self.pins().pin("LED", "out", 1)
        self.pins().pin("LED", "in")
        self.pins().pin("I2C0_SDA", "in")
        self.pins().pin("LED", "up")
        self.pins().pin("LED", "in")
        self.pins().pin("D8", "down")
        self.assertEqual(
            Machine.done,
            [
                (3, 1, None, None),
                (3, 3, None, 1),
                (3, None, None, None),
                (4, None, None, None),
                (3, 1, 2, None),
                (3, 1, None, None),
                (18, 1, 1, None),
            ],
        )

    def test_a_level_ends_the_pulses(self):
        self.pins().pwm("LED", 1000, 100)
        self.pins().pin("LED", "in")
        self.assertEqual(Machine.done[-1], (3, None, None, None))
        self.pins().pin("LED", "out", 0)
        self.assertEqual(Machine.done[-2:], [(3, "deinit"), (3, 3, None, 0)])

    def test_what_only_the_chip_knows(self):
        self.assertIn(
            "pin LED (GPIO3): frequency must be",
            self.refused(self.pins().pwm, "LED", 50000000, 0),
        )
        self.assertIn(
            "pin D8 (GPIO18) measures no voltage; pins: A0, A1",
            self.refused(self.pins().adc, "D8"),
        )
        self.pins().adc("LED")
        Machine.broken = True
        try:
            said = self.refused(self.pins().adc, "A0")
        finally:
            Machine.broken = False
        self.assertIn("pin A0 (GPIO0): the chip's converter gives no voltage (ESP_ERR_INV", said)


if __name__ == "__main__":
    unittest.main()
