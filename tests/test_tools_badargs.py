# tenner test: wrong arguments of the hardware tools: the exact error, and nothing reaches the
# hardware. MIT license; Copyright (c) 2026 the tenner authors
"""The owner has allowed everything, so that nothing but the checks stands before the buses."""

import unittest

from fakes import FakeCtx, FakeI2C, FakeSPI
from support import run, temp_folder
from tenner.store import files
from tenner.tools import built_in

ROWS = (
    "I2C0_SDA,GPIO4\nLED,GPIO3\nA0,GPIO0\nBUTTON,GPIO9,input_only:_boot_strapping\n"
    "FLASH_CS,GPIO14,reserved:_flash_chip\nUSB_DP,GPIO19,reserved:_USB\n"
)

READ = {"action": "read", "bus": "i2c0", "address": 72}
WRITE = {"action": "write", "bus": "i2c0", "address": 72, "data": [1]}
BOTH = {"action": "write_read", "bus": "i2c0", "address": 72, "data": [1], "length": 1}
SEND = {"action": "transfer", "device": "spi0.0", "data": [1]}
LEVEL = {"action": "write", "pin": "LED", "value": 1}
PULSE = {"action": "pulse", "pin": "LED", "ms": 1}
PULSES = {"action": "set", "pin": "LED", "freq_hz": 50, "duty_percent": 10}
ADC = {"action": "read", "pin": "A0"}

I2C = ("action", "address", "bus", "data", "delay_ms", "length", "register", "register_bits")
SPI = ("action", "bits", "data", "device", "length", "mode", "speed")
NOT_ONE = "is not an argument; allowed: "
WHOLE = "must be a whole number, not "
ACTIONS = "action must be one of scan, read, write, write_read, not "
PINS = "; pins: LED, A0, BUTTON"


def foreign(name, allowed):
    return '"%s" %s%s' % (name, NOT_ONE, ", ".join(allowed))


