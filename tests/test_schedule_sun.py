# tenner tests: sunset and sunrise, against the formulas of NOAA's calculator.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest
from math import acos, asin, cos, pi, sin, tan

import schedule_sim as sim
from tenner.schedule import due

DAY_2026 = 20454  # 2026-01-01
PLACE = {"place__latitude": 52.52, "place__longitude": 13.405}


def _reference(day, latitude, longitude, sets):
    """The second of the day in UTC, None without the event. NOAA's calculator, after Meeus, for
    the second itself."""
    rad = pi / 180
    minute = 720.0
    for _ in range(4):
        t = (day + minute / 1440 - 10957.5) / 36525
        mean = (280.46646 + t * (36000.76983 + t * 0.0003032)) % 360
        anomaly = (357.52911 + t * (35999.05029 - 0.0001537 * t)) * rad
        eccentric = 0.016708634 - t * (0.000042037 + 0.0000001267 * t)
        center = (
            sin(anomaly) * (1.914602 - t * (0.004817 + 0.000014 * t))
            + sin(2 * anomaly) * (0.019993 - 0.000101 * t)
            + sin(3 * anomaly) * 0.000289
        )
        node = (125.04 - 1934.136 * t) * rad
        apparent = (mean + center - 0.00569 - 0.00478 * sin(node)) * rad
        tilt = (23.439291 - t * 0.0130042 + 0.00256 * cos(node)) * rad
        up = asin(sin(tilt) * sin(apparent))
        y = tan(tilt / 2) ** 2
        ahead = (
            (
                y * sin(2 * mean * rad)
                - 2 * eccentric * sin(anomaly)
                + 4 * eccentric * y * sin(anomaly) * cos(2 * mean * rad)
                - 0.5 * y * y * sin(4 * mean * rad)
                - 1.25 * eccentric * eccentric * sin(2 * anomaly)
            )
            / rad
            * 4
        )
        angle = cos(90.833 * rad) / (cos(latitude * rad) * cos(up)) - tan(latitude * rad) * tan(up)
        if not -1 <= angle <= 1:
            return None
        half = acos(angle) / rad * 4
        minute = 720 - 4 * longitude - ahead + (half if sets else -half)
    return minute * 60


class Sun(unittest.TestCase):
    def test_it_is_right_to_a_minute_below_60_degrees(self):
        worst = 0
        for latitude in (-59, -34, 0, 21, 40.7, 52.5, 59.9):
            for longitude in (-122, 0, 13.4, 151):
                for day in range(DAY_2026, DAY_2026 + 3000, 37):
                    for name in ("sunset", "sunrise"):
                        wanted = _reference(day, latitude, longitude, name == "sunset")
                        utc = day * 86400 + int(wanted)
                        rule = "%s %s %s" % (name, latitude, longitude)
                        worst = max(worst, abs(due.next_sun(rule, utc - 3600) - utc))
        self.assertTrue(worst < 60, worst)

    def test_an_almanac_s_times(self):
        # Berlin on 2026-06-21: 04:43 to 21:33 CEST.
        start = (DAY_2026 + 171) * 86400
        for name, minute in (("sunrise", 2 * 60 + 43), ("sunset", 19 * 60 + 33)):
            found = due.next_sun(name + " 52.52 13.405", start) - start
            self.assertTrue(abs(found - minute * 60) < 90, (name, found / 60))
        later = due.next_sun("sunset+30 52.52 13.405", start)
        self.assertEqual(later - due.next_sun("sunset 52.52 13.405", start), 1800)

    def test_one_a_day_and_each_strictly_later(self):
        utc = DAY_2026 * 86400
        for place in ("-33.87 151.21", "21.3 -157.9", "59 179.9"):
            at = due.next_sun("sunset-30 " + place, utc)
            for _ in range(400):
                coming = due.next_sun("sunset-30 " + place, at)
                self.assertTrue(86400 - 600 < coming - at < 86400 + 600, (place, coming - at))
                at = coming

    def test_a_polar_day_has_none(self):
        # The midnight sun of Tromso ends in July.
        june = (DAY_2026 + 160) * 86400
        days = (due.next_sun("sunset 69.65 18.96", june) - june) / 86400
        self.assertTrue(40 < days < 50, days)


class Lines(unittest.TestCase):
    def test_a_line_runs_before_each_sunset(self):
        board = sim.Board("- (at sunset - 30m; notify) Shutters\n", **PLACE)
        board.pass_time(3 * 86400, longest_s=3600)
        minutes = [at % 86400 // 60 for at, _ in board.sent]
        # Sunset in Berlin at the end of November is at 15:59 UTC.
        self.assertEqual(len(minutes), 3)
        self.assertTrue(all(14 * 60 + 20 < one < 15 * 60 + 40 for one in minutes), minutes)

    def test_without_a_place_it_is_off_with_a_sentence(self):
        board = sim.Board("- at sunset: close the shutters\n")
        board.pass_time(86400, longest_s=3600)
        self.assertEqual(board.turns, [])
        self.assertEqual(len(board.notices), 1)
        self.assertTrue("place.latitude" in board.notices[0], board.notices)


if __name__ == "__main__":
    unittest.main()
