# tenner tests: a Linux board without a battery clock, before and after NTP.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from support import run
from tenner import log
from tenner.net.clock import Clock
from tenner.port.linux import port


class TestClock(unittest.TestCase):
    def setUp(self):
        self.port = port.Port(".")
        self.time = 60  # 1970, a minute after the start
        self.ticks = 5000
        self.port.unix_time = lambda: self.time
        self._saved = port.ticks_ms, log.write
        port.ticks_ms = lambda: self.ticks
        self.lines = []
        log.write = self.lines.append
        self.clock = Clock(self.port)

    def tearDown(self):
        port.ticks_ms, log.write = self._saved

    def test_it_is_waited_for_and_said(self):
        self.assertFalse(self.clock.trusted)
        self.assertEqual(self.clock.known(), None)
        self.assertFalse(run(self.clock.sync("ntp.example")))
        self.assertIn("tasks by the time of day wait", self.lines[-1])
        self.assertNotIn("is NTP running", self.lines[-1])

    def test_after_two_minutes_it_is_asked_whether_anybody_sets_it(self):
        run(self.clock.sync("ntp.example"))
        self.ticks += 119000
        run(self.clock.sync("ntp.example"))
        self.assertNotIn("is NTP running", self.lines[-1])
        self.ticks += 61000
        run(self.clock.sync("ntp.example"))
        self.assertIn("for 3 min now: is NTP running", self.lines[-1])

    def test_when_ntp_has_set_it_it_is_trusted(self):
        run(self.clock.sync("ntp.example"))
        self.time = 1767225600
        self.assertTrue(run(self.clock.sync("ntp.example")))
        self.assertTrue(self.clock.trusted)
        self.assertEqual(self.clock.known(), 1767225600)
        self.assertEqual(len(self.lines), 1)


if __name__ == "__main__":
    unittest.main()
