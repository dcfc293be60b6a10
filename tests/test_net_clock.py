# tenner tests: the clock that does not wrap and notices when the other one is moved.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from support import run
from tenner.net import clock as module
from tenner.net.clock import Clock


class Port:
    def __init__(self):
        self.wall = 1000
        self.is_set = False
        self.fails = False

    def unix_time(self):
        return self.wall

    def clock_is_set(self):
        return self.is_set

    def sync_clock(self, host):
        if self.fails:
            raise OSError(110)
        self.host = host
        self.wall = 1800000000
        self.is_set = True


class TestClock(unittest.TestCase):
    def setUp(self):
        self.port = Port()
        self.ticks = 5
        self._saved = module.ticks_ms, module.ticks_diff
        module.ticks_ms = lambda: self.ticks
        # As on a board: the difference of numbers that wrap at 2 ** 30.
        module.ticks_diff = lambda end, start: ((end - start + 2**29) % 2**30) - 2**29
        self.clock = Clock(self.port)

    def tearDown(self):
        module.ticks_ms, module.ticks_diff = self._saved

    def pass_ms(self, ms):
        self.ticks = (self.ticks + ms) % 2**30
        self.port.wall += ms // 1000

    def test_mono_never_wraps(self):
        day_ms = 86400000
        for day in range(1, 60):
            self.pass_ms(day_ms)
            self.assertEqual(self.clock.mono_ms(), day * day_ms)
            self.assertEqual(self.clock.mono_s(), day * 86400)

    def test_ntp_sets_the_clock(self):
        self.assertFalse(self.clock.trusted)
        self.assertTrue(run(self.clock.sync("ntp.example")))
        self.assertEqual(self.port.host, "ntp.example")
        self.assertTrue(self.clock.trusted)
        self.assertEqual(self.clock.now(), 1800000000)

    def test_sync_that_fails(self):
        self.port.fails = True
        self.assertFalse(run(self.clock.sync("ntp.example")))
        self.assertFalse(self.clock.trusted)


if __name__ == "__main__":
    unittest.main()
