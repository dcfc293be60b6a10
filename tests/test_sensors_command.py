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


class App:
    def __init__(self, folder, units):
        self.config = {"units": units}
        self.sensors = Sensors(self, folder)
        self.kind = "linux"

    def get(self, name):
        return self.sensors


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


if __name__ == "__main__":
    unittest.main()
