# The daily look at update.url, which tells the owner of each version once.

import unittest

from support import remove_tree, run, temp_folder
from tenner.channels import question
from tenner.store.two_slot import TwoSlots
from tenner.update import install, offer

DAY_S = 86400


class FakeApp:
    """An application whose clock a test sets; `slots` keeps the state in a folder."""

    def __init__(self, root):
        self.root = root
        self.clock = self
        self.state = root
        self.mqtt = None
        self.now_s = 800000000

    def now(self):
        return self.now_s

    def slots(self, name):
        return TwoSlots(self.root + "/" + name)


class TestDailyLook(unittest.TestCase):
    def setUp(self):
        root = temp_folder()
        self.addCleanup(remove_tree, root)
        self.app = FakeApp(root)
        self.asked = []
        self.release = ('"e1"', "0.9.0", "Version 0.9.0 is there\nInstall it?")
        self.quiet = False
        for module, name, fake in (
            (install, "look", self.look),
            (question, "is_quiet", lambda app: self.quiet),
        ):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, fake)

    async def look(self, app, etag=None):
        self.asked.append(etag)
        if isinstance(self.release, Exception):
            raise self.release
        return None if etag and etag == self.release[0] else self.release

    def after(self, seconds):
        self.app.now_s += seconds
        return run(offer.look(self.app))

    def test_it_looks_once_a_day_also_over_restarts(self):
        self.assertEqual(self.after(0), (DAY_S, ("0.9.0", self.release[2])))
        self.assertEqual(self.after(1), (DAY_S - 1, None))
        self.assertEqual(self.after(DAY_S - 2), (1, None))
        self.assertEqual(self.asked, [None])
        self.assertEqual(self.after(1), (DAY_S, None))
        self.assertEqual(self.asked, [None, '"e1"'])

    def test_home_assistant_hears_of_it(self):
        announced = []

        class Mqtt:
            def announce_again(self):
                announced.append(True)

        self.app.mqtt = Mqtt()
        self.after(0)
        with open(self.app.state + "/update.new") as file:
            self.assertEqual(file.read(), "Version 0.9.0 is there")
        self.after(DAY_S)
        self.assertEqual(announced, [True])

    def test_each_version_is_told_once(self):
        self.after(0)
        self.release = ('"e2"', "0.9.0", "The same version, with other notes")
        self.assertEqual(self.after(DAY_S), (DAY_S, None))
        self.release = ('"e3"', "0.9.1", "Version 0.9.1 is there")
        self.assertEqual(self.after(DAY_S)[1], ("0.9.1", "Version 0.9.1 is there"))
        self.assertEqual(self.asked, [None, '"e1"', '"e2"'])

    def test_a_release_that_is_not_newer_is_not_told(self):
        self.release = ('"e1"', None, "the release is 0.2.0, and 0.2.0 runs")
        self.assertEqual(self.after(0), (DAY_S, None))
        self.assertEqual(self.after(DAY_S), (DAY_S, None))
        self.assertEqual(self.asked, [None, '"e1"'])

    def test_a_server_without_etags_or_with_long_ones(self):
        for etag in (None, '"' + 200 * "x" + '"', '"\\\\\\"'):
            self.release = (etag, "0.9.0", "Version 0.9.0 is there")
            self.after(DAY_S)
        self.assertEqual(self.asked, [None, None, None])
        self.after(DAY_S)
        self.assertEqual(self.asked[3], '"\\\\\\"')

    def test_a_failure_waits_for_the_next_day(self):
        self.release = OSError("no network")
        self.assertEqual(self.after(0), (DAY_S, None))
        self.assertEqual(self.after(60), (DAY_S - 60, None))
        self.assertEqual(len(self.asked), 1)

    def test_quiet_hours_hold_it_back(self):
        self.quiet = True
        self.assertEqual(self.after(0), (1800, None))
        self.assertEqual(self.asked, [])
        self.quiet = False
        self.assertEqual(self.after(1800)[1][0], "0.9.0")

    def test_a_clock_that_was_wrong_does_not_stop_it(self):
        self.after(1000 * DAY_S)
        self.assertEqual(self.after(-999 * DAY_S), (DAY_S, None))
        self.assertEqual(len(self.asked), 2)


if __name__ == "__main__":
    unittest.main()
