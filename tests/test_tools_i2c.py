# tenner test: the i2c and sensor tools on a bus of our own.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import unittest

from fakes import FakeCtx, FakeI2C
from support import run, temp_folder
from tenner.sensors import SensorError
from tenner.store import files

TMP102 = {0: b"\x17\x40", 1: b"\x60\xa0", None: b"\x11\x22\x33"}


class TestI2C(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.bus = FakeI2C({0x48: dict(TMP102), 0x44: {}})

    def call(self, buses=None, rule="allow", **args):
        ctx = FakeCtx(self.folder, {"tools.i2c": rule}, buses or {"i2c0": self.bus})
        return run(ctx.call("i2c", args))

    def test_scan_names_known_chips(self):
        text = self.call(action="scan", bus="i2c0")
        self.assertIn("i2c0: 0x44 (usually SHT3x", text)
        self.assertIn("0x48 (usually TMP102", text)
        self.bus.chips = {0x0B: {}}
        self.assertEqual(self.call(action="scan"), "i2c0: 0x0b")
        self.bus.chips = {}
        self.assertIn("nothing answered; check power", self.call(action="scan"))

    def test_a_bus_on_which_everybody_answers_is_stuck(self):
        self.bus.chips = {address: {None: b"\0\0", 0: b"\0\0"} for address in range(112)}
        text = self.call(action="scan")
        self.assertEqual(
            text, "bus i2c0: every address answers, so SDA is stuck low: held down, or no pull-ups"
        )
        ctx = FakeCtx(self.folder, {}, {"i2c0": self.bus})
        files.write_atomic(
            ctx.workspace + "/SENSORS.json",
            '{"room": {"driver": "tmp102"}, "lamp": {"driver": "bh1750"}}',
        )
        for name in ("room", "lamp"):
            with self.assertRaises(SensorError) as caught:
                run(ctx.sensors.read(name))
            self.assertIn("SDA is stuck low", str(caught.exception))
        del self.bus.chips[7]
        self.assertEqual(run(ctx.sensors.read("room")), {"temperature": 0.0})

    def test_it_reads_registers(self):
        self.assertEqual(
            self.call(action="read", address="0x48", register=0, length=2), "0x17 0x40 (23 64)"
        )
        self.assertEqual(self.bus.log[-1], ("read_mem", 0x48, 0, 2, 8))
        self.assertEqual(self.call(action="read", address=72), "0x11 (17)")
        self.assertEqual(self.bus.log[-1], ("read", 0x48, 1))
        self.call(action="read", address=72, register=0x100, register_bits=16, length=2)
        self.assertEqual(self.bus.log[-1], ("read_mem", 0x48, 0x100, 2, 16))
        self.assertIn("register_bits 16", self.call(action="read", address=72, register=0x100))
        text = self.call(action="read", address=72, register=9, length=256)
        self.assertTrue(text.startswith("256 bytes in hex: ff ff"))
        self.assertTrue(len(text) < 1024)

    def test_what_goes_out_decides_what_is_asked(self):
        self.bus.chips = {address: {} for address in (0x20, 0x38, 0x44, 0x48, 0x50, 0x60, 0x76)}
        for address, args, asked in (
            (0x48, {}, None),
            (0x44, {"length": 6}, None),
            (0x48, {"register": 0}, None),
            (0x48, {"register": 3, "length": 2}, None),
            (0x76, {"register": 0xD0}, None),
            (0x50, {"register": 0xFF}, None),
            # No register of the chips that are usual there.
            (
                0x48,
                {"register": 4},
                "write register 0x04 (4) to 0x48 and read 1 bytes on i2c0",
            ),
            (0x76, {"register": 0x60}, "write register 0x60"),
            # A command, a level of relays, a word for a DAC; an address that nobody knows.
            (0x44, {"register": 0x306D, "register_bits": 16}, "write register 0x30 0x6d"),
            (0x44, {"register": 0x39}, "write register 0x39 (57) to 0x44"),
            (0x20, {"register": 0xFF}, "write register 0xff (255) to 0x20"),
            (0x60, {"register": 0x40}, "write register 0x40"),
            (0x38, {"register": 0xAC, "length": 6}, "write register 0xac"),
            # Two bytes are the first of an EEPROM's cells and what to put there.
            (0x50, {"register": 0x12, "register_bits": 16}, "write register 0x00 0x12"),
        ):
            del self.bus.log[:]
            ctx = FakeCtx(self.folder, {}, {"i2c0": self.bus})
            read = {"action": "read", "address": address}
            read.update(args)
            text = run(ctx.call("i2c", read))
            self.assertEqual(len(ctx.asked), 1 if asked else 0, read)
            self.assertEqual(text.startswith("error: not approved"), bool(asked))
            self.assertEqual(len(self.bus.log), 0 if asked else 1)
            if asked:
                self.assertIn("\nExactly: " + asked, ctx.asked[0])

    def test_a_rule_for_reading_lets_nothing_out(self):
        self.bus.chips = {0x44: {}, 0x48: {}}
        for rule, args, done in (
            (["read"], {"register": 0}, True),
            (["read"], {"register": 9}, False),
            (["read"], {"address": 0x44, "register": 0x306D, "register_bits": 16}, False),
            (["read i2c0:0x44"], {"address": 0x44, "register": 0x39}, False),
            (["write_read i2c0:0x44"], {"address": 0x44, "register": 0x39}, True),
            (["i2c0:0x44"], {"address": 0x44, "register": 0x39}, True),
        ):
            read = {"action": "read", "address": 0x48}
            read.update(args)
            text = self.call(rule=rule, **read)
            self.assertEqual(not text.startswith("error: the owner does not allow"), done, read)

    def test_it_writes_registers(self):
        self.assertEqual(
            self.call(action="write", address=72, register=1, data=[96, "0xa0"]),
            "wrote 2 bytes to 0x48",
        )
        self.assertEqual(self.bus.log[-1], ("write_mem", 0x48, 1, b"\x60\xa0", 8))
        self.call(action="write", address=72, data=[1, 2])
        self.assertEqual(self.bus.log[-1], ("write", 0x48, b"\x01\x02"))

    def test_write_read(self):
        self.assertEqual(
            self.call(action="write_read", address=72, data=[0], length=2), "0x17 0x40 (23 64)"
        )
        self.assertEqual(self.bus.log, [("read_mem", 0x48, 0, 2, 8)])
        self.call(action="write_read", address=72, data=[0x24, 0x00], length=6)
        self.assertEqual(self.bus.log[-1], ("read_mem", 0x48, 0x2400, 6, 16))
        text = self.call(action="write_read", address=72, data=[0x24, 0], length=3, delay_ms=1)
        self.assertEqual(text, "0x11 0x22 0x33 (17 34 51)")
        self.assertEqual(self.bus.log[-2:], [("write", 0x48, b"\x24\x00"), ("read", 0x48, 3)])
        self.call(action="write_read", address=72, data=[1, 2, 3], length=1)
        self.assertEqual(self.bus.log[-2], ("write", 0x48, b"\x01\x02\x03"))

    def test_nobody_reads_a_sensor_between_a_command_and_its_answer(self):
        ctx = FakeCtx(self.folder, {"tools.i2c": "allow"}, {"i2c0": self.bus})
        files.write_atomic(ctx.workspace + "/SENSORS.json", '{"room": {"driver": "tmp102"}}')
        args = {"action": "write_read", "address": 72, "data": [9], "length": 1, "delay_ms": 5}

        async def both():
            call = asyncio.create_task(ctx.call("i2c", args))
            while not self.bus.log:
                await asyncio.sleep(0)
            await ctx.sensors.read("room")
            await call

        run(both())
        self.assertEqual([row[0] for row in self.bus.log], ["write", "read", "read_mem"])

    def test_errors_name_the_likely_cause(self):
        for number, name in ((19, "ENODEV"), (6, "ENXIO"), (5, "EIO"), (121, "EREMOTEIO")):
            self.bus.chips = {0x44: {}}
            real = self.bus._chip

            def absent(address, real=real, number=number):
                raise OSError(number)

            self.bus._chip = absent
            text = self.call(action="read", address=0x48)
            self.bus._chip = real
            self.assertEqual(
                text,
                "error: no answer at 0x48 on i2c0 (%s): wiring, power, or address pin? "
                "scan found: 0x44" % name,
            )
        self.bus.chips = {}
        self.assertIn("scan found: none", self.call(action="read", address=0x48))
        for number in (110, 116):
            self.bus.fails = number
            text = self.call(action="read", address=0x48)
            self.assertIn("bus i2c0 stuck low (ETIMEDOUT)", text)
            self.assertEqual("or no chip at 0x48" in text, number == 110)
            self.assertIn("stuck low", self.call(action="scan"))
        self.bus.fails = 16
        self.assertIn(
            "0x48 on i2c0 is in use by a kernel driver (EBUSY)",
            self.call(action="read", address=0x48),
        )
        self.bus.fails = 99
        self.assertIn("error: i2c0", self.call(action="read", address=0x48))

    def test_the_bus_must_be_there(self):
        two = {"i2c0": self.bus, "i2c1": FakeI2C()}
        self.assertIn("available: i2c0, i2c1", self.call(two, action="scan"))
        self.assertIn("no bus i2c9; available: i2c0", self.call(action="scan", bus="i2c9"))
        self.assertIn("nothing answered", self.call(two, action="scan", bus="i2c1"))


class TestSensorTool(unittest.TestCase):
    def setUp(self):
        self.ctx = FakeCtx(temp_folder(self), {}, {"i2c0": FakeI2C({0x48: dict(TMP102)})})
        files.write_atomic(
            self.ctx.workspace + "/SENSORS.json",
            '{"room": {"driver": "tmp102"}, "cellar": {"driver": "tmp102", "address": "0x49"}}',
        )

    def call(self, **args):
        return run(self.ctx.call("sensor", args))

    def test_list_and_read(self):
        self.assertEqual(self.call(action="list"), "cellar, room")
        self.assertEqual(
            self.call(action="read", name="room"), "room: temperature 23.25 \u00b0C (now)"
        )
        self.ctx.config = FakeCtx(temp_folder(self), {"units": "imperial"}).config
        self.assertIn("room: temperature 73.85 \u00b0F", self.call(action="read", name="room"))
        self.assertIn(
            "error: sensor cellar: no answer at 0x49", self.call(action="read", name="cellar")
        )
        self.assertIn(
            "no sensor attic; SENSORS.json has: cellar, room",
            self.call(action="read", name="attic"),
        )
        self.assertIn("name is missing", self.call(action="read"))
        files.write_atomic(self.ctx.workspace + "/SENSORS.json", "{")
        self.assertIn("SENSORS.json: line 1", self.call(action="list"))


if __name__ == "__main__":
    unittest.main()
