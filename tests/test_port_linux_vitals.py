# tenner test: a Linux board's own values, from files as its kernel has them, and from this
# machine's. MIT license; Copyright (c) 2026 the tenner authors

import os
import unittest

from support import run, temp_folder
from tenner.port.linux.port import Port
from tenner.sensors import units
from tenner.sensors.reading import Sensors
from tenner.store import files

WIRELESS = """\
Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE
 face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22
 wlan1: 0000    0.  -256.  -256.       0      0      0      0      0        0
 wlan0: 0000   54.  -56.  -256.        0      0      0      0     12        0
"""
MEMINFO = """\
MemTotal:         256000 kB
MemFree:           20000 kB
MemAvailable:     192000 kB
"""


class TestVitals(unittest.TestCase):
    def setUp(self):
        self.port = Port(temp_folder(self))
        self.port.top = self.port.root

    def write(self, **files_of):
        for name in files_of:
            path = self.port.top + "/" + name.replace("__", "/")
            files.make_dirs(path.rpartition("/")[0])
            files.write_atomic(path, files_of[name])

    def zone(self, number, kind, temperature):
        folder = "sys__class__thermal__thermal_zone%d__" % number
        self.write(**{folder + "type": kind + "\n", folder + "temp": temperature + "\n"})

    def test_a_board_with_everything(self):
        self.zone(0, "battery", "21000")
        self.zone(1, "soc_thermal_0", "47250")
        self.write(
            proc__loadavg="0.52 0.58 0.59 2/92 1234\n",
            proc__meminfo=MEMINFO,
            proc__net__wireless=WIRELESS,
        )
        expected = {"temperature": 47.25, "load": 0.52, "memory": 25.0, "rssi": -56}
        self.assertEqual(self.port.vitals(), expected)
        files.write_atomic(self.port.root + "/SENSORS.json", '{"board": {"driver": "cpu"}}')
        sensors = Sensors(self.port, self.port.root)
        values = run(sensors.read("board"))
        for name in expected:
            self.assertEqual(values[name], expected[name])
        self.assertEqual(units.unit("memory"), "%")
        self.assertTrue(values["heap_used"] > 0)

    def test_a_zone_that_is_off_is_passed_over(self):
        self.zone(0, "cpu0", "-274000")
        self.zone(1, "gpu", "40000")
        self.zone(2, "board", "39000")
        self.assertEqual(self.port.vitals(), {"temperature": 40.0})

    def test_an_old_driver_gives_a_byte(self):
        self.write(proc__net__wireless=WIRELESS.replace("-56.", "200."))
        self.assertEqual(self.port.vitals(), {"rssi": -56})

    def test_what_is_not_there_or_not_as_expected_is_left_out(self):
        self.assertEqual(self.port.vitals(), {})
        self.write(
            proc__loadavg="\n", proc__meminfo="MemTotal: 1 kB\n", proc__net__wireless="x: 1\n"
        )
        self.assertEqual(self.port.vitals(), {})

    def test_this_machine(self):
        self.port.top = ""
        values = self.port.vitals()
        if "loadavg" in os.listdir("/proc"):
            self.assertTrue(values["load"] >= 0)
            self.assertTrue(0 < values["memory"] < 100)


if __name__ == "__main__":
    unittest.main()
