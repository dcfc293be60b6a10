# tenner tests: the link is supervised with growing pauses.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from support import run
from tenner.net.wifi import Wifi


class Done(Exception):
    """Ends the supervision, which itself never does."""


class Scene:
    """`link` lists the answers of `network_up`; the last one ends the scene."""

    def __init__(self, link, fails=False):
        self.link = list(link)
        self.connects = []
        self.slept = []
        self.ups = []
        self.links = 0
        self._fails = fails
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
            raise OSError("Wifi Internal Error")

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
        scene = Scene([False] * 9, fails=True)
        self.assertEqual(scene.slept, [2, 4, 8, 16, 32, 64, 120, 120, 120])
        self.assertEqual(len(scene.connects), 9)

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
