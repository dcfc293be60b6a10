# tenner tests: the link is supervised with growing pauses.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from support import run
from tenner.net.wifi import Wifi


class Done(Exception):
    """Ends the supervision, which itself never does."""


class Scene:
    """`link` lists the answers of `network_up`, the last of which ends the scene; `fails` the
    errors of the first attempts to connect."""

    shares_memory = True

    def __init__(self, link, fails=(), least=20000):
        self.least = least
        self.link = list(link)
        self.connects = []
        self.slept = []
        self.ups = []
        self.links = 0
        self._fails = list(fails)
        self.wifi = Wifi(self, "home", "secret", self._linked, self._sleep)
        try:
            run(self.wifi.run())
        except Done:
            pass

    def network_up(self):
        self.ups.append(self.wifi.up)
        if not self.link:
            raise Done
        return self.link.pop(0)

    def connect_network(self, ssid, password):
        self.connects.append((ssid, password))
        if self._fails:
            raise OSError(self._fails.pop(0))

    def system_memory(self):
        return 25000, 21000, self.least

    def _linked(self):
        self.links += 1

    async def _sleep(self, seconds):
        self.slept.append(seconds)


class TestWifi(unittest.TestCase):
    def test_link_that_is_there_is_left_alone(self):
        scene = Scene([True, True])
        self.assertEqual((scene.connects, scene.slept), ([], [5, 5]))
        self.assertTrue(scene.wifi.up)

    def test_it_connects_with_name_and_password(self):
        scene = Scene([False, False, False, True, True])
        self.assertEqual(scene.connects, [("home", "secret")])
        self.assertEqual(scene.slept, [1, 1, 5])
        self.assertTrue(scene.wifi.up)

    def test_backs_off(self):
        scene = Scene([False] * 9, fails=["Wifi Internal Error"] * 9)
        self.assertEqual(scene.slept, [2, 4, 8, 16, 32, 64, 120, 120, 120])
        self.assertEqual(len(scene.connects), 9)

    def test_a_driver_without_memory(self):
        # As port.esp32 of every release words it.
        short, busy = "WiFi Out of Memory", "Wifi Internal Error"
        self.assertTrue(Scene([False] * 2, fails=[busy, short]).wifi.lacks_memory)
        self.assertFalse(Scene([False] * 2, fails=[short, busy]).wifi.lacks_memory)
        self.assertFalse(Scene([False] * 3 + [True], fails=[short]).wifi.lacks_memory)

    def test_a_driver_that_memory_has_cut_off(self):
        # Each attempt looks 21 times. The driver of the third finds no link, with memory enough.
        for attempts, least, lacks in ((2, 1200, False), (3, 1200, True), (3, 9000, False)):
            scene = Scene([False] * (21 * attempts), least=least)
            self.assertEqual(scene.wifi.lacks_memory, lacks, (attempts, least))

    def test_attempt_is_given_up_after_a_while(self):
        scene = Scene([False] * 22)
        self.assertEqual(scene.slept[:21], [1] * 20 + [2])
        self.assertEqual(len(scene.connects), 2)

    def test_link_goes_down_and_comes_back(self):
        scene = Scene([True, False, True, True, False, False])
        self.assertEqual(len(scene.connects), 2)
        self.assertEqual(scene.ups[-1], False)
        self.assertTrue(True in scene.ups)
        # Each return of the link notifies its waiters.
        self.assertEqual(scene.links, 2)


if __name__ == "__main__":
    unittest.main()
