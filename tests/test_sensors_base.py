# tenner test: named sensors, their cache, their errors, and the first two drivers.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from fakes import FakeI2C, FakePort
from support import run, temp_folder
from tenner.sensors import SensorError, reading, units
from tenner.sensors.reading import Sensors
from tenner.sensors.tmp102 import celsius
from tenner.store import files


class TestSensors(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.bus = FakeI2C({0x48: {0: b"\x17\x40"}})
        self.port = FakePort(self.folder, {"i2c0": self.bus})
        self.sensors = Sensors(self.port, self.folder)
        self.now = 1000
        self.addCleanup(setattr, reading, "ticks_ms", reading.ticks_ms)
        reading.ticks_ms = lambda: self.now
        self.define('{"room": {"driver": "tmp102", "bus": "i2c0", "address": "0x48"}}')

    def define(self, text):
        files.write_atomic(self.folder + "/SENSORS.json", text)

    def error(self, name="room"):
        with self.assertRaises(SensorError) as caught:
            run(self.sensors.read(name))
        return str(caught.exception)

    def test_read_is_cached_for_two_seconds(self):
        self.assertIsNone(self.sensors.age_ms("room"))
        self.assertEqual(run(self.sensors.read("room")), {"temperature": 23.25})
        self.now += 1999
        self.bus.chips[0x48][0] = b"\x18\x00"
        self.assertEqual(run(self.sensors.read("room")), {"temperature": 23.25})
        self.assertEqual(self.sensors.age_ms("room"), 1999)
        self.assertEqual(len(self.bus.log), 1)
        self.now += 1
        self.assertEqual(run(self.sensors.read("room")), {"temperature": 24.0})
        self.assertEqual(self.sensors.age_ms("room"), 0)

    def test_a_failed_reading_is_never_an_old_value(self):
        run(self.sensors.read("room"))
        self.now += 3000
        self.bus.fails = 19
        self.assertIn("sensor room: no answer at 0x48 on i2c0 (ENODEV)", self.error())
        # On CPython this is a TimeoutError, as the end of our own patience is.
        self.bus.fails = 110
        self.assertIn("sensor room: bus i2c0 stuck low (ETIMEDOUT)", self.error())
        self.bus.fails = None
        self.assertEqual(run(self.sensors.read("room")), {"temperature": 23.25})

    def test_names_and_units(self):
        self.define('{"b": {"driver": "cpu"}, "a": {"driver": "tmp102"}}')
        self.assertEqual(self.sensors.names(), ["a", "b"])
        self.assertEqual(units.unit("temperature"), "\u00b0C")
        self.assertEqual(units.unit("uptime"), "s")
        self.assertEqual(units.unit("nonsense"), "")
        files.remove(self.folder + "/SENSORS.json")
        self.assertEqual(self.sensors.names(), [])

    def test_a_number_is_shown_as_a_person_writes_it(self):
        for value, text in ((-0.001, "0"), (21.5, "21.5"), (73.854, "73.85"), (100, "100")):
            self.assertEqual(units.show(value), text)

    def test_settings_errors_are_sentences(self):
        for text, words in (
            ("{", ("SENSORS.json", "line 1")),
            ("[]", ("SENSORS.json must be an object",)),
            ('{"room": 5}', ("sensor room needs a driver",)),
            ('{"room": {"driver": 5}}', ("sensor room needs a driver",)),
            ('{"room": {"driver": "nonsense"}}', ("sensor room: there is no driver nonsense",)),
            ('{"room": {"driver": "../x"}}', ("there is no driver ../x",)),
            ('{"room": {"driver": "os.path"}}', ("there is no driver os.path",)),
            ('{"other": {"driver": "tmp102"}}', ("no sensor room", "has: other")),
            (
                '{"room": {"driver": "tmp102", "bus": "i2c9"}}',
                ("sensor room", "i2c9", "available: i2c0"),
            ),
            (
                '{"room": {"driver": "tmp102", "address": "x"}}',
                ("sensor room: address must be", "0x48"),
            ),
            ('{"room": {"driver": "tmp102", "chip": "x"}}', ("chip must be tmp102",)),
            ('{"room": {"driver": "tmp102"' + " " * 5000 + "}}", ("over 4096 bytes",)),
        ):
            self.define(text)
            message = self.error()
            for word in words:
                self.assertIn(word, message)

    def test_the_owners_own_driver(self):
        files.make_dirs(self.folder + "/drivers")
        for name, body in (
            ("tn_good", "return {'level': cfg['x'] * 2}"),
            ("tn_bad", "return 1 // 0"),
            ("tn_empty", "return {}"),
        ):
            source = "async def read(port, cfg):\n    %s\n" % body
            files.write_atomic(self.folder + "/drivers/%s.py" % name, source)
        self.define('{"room": {"driver": "tn_good", "x": 4}}')
        self.assertEqual(run(self.sensors.read("room")), {"level": 8})
        self.now += 3000
        self.define('{"room": {"driver": "tn_bad"}}')
        self.assertIn("driver tn_bad failed: ZeroDivisionError", self.error())
        self.define('{"room": {"driver": "tn_empty"}}')
        self.assertIn("gave no values", self.error())

    def test_a_driver_ends_neither_a_task_nor_the_program(self):
        files.make_dirs(self.folder + "/drivers")
        for name, body, words in (
            ("tn_cancel", "raise asyncio.CancelledError", "driver tn_cancel ended by Cancelled"),
            ("tn_exit", "raise SystemExit", "driver tn_exit ended by SystemExit"),
            ("tn_number", "return {0: 20.5}", "a value whose name is no text: 0"),
            ("tn_inf", "return {'a': float('inf')}", "driver tn_inf gave no number for a"),
            ("tn_nan", "return {'a': float('nan')}", "driver tn_nan gave no number for a"),
            ("tn_huge", "return {'a': -10 ** 400}", "driver tn_huge gave no number for a"),
        ):
            source = "import asyncio\nasync def read(port, cfg):\n    %s\n" % body
            files.write_atomic(self.folder + "/drivers/%s.py" % name, source)
            self.define('{"room": {"driver": "%s"}}' % name)
            self.assertIn(words, self.error())

    def test_a_driver_that_never_ends(self):
        self.addCleanup(setattr, reading, "DEADLINE_S", reading.DEADLINE_S)
        reading.DEADLINE_S = 0.01
        files.make_dirs(self.folder + "/drivers")
        files.write_atomic(
            self.folder + "/drivers/tn_hangs.py",
            "import asyncio\nasync def read(port, cfg):\n    await asyncio.Event().wait()\n",
        )
        self.define('{"room": {"driver": "tn_hangs"}, "other": {"driver": "tmp102"}}')
        self.assertIn("sensor room: driver tn_hangs did not finish in", self.error())
        self.assertEqual(run(self.sensors.read("other")), {"temperature": 23.25})

    def test_cpu(self):
        self.define('{"board": {"driver": "cpu"}}')
        values = run(self.sensors.read("board"))
        self.assertEqual(values["heap_free"], 50000)
        self.assertEqual(values["heap_used"], 60000)
        self.assertEqual((values["system_free"], values["system_block"]), (40000, 30000))
        self.assertTrue(values["uptime"] >= 0)
        self.assertNotIn("temperature", values)
        self.port.system_memory = lambda: None
        self.port.vitals = lambda: {"temperature": 41.5}
        self.now += 3000
        self.assertEqual(run(self.sensors.read("board"))["temperature"], 41.5)


class TestTmp102(unittest.TestCase):
    def test_the_tables_of_the_data_sheets(self):
        # The tables of the data sheets.
        for data, bits, expected in (
            (b"\x7f\xf0", 12, 127.94),
            (b"\x64\x00", 12, 100.0),
            (b"\x19\x00", 12, 25.0),
            (b"\x00\x40", 12, 0.25),
            (b"\x00\x00", 12, 0.0),
            (b"\xff\xc0", 12, -0.25),
            (b"\xe7\x00", 12, -25.0),
            (b"\xc9\x00", 12, -55.0),
            (b"\x4b\x01", 12, 150.0),
            (b"\x00\x09", 12, 0.06),
            (b"\xe4\x81", 12, -55.0),
            (b"\x19\x00", 9, 25.0),
            (b"\x00\xff", 9, 0.5),
            (b"\xe7\x00", 9, -25.0),
        ):
            self.assertEqual(celsius(data, bits), expected)


if __name__ == "__main__":
    unittest.main()