# (tool, a right call, the changes to it (... takes a key out), how the error begins behind the
# tool's name)
CASES = (
    # The action.
    ("i2c", READ, {"action": ...}, "action is missing"),
    ("i2c", READ, {"action": "explode"}, ACTIONS + '"explode"'),
    ("i2c", READ, {"action": ""}, ACTIONS + '""'),
    ("i2c", READ, {"action": "READ"}, ACTIONS + '"READ"'),
    ("i2c", READ, {"action": 3}, ACTIONS + '"3"'),
    ("i2c", READ, {"action": None}, "action must be text, not null"),
    ("i2c", READ, {"action": ["read"]}, 'action must be text, not ["read"]'),
    ("i2c", READ, {"action": {"read": 1}}, 'action must be text, not {"read": 1}'),
    ("i2c", READ, {"action": "list"}, ACTIONS + '"list"'),
    ("spi", SEND, {"action": "scan"}, 'action must be one of list, transfer, read, not "scan"'),
    ("gpio", LEVEL, {"action": "watch"}, 'action must be one of read, write, pulse, not "watch"'),
    ("adc", ADC, {"action": "write"}, 'action must be one of read, not "write"'),
    ("pwm", PULSES, {"action": "on"}, 'action must be one of set, off, not "on"'),
    # An approval that no model can give itself.
    ("i2c", WRITE, {"confirm": True}, foreign("confirm", I2C)),
    ("i2c", WRITE, {"approved": "yes"}, foreign("approved", I2C)),
    ("spi", SEND, {"confirm": "true"}, foreign("confirm", SPI)),
    ("gpio", LEVEL, {"confirm": 1}, foreign("confirm", ("action", "ms", "pin", "value"))),
    ("gpio", LEVEL, {"force": True}, foreign("force", ("action", "ms", "pin", "value"))),
    (
        "pwm",
        PULSES,
        {"allow": True},
        foreign("allow", ("action", "duty_percent", "freq_hz", "pin")),
    ),
    ("adc", ADC, {"confirm": True}, foreign("confirm", ("action", "pin"))),
    # A caller cannot set the arguments that a check adds.
    ("gpio", LEVEL, {"gpio": "GPIO14"}, foreign("gpio", ("action", "ms", "pin", "value"))),
    # Buses and devices.
    ("i2c", READ, {"bus": "i2c9"}, "!there is no bus i2c9; available: i2c0"),
    ("i2c", READ, {"bus": "I2C0"}, "!there is no bus I2C0; available: i2c0"),
    ("i2c", READ, {"bus": ""}, "!there is no bus ; available: i2c0"),
    ("i2c", READ, {"bus": 0}, "!there is no bus 0; available: i2c0"),
    ("i2c", READ, {"bus": "spi0.0"}, "!there is no bus spi0.0; available: i2c0"),
    ("i2c", READ, {"bus": "/dev/i2c-1"}, "!there is no bus /dev/i2c-1; available: i2c0"),
    ("i2c", READ, {"bus": ["i2c0"]}, 'bus must be text, not ["i2c0"]'),
    ("i2c", READ, {"bus": True}, "bus must be text, not true"),
    ("spi", SEND, {"device": "spi0"}, "!there is no SPI device spi0; available: spi0.0"),
    ("spi", SEND, {"device": "spi0.1"}, "!there is no SPI device spi0.1; available: spi0.0"),
    ("spi", SEND, {"device": 0.5}, "device must be text, not 0.5"),
    # Addresses.
    ("i2c", READ, {"address": ...}, "address is missing"),
    ("i2c", READ, {"address": 200}, "address must be 0x03 to 0x77, not 200"),
    ("i2c", READ, {"address": 0}, "address must be 0x03 to 0x77, not 0"),
    ("i2c", READ, {"address": 2}, "address must be 0x03 to 0x77, not 2"),
    ("i2c", READ, {"address": "0x78"}, "address must be 0x03 to 0x77, not 120"),
    ("i2c", READ, {"address": -72}, "address must be 0x03 to 0x77, not -72"),
    ("i2c", READ, {"address": "48h"}, "address " + WHOLE + '"48h"'),
    ("i2c", READ, {"address": "0xZZ"}, "address " + WHOLE + '"0xZZ"'),
    ("i2c", READ, {"address": 72.5}, "address " + WHOLE + "72.5"),
    ("i2c", READ, {"address": True}, "address " + WHOLE + "true"),
    ("i2c", READ, {"address": [72]}, "address " + WHOLE + "[72]"),
    ("i2c", READ, {"address": "0x48; rm"}, "address " + WHOLE + '"0x48; rm"'),
    ("i2c", READ, {"address": 10**20}, "address must be 0x03 to 0x77, not 1" + "0" * 20),
    # Registers.
    ("i2c", READ, {"register": -1}, "register must be 0x00 to 0xffff, not -1"),
    ("i2c", READ, {"register": 65536}, "register must be 0x00 to 0xffff, not 65536"),
    ("i2c", READ, {"register": 256}, "register 0x100 needs register_bits 16"),
    (
        "i2c",
        READ,
        {"register": 256, "register_bits": 8},
        "register 0x100 needs register_bits 16",
    ),
    ("i2c", READ, {"register_bits": 12}, "register_bits must be one of 8, 16, not 12"),
    ("i2c", READ, {"register": "one"}, "register " + WHOLE + '"one"'),
    # Lengths.
    ("i2c", READ, {"length": 0}, "length must be 1 to 256, not 0"),
    ("i2c", READ, {"length": -1}, "length must be 1 to 256, not -1"),
    ("i2c", READ, {"length": 257}, "length must be 1 to 256, not 257"),
    ("i2c", READ, {"length": "many"}, "length " + WHOLE + '"many"'),
    ("i2c", BOTH, {"length": ...}, "length is missing"),
    ("i2c", BOTH, {"length": 100000}, "length must be 1 to 256, not 100000"),
    ("spi", SEND, {"action": "read"}, "length is missing"),
    (
        "spi",
        SEND,
        {"action": "read", "length": -4096},
        "length must be 1 to 4096, not -4096",
    ),
    ("spi", SEND, {"action": "read", "length": 4097}, "length must be 1 to 4096, not 4097"),
    # Bytes.
    ("i2c", WRITE, {"data": ...}, "data is missing"),
    ("i2c", WRITE, {"data": []}, "data must have 1 to 256 entries, not 0"),
    ("i2c", WRITE, {"data": [0] * 257}, "data must have 1 to 256 entries, not 257"),
    ("i2c", WRITE, {"data": [1] * 10000}, "20053 characters of arguments are too many"),
    ("i2c", WRITE, {"data": [1, 300]}, "data[1] must be 0 to 255, not 300"),
    ("i2c", WRITE, {"data": [-1]}, "data[0] must be 0 to 255, not -1"),
    ("i2c", WRITE, {"data": [1, "0x1ff"]}, "data[1] must be 0 to 255, not 511"),
    ("i2c", WRITE, {"data": [1, None]}, "data[1] " + WHOLE + "null"),
    ("i2c", WRITE, {"data": [1, [2]]}, "data[1] " + WHOLE + "[2]"),
    ("i2c", WRITE, {"data": [1.5]}, "data[0] " + WHOLE + "1.5"),
    ("i2c", WRITE, {"data": [True]}, "data[0] " + WHOLE + "true"),
    ("i2c", WRITE, {"data": "0102"}, 'data must be a list, not "0102"'),
    ("i2c", WRITE, {"data": "0x01 0x02"}, 'data must be a list, not "0x01 0x02"'),
    ("i2c", WRITE, {"data": 1}, "data must be a list, not 1"),
    ("i2c", WRITE, {"data": {"0": 1}}, 'data must be a list, not {"0": 1}'),
    ("spi", SEND, {"data": ["9f"]}, "data[0] " + WHOLE + '"9f"'),
    ("spi", SEND, {"data": ["ff"]}, "data[0] " + WHOLE + '"ff"'),
    ("spi", SEND, {"data": ...}, "data is missing"),
    ("spi", SEND, {"data": [1] * 4097}, "data must have 1 to 4096 entries, not 4097"),
    ("spi", SEND, {"data": [256]}, "data[0] must be 0 to 255, not 256"),
    # The rest of a transfer.
    ("i2c", BOTH, {"delay_ms": -1}, "delay_ms must be 0 to 1000, not -1"),
    ("i2c", BOTH, {"delay_ms": 60000}, "delay_ms must be 0 to 1000, not 60000"),
    ("spi", SEND, {"mode": 4}, "mode must be 0 to 3, not 4"),
    ("spi", SEND, {"mode": -1}, "mode must be 0 to 3, not -1"),
    ("spi", SEND, {"speed": 0}, "speed must be 1000 to 40000000, not 0"),
    ("spi", SEND, {"speed": 10**9}, "speed must be 1000 to 40000000, not 1000000000"),
    ("spi", SEND, {"speed": "fast"}, "speed " + WHOLE + '"fast"'),
    ("spi", SEND, {"bits": 0}, "bits must be 4 to 32, not 0"),
    # Pins.
    ("gpio", LEVEL, {"pin": ...}, "pin is missing"),
    ("gpio", LEVEL, {"pin": "FLASH_CS"}, "!pin FLASH_CS (GPIO14) is reserved: flash chip"),
    ("gpio", LEVEL, {"pin": "14"}, "!pin FLASH_CS (GPIO14) is reserved: flash chip"),
    ("gpio", LEVEL, {"pin": 14}, "!pin FLASH_CS (GPIO14) is reserved: flash chip"),
    ("gpio", LEVEL, {"pin": "gpio14"}, "!pin FLASH_CS (GPIO14) is reserved: flash chip"),
    ("gpio", PULSE, {"pin": "USB_DP"}, "!pin USB_DP (GPIO19) is reserved: USB"),
    ("gpio", LEVEL, {"pin": "BUTTON"}, "!pin BUTTON (GPIO9) is input only: boot strapping"),
    ("gpio", PULSE, {"pin": 9}, "!pin BUTTON (GPIO9) is input only: boot strapping"),
    (
        "gpio",
        LEVEL,
        {"pin": 4},
        "!pin I2C0_SDA (GPIO4) carries I2C0_SDA: that bus would stop working",
    ),
    ("gpio", LEVEL, {"pin": "D99"}, "!there is no pin D99" + PINS),
    ("gpio", LEVEL, {"pin": 99}, "!there is no pin 99" + PINS),
    ("gpio", LEVEL, {"pin": -3}, "!there is no pin -3" + PINS),
    ("gpio", LEVEL, {"pin": ""}, "!there is no pin " + PINS),
    ("gpio", LEVEL, {"pin": "LED\n"}, "!there is no pin LED\n" + PINS),
    ("gpio", LEVEL, {"pin": ["LED"]}, 'pin must be text, not ["LED"]'),
    ("gpio", LEVEL, {"pin": 3.5}, "pin must be text, not 3.5"),
    ("adc", ADC, {"pin": "FLASH_CS"}, "!pin FLASH_CS (GPIO14) is reserved: flash chip"),
    ("adc", ADC, {"pin": ...}, "pin is missing"),
    ("pwm", PULSES, {"pin": "FLASH_CS"}, "!pin FLASH_CS (GPIO14) is reserved: flash chip"),
    (
        "pwm",
        PULSES,
        {"action": "off", "pin": 14},
        "!pin FLASH_CS (GPIO14) is reserved: flash chip",
    ),
    # Levels and pulses.
    ("gpio", LEVEL, {"value": ...}, "value is missing"),
    ("gpio", LEVEL, {"value": 2}, "value must be 0 to 1, not 2"),
    ("gpio", LEVEL, {"value": -1}, "value must be 0 to 1, not -1"),
    ("gpio", LEVEL, {"value": "on"}, "value " + WHOLE + '"on"'),
    ("gpio", LEVEL, {"value": True}, "value " + WHOLE + "true"),
    ("gpio", PULSE, {"ms": ...}, "ms is missing"),
    ("gpio", PULSE, {"ms": 0}, "ms must be 1 to 10000, not 0"),
    ("gpio", PULSE, {"ms": 3600000}, "ms must be 1 to 10000, not 3600000"),
    ("pwm", PULSES, {"freq_hz": ...}, "freq_hz is missing"),
    ("pwm", PULSES, {"freq_hz": 0}, "freq_hz must be 1 to 40000000, not 0"),
    ("pwm", PULSES, {"freq_hz": "1kHz"}, "freq_hz " + WHOLE + '"1kHz"'),
    ("pwm", PULSES, {"duty_percent": 100.1}, "duty_percent must be 0 to 100, not 100.1"),
    ("pwm", PULSES, {"duty_percent": -0.1}, "duty_percent must be 0 to 100, not -0.1"),
    ("pwm", PULSES, {"duty_percent": "half"}, 'duty_percent must be a number, not "half"'),
)

