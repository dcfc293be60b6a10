# tenner test: readings kept on flash: bounded, whole after any cut, the same after a reboot.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import unittest

from fakes import FakeCtx, FakeI2C
from support import run, temp_folder
from tenner.page import readings
from tenner.runtime import sampler
from tenner.schedule.task import Condition, Task
from tenner.sensors.ring import Ring
from tenner.store import files

START = 1795000200


def close(numbers, expected):
    """Are these nearly the same? Kept are 32 bits of each."""
    return all(abs(a - b) <= 1e-5 * abs(b) for a, b in zip(numbers, expected))


class TestRing(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.path = self.folder + "/readings"

    def ring(self, size=4096):
        # Another object each time: nothing is in memory.
        return Ring(self.path, size)

    def fill(self, first, count, size=4096, names=("room.temperature",)):
        for number in range(first, first + count):
            self.ring(size).keep(START + 300 * number, [(name, 20 + number) for name in names])

    def summary(self, sensor="room", since=0, now=2 * START):
        return run(self.ring().summary(sensor, since, now))

    def bytes(self):
        return sum([max(files.size(self.path + end), 0) for end in (".0", ".1", ".new")])

    def data(self, end):
        with open(self.path + end, "rb") as file:
            return file.read()

    def put(self, end, data):
        with open(self.path + end, "wb") as file:
            file.write(data)

    def test_nothing_yet(self):
        self.assertEqual(self.summary(), {})
        self.assertEqual(self.ring().last(), 0)

    def test_min_max_mean_last(self):
        for number, value in enumerate((21.5, -3.25, 30, 22)):
            self.ring().keep(
                START + number, [("room.temperature", value), ("room.humidity", 50 + number)]
            )
        found = self.summary()
        self.assertEqual(sorted(found), ["humidity", "temperature"])
        self.assertTrue(
            close(found["temperature"], (4, START, START + 3, -3.25, 30, 17.5625, 22)),
            found,
        )
        self.assertEqual(found["temperature"][:3], [4, START, START + 3])
        self.assertTrue(close(found["humidity"], (4, START, START + 3, 50, 53, 51.5, 53)))
        self.assertEqual(self.summary("cellar"), {})
        self.assertEqual(self.ring().last(), START + 3)

    def test_only_the_time_that_is_asked_for(self):
        self.fill(0, 40)
        found = self.summary(since=START + 3000, now=START + 6000)["temperature"]
        self.assertEqual(found[:3], [11, START + 3000, START + 6000])
        self.assertTrue(close(found[3:], (30, 40, 35, 40)), found)

    def test_the_files_are_bounded_and_the_oldest_go(self):
        counts = []
        for number in range(0, 1500, 100):
            self.fill(number, 100)
            self.assertTrue(self.bytes() <= 4096 + 128, self.bytes())
            row = self.summary()["temperature"]
            self.assertEqual(row[2], START + 300 * (number + 99))
            # Without a gap up to the newest one.
            self.assertEqual(row[0], (row[2] - row[1]) // 300 + 1)
            counts.append(row[0])
        self.assertTrue(min(counts[5:]) >= 200, counts)
        self.assertEqual(self.ring().last(), START + 300 * 1499)

    def test_few_appends(self):
        grew, before = 0, -1
        for number in range(130):
            self.fill(number, 1)
            size = files.size(self.path + ".1")
            grew += size > before
            before = size
            self.assertTrue(files.size(self.path + ".new") <= 128)
        # The first line, and one append for 13 readings.
        self.assertTrue(grew <= 11, grew)

    def test_a_new_name_begins_a_new_file_and_loses_nothing(self):
        self.fill(0, 20)
        self.fill(20, 20, names=("room.temperature", "cellar.level"))
        self.fill(40, 20)
        self.assertEqual(self.summary()["temperature"][0], 60)
        self.assertEqual(self.summary("cellar")["level"][0], 20)
        # A sensor that is silent now and then is no reason for another.
        number = self.data(".0")[:20]
        self.fill(60, 5, names=("cellar.level",))
        self.fill(65, 5)
        self.assertEqual(self.data(".0")[:20], number)

    def test_more_names_than_a_first_line_holds(self):
        names = ["sensor_with_a_long_name_%02d.temperature" % number for number in range(60)]
        self.fill(0, 3, 64 * 1024, names)
        size = self.bytes()
        self.assertEqual(self.summary(names[0].split(".")[0])["temperature"][0], 3)
        # Those that found no room do not begin one file after the other.
        self.fill(3, 3, 64 * 1024, names)
        self.assertTrue(self.bytes() > size)
        self.assertEqual(self.summary(names[0].split(".")[0])["temperature"][0], 6)

    def test_cut_at_every_byte(self):
        self.fill(0, 50)
        for end in (".1", ".new"):
            whole = self.data(end)
            for size in range(len(whole)):
                self.put(end, whole[:size])
                row = self.summary().get("temperature", [0, 0, 0, 20, 69])
                # The remaining values are right: none was ever out of this range.
                self.assertTrue(row[0] <= 50 and row[3] >= 20 and row[4] <= 69, (end, size, row))
            self.put(end, whole)
        self.assertEqual(self.summary()["temperature"][0], 50)

    def test_it_goes_on_after_a_cut(self):
        self.fill(0, 50)
        whole = self.data(".1")
        for size in (len(whole) - 1, len(whole) - 4, len(whole) - 8):
            self.put(".1", whole[:size])
            self.fill(50, 30)
            row = self.summary()["temperature"]
            self.assertTrue(row[0] >= 79, row)
            self.assertEqual(row[2], START + 300 * 79)
            self.assertTrue(close(row[3:5], (20, 99)), row)
            for end in (".0", ".1", ".new"):
                files.remove(self.path + end)
            self.fill(0, 50)
            self.assertEqual(self.data(".1"), whole)

    def test_a_power_cut_between_two_files(self):
        self.fill(0, 13)
        waiting = self.data(".new")
        self.fill(13, 1)
        self.assertTrue(files.size(self.path + ".1") > 100)
        # The appended records are still in the file they came from.
        self.put(".new", waiting)
        self.assertEqual(self.summary()["temperature"][0], 13)
        self.fill(13, 1)
        self.assertEqual(self.summary()["temperature"][0], 14)

    def test_a_damaged_file_is_quarantined(self):
        self.fill(0, 20)
        for data in (b"", b"\n", b"{}\n", b"[]\n", b'["x"]\n', b"\xff\xfe\n" * 9, b"[1,2"):
            self.put(".0", data)
            self.assertEqual(self.summary()["temperature"][0], 20)
            self.assertEqual(files.size(self.path + ".0"), -1, data)
        self.fill(20, 300)
        self.assertEqual(self.summary()["temperature"][2], START + 300 * 319)


class Clock:
    trusted = True
    time = START

    def now(self):
        return self.time


class App:
    def __init__(self, ctx, folder):
        self.ctx = ctx
        self.clock = Clock()
        self.config = ctx.config
        self.workspace = ctx.workspace
        self.state = folder + "/state"
        files.make_dirs(self.state)
        # Also the heartbeat, and the agent.
        self.file = ctx.workspace + "/HEARTBEAT.md"
        self.problems = 0
        self.booted = True
        self.agent = self.app = self
        self.told = []

    def poke(self):
        pass

    def notify(self, text):
        self.told.append(text)

    def get(self, name):
        if name == "heartbeat":
            return self
        from tenner.sensors.reading import Sensors

        # Without the cache of a reading that is 2 s old: hours pass here.
        return Sensors(self.ctx.port, self.ctx.workspace)


class TestHistory(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.chip = {0: b"\x17\x40"}
        bus = FakeI2C({0x48: self.chip})
        self.ctx = FakeCtx(self.folder, {"sensors.history_kb": 4}, {"i2c0": bus})
        self.app = App(self.ctx, self.folder)
        self.ctx.port.unix_time = self.app.clock.now
        self.define('{"room": {"driver": "tmp102"}, "attic": {"driver": "tmp102", "address": 73}}')

    def define(self, text):
        files.write_atomic(self.ctx.workspace + "/SENSORS.json", text)

    def sample(self, every_s=300):
        return run(sampler.sample(self.app, every_s))

    def history(self, name="room", **more):
        more.update({"action": "history", "name": name})
        return run(self.ctx.call("sensor", more))

    def test_a_reading_each_time_and_what_the_tool_says_of_them(self):
        for number in range(48):
            self.chip[0] = bytes((0x14 + number % 8, 0x80))
            self.assertEqual(self.sample(), 300)
            self.app.clock.time += 300
        # A sensor that does not answer is no reading, and does not stop the others.
        self.assertEqual(
            self.history(),
            "room, 48 readings from 4.0 h ago to 5 min ago:\n"
            "temperature min 20.5 max 27.5 mean 24 last 27.5 \u00b0C",
        )
        self.ctx.config = FakeCtx(self.folder, {"units": "imperial"}).config
        self.assertIn("min 68.9 max 81.5 mean 75.2 last 81.5 \u00b0F", self.history())
        self.assertIn("room, 12 readings from 60 min ago to 5 min ago", self.history(hours=1))
        self.assertIn("no reading of attic was kept in the last 24 h: one", self.history("attic"))

    def test_an_old_reading_is_marked(self):
        self.sample()
        self.app.clock.time += 600
        self.assertFalse("old" in self.history())
        self.assertFalse("old" in self.page())
        self.app.clock.time += 840
        self.assertIn("ago to 24 min ago (old: one is due every 5 min):", self.history())
        self.assertIn('"old": true', self.page())
        # The last value of a condition is new while its sensor answers.
        task = Task()
        task.condition = condition = Condition()
        condition.sensor, condition.value, condition.seen = "room", "temperature", 31.5
        self.assertIn('"value": 31.5, "at": %d}' % self.app.clock.time, self.page(task))
        fault = {"room": [0, 0, 1, True, 0]}
        self.assertIn('"old": true', self.page(task, faults=fault))

    def test_the_page_has_the_order_of_the_file(self):
        self.sample()
        names = ["attic.b", "job.x", "room.temperature", "attic.a"]
        self.define('{"room": {"driver": "tmp102"},\n"attic": {"driver": "tmp102"}}')
        found = readings.in_owners_order(self.ctx.workspace, names)
        self.assertEqual(found, ["room.temperature", "attic.a", "attic.b", "job.x"])
        files.remove(self.ctx.workspace + "/SENSORS.json")
        found = readings.in_owners_order(self.ctx.workspace, names)
        self.assertEqual(found, sorted(names))

    def test_the_page_gets_18_series_in_12_kb(self):
        self.app.config = FakeCtx(self.folder, {"sensors.history_kb": 64}).config
        ring = Ring(self.app.state + "/readings", 65536)
        now = self.app.clock.time
        names = ["living_room_%d.temperature" % number for number in range(18)]
        for at in range(0, 86400, 300):
            values = [(name, 20 + at % 7 + at / 86400) for name in names]
            ring.keep(now - 86400 + at, values)
        found = json.loads("[%s]" % self.page())
        self.assertEqual(len(found), 18)
        self.assertTrue(20 < len(found[0]["points"]) <= 42, len(found[0]["points"]))
        # The rest of the answer, with one alarm, takes 1 KB.
        self.assertTrue(len(self.page()) <= 11 * 1024, len(self.page()))

    def page(self, *tasks, faults=None):
        """The curves of the page, with these tasks and faults of sensors."""

        class Heartbeat:
            pass

        class Connection:
            text = ""

            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

            async def put(self, text):
                self.text += text

        Heartbeat.tasks, Heartbeat.faults = tasks, faults or {}
        self.app.get = lambda name: Heartbeat
        connection = Connection()
        run(readings.sparks(self.app, connection))
        return connection.text

    def test_a_wrong_file_is_told_once_where_no_heartbeat_does_it(self):
        told = self.app.told
        self.define("{")
        for _ in range(3):
            self.sample()
            self.app.clock.time += 300
        self.assertEqual(len(told), 1)
        self.assertTrue(told[0].startswith("SENSORS.json: line 1: expected"), told)
        self.define("[]")
        self.sample()
        self.assertEqual(len(told), 2)
        self.define("{}")
        self.app.clock.time += 300
        self.sample()
        self.assertEqual((len(told), self.app.problems), (2, []))
        files.write_atomic(self.ctx.workspace + "/HEARTBEAT.md", "")
        self.define("{")
        self.app.clock.time += 300
        self.sample()
        self.assertEqual(len(told), 2)

    def test_one_reading_for_each_time(self):
        self.app.clock.time += 17
        self.assertEqual(self.sample(), 283)
        # The board was started again.
        self.app.clock.time += 100
        self.assertEqual(self.sample(), 183)
        self.assertIn("room, 1 readings from 2 min ago", self.history())
        self.app.clock.time += 183
        self.assertEqual(self.sample(), 300)
        self.assertIn("room, 2 readings", self.history())

    def test_what_is_no_number_is_not_kept(self):
        files.make_dirs(self.ctx.workspace + "/drivers")
        files.write_atomic(
            self.ctx.workspace + "/drivers/tn_odd.py",
            "async def read(port, cfg):\n"
            "    return {'text': 'x', 'none': None, 'nan': float('nan'),"
            " 'inf': float('inf'), 'big': 10**40, 'on': True, 'level': 5}\n",
        )
        self.define('{"odd": {"driver": "tn_odd"}}')
        self.sample()
        text = self.history("odd")
        self.assertIn("level min 5 max 5 mean 5 last 5", text)
        self.assertIn("on min 1", text)
        for word in ("text", "none", "nan", "inf", "big"):
            self.assertNotIn(word + " min", text)

    def test_what_keeps_nothing(self):
        for text in ("{", "[]"):
            self.define(text)
            self.assertEqual(self.sample(), 300)
        files.remove(self.ctx.workspace + "/SENSORS.json")
        self.assertEqual(self.sample(), 300)
        self.assertEqual(files.size(self.app.state + "/readings.new"), -1)

    def test_full_flash_is_said_and_not_raised(self):
        files.make_dirs(self.app.state + "/readings.1.tmp")
        self.assertEqual(self.sample(), 300)

    def test_what_was_never_kept(self):
        self.assertIn(
            "there is no sensor cellar; SENSORS.json has: attic, room", self.history("cellar")
        )
        self.assertIn("one is kept every 5 min, once the clock is set", self.history())
        self.ctx.config.put("sensors.every", 0)
        self.assertIn("sensors.every is off", self.history())
        self.assertIn("hours must be 0.1 to 8784, not 0", self.history(hours=0))
        self.assertIn("name is missing", run(self.ctx.call("sensor", {"action": "history"})))


if __name__ == "__main__":
    unittest.main()
