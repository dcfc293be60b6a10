# /sensors.

import json
import unittest

from support import run, temp_folder
from tenner.sensors import command
from tenner.sensors.reading import Sensors
from tenner.store import files

DRIVER = """
async def read(port, config):
    if "broken" in config:
        raise OSError(config["broken"])
    return config["values"]
"""

STILL = """
async def read(port, config):
    return {"level": 7}
"""


class App:
    def __init__(self, folder, units):
        self.config = {"units": units}
        self.sensors = Sensors(self, folder)
        self.kind = "linux"

        self.buses = {}

    def get(self, name):
        return self.sensors

    def owner(self):
        return "telegram", 1, False

    def i2c_names(self):
        return sorted(self.buses)

    def scan(self, name):
        found = self.buses[name]
        if isinstance(found, OSError):
            raise found
        return found


class TheCommand(unittest.TestCase):
    def answer(self, table, args="", units="metric"):
        folder = temp_folder(self)
        files.make_dirs(folder + "/drivers")
        files.write_atomic(folder + "/drivers/fake.py", DRIVER)
        if table is not None:
            files.write_atomic(folder + "/SENSORS.json", json.dumps(table))
        return run(command.command(App(folder, units), "sensors", args, "telegram", "1"))

    def test_each_has_a_line_with_units(self):
        room = {"driver": "fake", "values": {"temperature": 21.5, "humidity": 40}}
        door = {"driver": "fake", "values": {"open": True, "battery": 3.14159}}
        table = {"room": room, "door": door}
        self.assertEqual(
            self.answer(table),
            "door: battery 3.14, open on\nroom: humidity 40 %, temperature 21.5 \u00b0C",
        )
        self.assertEqual(
            self.answer(table, "room", "imperial"),
            "room: humidity 40 %, temperature 70.7 \u00b0F",
        )

    def test_a_silent_one_says_why_and_the_others_are_shown(self):
        table = {
            "a": {"driver": "fake", "broken": "no answer"},
            "b": {"driver": "fake", "values": {"level": 7}},
        }
        lines = self.answer(table).split("\n")
        self.assertTrue(lines[0].startswith("a: ") and "no answer" in lines[0], lines)
        self.assertEqual(lines[1], "b: level 7 %")

    def test_none_and_a_wrong_name_or_file(self):
        self.assertTrue(self.answer(None).startswith("No sensors yet."))
        answer = self.answer({"b": {"driver": "fake", "values": {"level": 7}}}, "c")
        self.assertEqual(answer, "There is no sensor c. SENSORS.json has: b.")
        self.assertTrue(self.answer([]).startswith("SENSORS.json must be an object"))


