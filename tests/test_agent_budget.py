# tenner tests: tokens a day.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from support import temp_folder
from tenner.agent import accounting as module
from tenner.agent.accounting import Budget
from tenner.store.posix_tz import Zone
from tenner.store.two_slot import TwoSlots

DAY = 86400
NOON = 20778 * DAY + DAY // 2  # in UTC


def _silent(area, text):
    return None


module.log = _silent


class Clock:
    trusted = True
    utc = NOON

    def now(self):
        return self.utc


class Tokens(unittest.TestCase):
    def setUp(self):
        self.path = temp_folder(self) + "/budget"
        self.clock = Clock()
        self.told = []

    def budget(self, per_day=1000, zone="UTC0"):
        return Budget(TwoSlots(self.path), self.clock, Zone(zone), per_day, 20, self.told.append)

    def test_scheduled_turns_stop_and_people_go_on(self):
        budget = self.budget()
        self.assertEqual((budget.left("heartbeat"), budget.left("person")), (1000, 1200))
        budget.spend(900, "heartbeat")
        budget.spend(150, "person")
        self.assertEqual(budget.left("cron"), -50)
        self.assertEqual(budget.left("person"), 150)
        self.assertEqual(budget.used(), (1050, 900, False))
        budget.spend(10, "person", True)
        self.assertEqual(len(self.told), 1)
        lines = list(budget.lines())
        self.assertTrue("about 1060" in lines[0] and "200 more" in lines[1], lines)

    def test_kept_over_reboots_told_once_and_new_every_day(self):
        self.budget().spend(2000, "cron")
        again = self.budget()
        self.assertEqual(again.left("heartbeat"), -1000)
        again.spend(5, "person")
        self.assertEqual(len(self.told), 1)
        self.clock.utc += DAY
        self.assertEqual(again.left("heartbeat"), 1000)
        again.spend(1000, "cron")
        self.assertEqual(len(self.told), 2)

    def test_the_day_is_the_owners(self):
        budget = self.budget(zone="+10:00")
        budget.spend(400, "cron")
        self.clock.utc = NOON + 2 * 3600
        self.assertEqual(budget.left("cron"), 1000)

    def test_no_limit(self):
        budget = self.budget(0)
        budget.spend(10**6, "heartbeat")
        self.assertEqual((budget.left("heartbeat"), budget.left("person")), (None, None))
        self.assertEqual(self.told, [])
        self.assertTrue("none" in list(budget.lines())[1])

    def test_a_clock_that_is_not_set(self):
        self.clock.trusted = False
        self.clock.utc = 1000
        budget = self.budget()
        budget.spend(300, "cron")
        budget.spend(300, "cron")
        self.assertEqual(self.budget().left("cron"), 400)
        self.clock.trusted = True
        self.clock.utc = NOON
        self.assertEqual(budget.left("cron"), 400)
        budget.spend(1, "cron")
        # Unset again after a reboot: it counts for the last day known.
        self.clock.trusted = False
        self.assertEqual(self.budget().left("cron"), 399)


if __name__ == "__main__":
    unittest.main()