#: Texts that are no object of JSON at all.
TEXTS = (
    "[]",
    "null",
    '"scan"',
    "7",
    '{"action":"scan"',
    "{'action': 'scan'}",
    '{"action":"scan"}{}',
    '{"action":"scan","length":NaN}',
    '{"action":"scan","length":0x10}',
    '{"action":"\\u00"}',
)


class TestBadArguments(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.i2c = FakeI2C({0x48: {}})
        self.spi = FakeSPI()
        allow = {"tools." + name: "allow" for name in ("i2c", "spi", "gpio", "adc", "pwm")}
        self.ctx = FakeCtx(
            self.folder, allow, {"i2c0": self.i2c}, spi={"spi0.0": self.spi}, rows=ROWS
        )

    def touched(self):
        return self.i2c.log + self.spi.log + self.ctx.port.pin_log

    def test_the_right_calls_are_right(self):
        for name, args in (
            ("i2c", READ),
            ("i2c", WRITE),
            ("i2c", BOTH),
            ("spi", SEND),
            ("gpio", LEVEL),
            ("gpio", PULSE),
            ("pwm", PULSES),
            ("adc", ADC),
        ):
            before = len(self.touched())
            self.assertNotIn("error", run(self.ctx.call(name, args)))
            self.assertTrue(len(self.touched()) > before, name)

    def test_wrong_arguments(self):
        self.assertTrue(len(CASES) >= 80)
        for name, right, change, expected in CASES:
            case = ("%s %s" % (name, change))[:80]
            args = dict(right)
            for key in change:
                args[key] = change[key]
                if change[key] is ...:
                    del args[key]
            text = run(self.ctx.call(name, args))
            # A "!" marks a sentence of the port's own.
            start = "error: %s" % expected[1:]
            if expected[0] != "!":
                start = "error: %s: %s" % (name, expected)
            self.assertEqual(text[: len(start)], start, case)
            self.assertTrue(len(text) <= 1024)
            self.assertEqual(self.touched(), [], case)
            self.assertEqual(self.ctx.asked, [])

    def test_no_object(self):
        for name in ("i2c", "spi", "gpio", "adc", "pwm"):
            for given in TEXTS:
                text = run(self.ctx.call(name, given))
                self.assertEqual(text[: 9 + len(name)], "error: %s: " % name, given)
                self.assertIn("Example: {", text)
        self.assertEqual(self.touched(), [])

    def test_the_example_in_an_error_is_a_right_call(self):
        for name, right, _change, expected in CASES:
            text = run(self.ctx.call(name, {"action": right["action"], "confirm": 1}))
            example = text.partition("Example: ")[2]
            self.assertTrue(example, expected)
            result = run(self.ctx.call(name, example))
            # An example cannot know the name of a pin.
            self.assertTrue("error" not in result or "there is no pin ..." in result, result)

    def test_the_model_is_shown_nothing_that_could_approve(self):
        for _, place, _, _ in built_in.tools():
            text = b"".join(files.blocks(*place)).decode()
            for word in ("confirm", "approve", "force"):
                self.assertNotIn(word, text)


if __name__ == "__main__":
    unittest.main()