class FindAndAdd(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        files.make_dirs(self.folder + "/drivers")
        files.write_atomic(self.folder + "/drivers/fake.py", DRIVER)
        files.write_atomic(self.folder + "/drivers/still.py", STILL)
        self.app = App(self.folder, "metric")

    def say(self, args, chat="1"):
        return run(command.command(self.app, "sensors", args, "telegram", chat))

    def table(self):
        return files.read_text(self.folder + "/SENSORS.json", 4096)

    def test_chips_are_named_with_the_line_that_adds_them(self):
        self.app.buses = {"i2c0": [0x23, 0x48, 0x7E], "i2c1": []}
        files.write_atomic(
            self.folder + "/SENSORS.json", '{"room": {"driver": "tmp102", "address": 72}}'
        )
        lines = self.say("find").split("\n")
        self.assertEqual(
            lines[0], "i2c0 0x23: BH1750 light; /sensors add NAME bh1750 bus=i2c0 address=0x23"
        )
        self.assertTrue(lines[1].endswith("ADS1115 ADC (your sensor room)"), lines)
        self.assertEqual(lines[2], "i2c0 0x7e: an unknown chip")
        self.assertTrue(lines[3].startswith("i2c1: nothing answered;"), lines)

    def test_a_sensor_without_an_address_has_that_of_its_driver(self):
        self.app.buses = {"i2c0": [0x23]}
        files.write_atomic(self.folder + "/SENSORS.json", '{"desk": {"driver": "bh1750"}}')
        self.assertEqual(self.say("find"), "i2c0 0x23: BH1750 light (your sensor desk)")

    def test_a_bus_that_fails_says_why(self):
        self.app.buses = {"i2c0": OSError(110), "i2c1": [0x23]}
        lines = self.say("find").split("\n")
        self.assertTrue("i2c0" in lines[0] and "stuck low" in lines[0], lines)
        self.assertTrue(lines[1].startswith("i2c1 0x23: "), lines)
        self.app.buses = {}
        self.assertEqual(self.say("find"), "This board has no I2C bus.")

    def test_a_new_one_is_written_behind_the_others(self):
        self.assertEqual(self.say("add desk still"), "desk is a sensor now: level 7 %")
        self.assertEqual(self.table(), '{\n  "desk": {"driver": "still"}\n}\n')
        own = '{"b": {"driver": "still"},\n "a":   {"driver": "still"}}  \n'
        files.write_atomic(self.folder + "/SENSORS.json", own)
        self.say("add k\u00fcche still bus=i2c0")
        self.assertTrue(self.table().startswith(own.strip()[:-1] + ",\n"), self.table())
        self.assertEqual(
            json.loads(self.table())["k\u00fcche"], {"driver": "still", "bus": "i2c0"}
        )

    def test_numbers_are_no_texts_in_the_file(self):
        self.say("add tank still channel=0 scale=2.5 offset=-20 address=0x48 pin=4")
        wanted = {"driver": "still", "channel": 0, "scale": 2.5, "offset": -20}
        self.assertEqual(json.loads(self.table())["tank"], dict(wanted, address="0x48", pin="4"))
        self.say("add pair still channel=0-1")
        self.assertEqual(json.loads(self.table())["pair"]["channel"], "0-1")

    def test_somebody_who_may_talk_to_the_agent_adds_none(self):
        said = command.command(self.app, "sensors", "add desk still", "telegram", "77")
        self.assertEqual(said, "Only the owner adds a sensor.")
        self.assertFalse(files.exists(self.folder + "/SENSORS.json"))
        self.assertEqual(self.say("find", "77"), "This board has no I2C bus.")

    def test_one_that_does_not_answer_is_not_written(self):
        for words, reason in (
            ("desk fake broken=1", "broken is no setting here"),
            ("desk dead", "there is no driver dead; available: adc"),
            ("desk fake", "driver fake failed: KeyError"),
            ("a.b still", "a sensor's name has letters"),
            ("find still", "a sensor's name has letters"),
            ('"x still', "a sensor's name has letters"),
            ("desk still pin=" + 50 * "x", "pin must be a text or a number"),
        ):
            said = self.say("add " + words)
            name = words.split()[0]
            self.assertTrue(said.startswith(name + " is not added: " + reason), said)
            self.assertFalse(files.exists(self.folder + "/SENSORS.json"))
        self.say("add desk still")
        table = self.table()
        self.assertTrue("there is a sensor desk already" in self.say("add desk still pin=4"))
        # The answer to the first may have been lost.
        self.assertEqual(self.say("add desk still"), "desk is a sensor now: level 7 %")
        self.assertEqual(self.table(), table)
        self.assertTrue(self.say("add desk").startswith("/sensors add NAME DRIVER "))

    def test_a_wrong_or_full_file_stays(self):
        for wrong in ("[]", "{", '{"a": 1}'):
            files.write_atomic(self.folder + "/SENSORS.json", wrong)
            self.assertTrue("desk is not added: SENSORS.json" in self.say("add desk still"))
            self.assertEqual(self.table(), wrong)
        full = '{"a": {"driver": "still", "value": "%s"}}' % (4040 * "v")
        files.write_atomic(self.folder + "/SENSORS.json", full)
        self.assertTrue("more than 4096 bytes" in self.say("add desk still"))
        self.assertEqual(self.table(), full)


if __name__ == "__main__":
    unittest.main()
