# tenner test: the tools spi, gpio, adc and pwm: actions, answers, and questions to the owner.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import unittest

from fakes import FakeCtx, FakeI2C, FakePins, FakeSPI
from support import cancelled, run, temp_folder
from tenner.port.compat import sleep_ms

USUAL = "usually TMP102, TMP105, LM75 temperature; ADS1115 ADC"

ROWS = "LED,GPIO3\nA0,GPIO0\nBUTTON,GPIO9,input_only:_boot_button\nFLASH,GPIO14,reserved:_flash\n"
WRITES = ("tools.i2c", "tools.spi", "tools.gpio", "tools.pwm")


class Board(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.spi = FakeSPI(b"\x00\xbf\x25\x41")
        self.i2c = FakeI2C({0x48: {}, 0x40: {}})

    def ctx(self, rule=None, answers=(), **more):
        settings = {name: rule for name in WRITES if rule is not None}
        settings.update(more)
        return FakeCtx(
            self.folder,
            settings,
            {"i2c0": self.i2c},
            answers=answers,
            spi={"spi0.0": self.spi},
            rows=ROWS,
        )

    def call(self, name, rule="allow", **args):
        self.last = self.ctx(rule)
        return run(self.last.call(name, args))


class TestSPI(Board):
    def test_it_lists_the_devices(self):
        self.assertEqual(self.call("spi", action="list"), "spi0.0")

    def test_a_transfer_returns_bytes(self):
        text = self.call("spi", action="transfer", device="spi0.0", data=["0x9f", 0, 0, 0])
        self.assertEqual(text, "0x00 0xbf 0x25 0x41 (0 191 37 65)")
        self.assertEqual(
            self.spi.log,
            [
                ("init", 1000000, 0, 8),
                ("cs", 0),
                ("transfer", b"\x9f\0\0\0"),
                ("cs", 1),
                ("init", 1000000, 0, 8),
            ],
        )

    def test_the_only_device_need_not_be_named(self):
        self.assertIn("0xbf", self.call("spi", action="read", length=4))
        self.assertEqual(self.spi.log[2], ("transfer", bytes(4)))

    def test_reading_sends_nothing_but_zeros(self):
        for rule in (None, ["read"], "allow"):
            text = self.call("spi", rule, action="read", length=1, data=[0xC7])
            self.assertEqual(text, "error: spi: read sends zeros; use transfer to send data")
        self.assertEqual(self.spi.log, [])

    def test_a_rule_may_name_what_is_sent(self):
        rule = ["transfer spi0.0 9f*"]
        self.call("spi", rule, action="transfer", data=[0x9F, 0, 0, 0])
        self.assertEqual(self.spi.log[2], ("transfer", b"\x9f\0\0\0"))
        del self.spi.log[:]
        for data in ([0xC7], [0x9F] + [0] * 32, [0x06, 0x9F]):
            text = self.call("spi", rule, action="transfer", data=data)
            self.assertTrue(text.startswith("error: the owner does not allow spi transfer"), text)
        self.assertEqual(self.spi.log, [])

    def test_speed_and_mode_are_for_this_call_only(self):
        self.call("spi", action="transfer", data=[1], speed=2000, mode=3)
        self.assertEqual(self.spi.log[0], ("init", 2000, 3, 8))
        self.assertEqual(self.spi.log[-1], ("init", 1000000, 0, 8))
        ctx = self.ctx("allow", **{"spi.spi0.freq": 5000})
        run(ctx.call("spi", {"action": "read", "length": 1}))
        self.assertEqual(self.spi.log[-1], ("init", 5000, 0, 8))

    def test_the_chip_select_goes_up_again_whatever_happens(self):
        for fails, words in (
            (OSError(5), "error: no answer at the chip on spi0.0 (EIO)"),
            (OSError(16), "in use by a kernel driver (EBUSY)"),
            (OSError("spi0.0: no such wire"), "error: spi0.0: no such wire"),
            (RuntimeError("broken"), "error: spi failed: RuntimeError: broken"),
        ):
            self.spi.fails = fails
            self.spi.log = []
            self.assertIn(words, self.call("spi", action="read", length=1))
            self.assertEqual(
                self.spi.log[1:],
                [("cs", 0), ("transfer", b"\0"), ("cs", 1), ("init", 1000000, 0, 8)],
            )

    def test_what_the_bus_cannot_do(self):
        self.assertEqual(
            self.call("spi", action="transfer", data=[1], bits=16), "error: spi0.0: bits must be 8"
        )
        self.assertEqual([entry for entry in self.spi.log if entry[0] == "transfer"], [])
        self.assertEqual(self.spi.log[-2], ("cs", 1))

    def test_an_answer_that_is_none(self):
        self.spi.answer = b""
        self.assertEqual(
            self.call("spi", action="read", length=2),
            "0xff 0xff (255 255); if that is no answer: wiring, power, mode or speed?",
        )

    def test_much_is_cut(self):
        text = self.call("spi", action="read", length=4096)
        self.assertTrue(text.startswith("4096 bytes, the first 300 in hex: 00 bf 25 41 ff"), text)
        self.assertTrue(len(text) < 1024)
        self.assertTrue(self.call("spi", action="read", length=33).startswith("33 bytes in hex: "))

    def test_the_owner_sees_all_that_is_sent(self):
        ctx = self.ctx(answers=[True])
        run(ctx.call("spi", {"action": "transfer", "data": [159, 0], "mode": 1}))
        lines = ctx.asked[0].split("\n")
        self.assertIn("May I send 2 bytes to the chip at spi0.0? Asked for by your", lines[0])
        self.assertEqual(lines[1:], ["Exactly: send 0x9f 0x00 (159 0) to spi0.0, mode 1"])
        self.spi.log = []
        data = [index & 255 for index in range(1024)]
        ctx = self.ctx()
        run(ctx.call("spi", {"action": "transfer", "data": data}))
        self.assertIn(" ".join(["%02x" % byte for byte in data]), ctx.asked[0])
        ctx = self.ctx(answers=[True])
        text = run(ctx.call("spi", {"action": "transfer", "data": data + [1]}))
        self.assertIn("the owner is asked about 1024 bytes at most", text)
        self.assertEqual((ctx.asked, self.spi.log), ([], []))


class TestPins(Board):
    def test_gpio(self):
        for args, text, log in (
            ({"action": "read", "pin": "LED"}, "pin LED (GPIO3) is at 0", [("in", 3, None)]),
            ({"action": "read", "pin": 9}, "pin BUTTON (GPIO9) is at 1", [("in", 9, None)]),
            (
                {"action": "write", "pin": "led", "value": 1},
                "pin LED (GPIO3) is at 1",
                [("out", 3, 1)],
            ),
            (
                {"action": "pulse", "pin": "GPIO3", "ms": 1},
                "pin LED (GPIO3) is at 0",
                [("out", 3, 1), ("value", 3, 0)],
            ),
            (
                {"action": "pulse", "pin": 3, "ms": 1, "value": 0},
                "pin LED (GPIO3) is at 1",
                [("out", 3, 0), ("value", 3, 1)],
            ),
        ):
            ctx = self.ctx("allow")
            ctx.port.levels[9] = 1
            self.assertEqual(run(ctx.call("gpio", args)), text)
            self.assertEqual(ctx.port.pin_log, log)

    def test_a_pulse_ends_when_the_turn_is_cancelled(self):
        ctx = self.ctx("allow")

        async def stopped():
            task = asyncio.create_task(
                ctx.call("gpio", {"action": "pulse", "pin": "LED", "ms": 10000})
            )
            while not ctx.port.pin_log:
                await sleep_ms(0)
            was_cancelled = await cancelled(task)
            # The task of the pulse itself, behind wait_for, may end after it.
            for _ in range(1000):
                if len(ctx.port.pin_log) < 2:
                    await sleep_ms(1)
            return was_cancelled

        self.assertTrue(run(stopped()))
        self.assertEqual(ctx.port.pin_log, [("out", 3, 1), ("value", 3, 0)])

    def test_adc(self):
        self.assertEqual(
            self.call("adc", action="read", pin="A0"),
            "pin A0 (GPIO0): raw 32768 of 65535, 1650 mV",
        )
        self.assertEqual(self.last.port.pin_log, [("adc", 0)])

    def test_pwm(self):
        self.assertEqual(
            self.call("pwm", action="set", pin="LED", freq_hz=50, duty_percent=7.5),
            "pulses of 50 Hz, 7.5 % on pin LED (GPIO3)",
        )
        self.assertEqual(self.last.port.pin_log, [("pwm", 3, 50, 4915)])
        self.call("pwm", action="set", pin="LED", freq_hz=1000, duty_percent=100)
        self.assertEqual(self.last.port.pin_log, [("pwm", 3, 1000, 65535)])
        self.assertEqual(self.call("pwm", action="off", pin="3"), "pin LED (GPIO3) has no pulses")
        self.assertEqual(self.last.port.pin_log, [("pwm", 3, 1000, 0), ("deinit",)])

    def test_a_refusal_of_the_chips_own_driver_is_a_sentence(self):
        """ESP-IDF's errors are a number and a name."""
        error = OSError(-258, "ESP_ERR_INVALID_ARG")
        words = "the chip refuses it (ESP_ERR_INVALID_ARG): try another pin, value or bus"

        def fail(*args, **options):
            raise error

        kept = {}
        for name in ("pin", "adc", "pwm", "read_uv"):
            kept[name] = getattr(FakePins, name)
        for tool, method, args in (
            ("gpio", "pin", {"action": "read", "pin": "LED"}),
            ("gpio", "pin", {"action": "write", "pin": "LED", "value": 1}),
            ("adc", "adc", {"action": "read", "pin": "A0"}),
            ("adc", "read_uv", {"action": "read", "pin": "A0"}),
            ("pwm", "pwm", {"action": "set", "pin": "LED", "freq_hz": 7, "duty_percent": 5}),
            ("pwm", "pwm", {"action": "off", "pin": "LED"}),
        ):
            setattr(FakePins, method, fail)
            try:
                text = self.call(tool, **args)
            finally:
                setattr(FakePins, method, kept[method])
            self.assertEqual(text, "error: %s failed: %s" % (tool, words))
        self.spi.fails = self.i2c.fails = error
        text = self.call("spi", action="transfer", data=[1])
        self.assertEqual(text, "error: spi0.0: " + words)
        self.i2c.readfrom_into = self.i2c.writeto = self.i2c.scan = fail
        for action in ("scan", "read", "write"):
            more = {} if action == "scan" else {"address": "0x48"}
            if action == "write":
                more["data"] = [1]
            self.assertEqual(self.call("i2c", action=action, **more), "error: i2c0: " + words)

    def test_a_reserved_pin_is_refused_whatever_the_policy(self):
        for rule in ("allow", "ask", ["FLASH", "write", "*", "GPIO14"]):
            for name, args in (
                ("gpio", {"action": "write", "value": 1}),
                ("gpio", {"action": "read"}),
                ("gpio", {"action": "pulse", "ms": 1}),
                ("adc", {"action": "read"}),
                ("pwm", {"action": "set", "freq_hz": 1, "duty_percent": 1}),
                ("pwm", {"action": "off"}),
            ):
                args["pin"] = "FLASH"
                ctx = self.ctx(rule, [True], **{"tools.adc": rule})
                self.assertEqual(
                    run(ctx.call(name, args)), "error: pin FLASH (GPIO14) is reserved: flash"
                )
                self.assertEqual((ctx.port.pin_log, ctx.asked), ([], []))


class TestWhatIsOffered(Board):
    def test_only_what_is_there(self):
        names = self.ctx().registry.names()
        for name in ("i2c", "spi", "gpio", "adc", "pwm"):
            self.assertIn(name, names)
        bare = FakeCtx(self.folder).registry.names()
        for name in ("i2c", "spi", "gpio", "adc", "pwm"):
            self.assertNotIn(name, bare)
        names = FakeCtx(self.folder, rows="BUTTON,GPIO9,input_only:_boot\n").registry.names()
        self.assertIn("gpio", names)
        self.assertNotIn("adc", names)
        self.assertNotIn("pwm", names)
        denied = self.ctx("deny").registry.names()
        for name in ("i2c", "spi", "gpio", "pwm"):
            self.assertNotIn(name, denied)
        self.assertIn("adc", denied)


class TestWhoDecides(Board):
    """(rule, tool, arguments, is it done, the question to the owner)"""

    CASES = (
        (None, "gpio", {"action": "read", "pin": "LED"}, True, None),
        (None, "adc", {"action": "read", "pin": "A0"}, True, None),
        (None, "spi", {"action": "list"}, True, None),
        (None, "spi", {"action": "read", "length": 1}, True, None),
        (
            None,
            "gpio",
            {"action": "write", "pin": 3, "value": 1},
            False,
            ("switch pin LED (GPIO3) on", "set pin LED (GPIO3) to 1"),
        ),
        (
            None,
            "gpio",
            {"action": "pulse", "pin": "LED", "ms": 250, "value": 0},
            False,
            (
                "switch pin LED (GPIO3) off for 0.25 s, then on",
                "set pin LED (GPIO3) to 0 for 250 ms, then to 1",
            ),
        ),
        (
            None,
            "pwm",
            {"action": "set", "pin": "LED", "freq_hz": 50, "duty_percent": 7.5},
            False,
            (
                "drive pin LED (GPIO3) with pulses, 7.5 % of the time on",
                "pulses of 50 Hz, 7.5 % on pin LED (GPIO3)",
            ),
        ),
        (
            None,
            "pwm",
            {"action": "off", "pin": "LED"},
            False,
            ("stop the pulses on pin LED (GPIO3)", "stop the pulses of pin LED (GPIO3)"),
        ),
        (
            None,
            "i2c",
            {"action": "write_read", "address": 72, "data": [1], "length": 2},
            False,
            (
                "write 1 byte to the chip at 0x48 (%s) and read its answer" % USUAL,
                "write 0x01 (1) to 0x48 and read 2 bytes on i2c0",
            ),
        ),
        ("ask", "gpio", {"action": "read", "pin": "LED"}, False, ("use the tool gpio", "gpio {")),
        ("allow", "gpio", {"action": "write", "pin": "LED", "value": 1}, True, None),
        (["read"], "gpio", {"action": "read", "pin": "LED"}, True, None),
        (["read"], "gpio", {"action": "write", "pin": "LED", "value": 1}, False, None),
        (["LED"], "gpio", {"action": "write", "pin": "GPIO3", "value": 1}, True, None),
        (["GPIO3"], "gpio", {"action": "write", "pin": "led", "value": 1}, True, None),
        (["write LED"], "gpio", {"action": "write", "pin": 3, "value": 1}, True, None),
        (["write LED"], "gpio", {"action": "read", "pin": 3}, False, None),
        (["LED"], "gpio", {"action": "write", "pin": "A0", "value": 1}, False, None),
        (["off"], "pwm", {"action": "off", "pin": "LED"}, True, None),
        (["i2c0:0x48"], "i2c", {"action": "write", "address": 72, "data": [1]}, True, None),
        (["i2c0:0x48"], "i2c", {"action": "write", "address": 64, "data": [1]}, False, None),
        (["i2c0:0x4*"], "i2c", {"action": "write", "address": 64, "data": [1]}, True, None),
        (["i2c0"], "i2c", {"action": "write", "address": 64, "data": [1]}, True, None),
        (["i2c0:0x48"], "i2c", {"action": "scan"}, False, None),
        (["scan", "write i2c0:0x48"], "i2c", {"action": "scan"}, True, None),
        (["write i2c0:0x48"], "i2c", {"action": "read", "address": 72}, False, None),
        (["spi0.0"], "spi", {"action": "transfer", "data": [1]}, True, None),
        (["list"], "spi", {"action": "transfer", "data": [1]}, False, None),
        ([], "spi", {"action": "list"}, False, None),
    )

    def test_the_policy_of_pins(self):
        for rule, name, args, done, question in self.CASES:
            for answer in (False, True) if question else (False,):
                self.spi.log, self.i2c.log = [], []
                ctx = self.ctx(rule, [answer])
                text = run(ctx.call(name, args))
                shown = "%s %s %s: %s" % (rule, name, args, text)
                self.assertEqual(not text.startswith("error: "), done or answer, shown)
                self.assertEqual(len(ctx.asked), 1 if question else 0, shown)
                if question:
                    lines = ctx.asked[0].split("\n")
                    self.assertEqual(
                        lines[0],
                        "May I %s? Asked for by your message of 06:48. No answer in 10 minutes "
                        "is a no." % question[0],
                    )
                    expected = "Exactly: " + question[1]
                    self.assertEqual(lines[1][: len(expected)], expected)
                touched = self.spi.log + self.i2c.log + ctx.port.pin_log
                if args["action"] not in ("scan", "list"):
                    self.assertEqual(bool(touched), done or answer, shown)

    def test_what_a_list_allows_is_said(self):
        ctx = self.ctx(["read", "LED"])
        self.assertEqual(
            run(ctx.call("gpio", {"action": "write", "pin": "A0", "value": 1})),
            "error: the owner does not allow gpio write GPIO0; allowed: read, LED",
        )


if __name__ == "__main__":
    unittest.main()
