# tenner tests: the gates of a sensor, the chain of gates of a beat, slots, hours, zones, cron, dates.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

import schedule_sim as sim
from tables import iso_local
from tenner.schedule import conditions, due
from tenner.schedule.cronexpr import Cron
from tenner.schedule.decide import Question, chain, decide
from tenner.schedule.heartbeat_parser import parse_clauses
from tenner.schedule.heartbeat_tasks import build
from tenner.schedule.posix_tz import Zone, date_of, days_of, month_days
from tenner.schedule.task import Task
from tenner.store.hours import Hours

sim.quiet()

NOON = 1795262400  # 2026-11-21T12:00Z


def condition(text):
    return build(parse_clauses("(when %s) x" % text)[0], 1, 0, 1800).condition


class SensorGates(unittest.TestCase):
    def run_through(self, text, values, fires=True):
        found = condition(text)
        result = ""
        for index, value in enumerate(values):
            is_open = conditions.check(found, value, index * 60)
            result += "x" if is_open else "."
            if is_open and fires:
                conditions.fire(found, value)
        return result

    def test_operators(self):
        for text, wanted in (
            ("a.b > 2", "...xx"),
            ("a.b >= 2", "..xxx"),
            ("a.b < 2", "xx..."),
            ("a.b <= 2", "xxx.."),
            ("a.b == 2", "..x.."),
            ("a.b != 2", "xx.xx"),
            ("a.b outside 1..3", "x...x"),
        ):
            self.assertEqual(self.run_through(text, [0, 1, 2, 3, 4]), wanted)

    def test_hysteresis(self):
        values = [10, 30, 31, 29, 31, 27, 31]
        self.assertEqual(self.run_through("a.b > 28 reset 27", values), ".x....x")
        self.assertEqual(self.run_through("a.b < 20 reset 25", [15, 15, 22, 15, 25, 15]), "x....x")
        # An alert that was not sent keeps the gate open.
        self.assertEqual(self.run_through("a.b > 28 reset 27", values, False), ".xxxx.x")
        # A mark at the limit itself does not let it flutter.
        self.assertEqual(self.run_through("a.b >= 28 reset 28", [28, 28, 27, 28]), "x..x")

    def test_for_needs_every_check(self):
        self.assertEqual(self.run_through("a.b > 1 for 2m", [2, 2, 2, 2, 0, 2, 2, 2]), "..xx...x")
        found = condition("a.b > 1 for 1m")
        self.assertEqual(conditions.check(found, 2, 0), False)
        found.since_s = None
        self.assertEqual(conditions.check(found, 2, 60), False)
        self.assertEqual(conditions.check(found, 2, 120), True)

    def test_changes(self):
        self.assertEqual(self.run_through("a.b changes by 2", [5, 6, 7, 8, 5, 5]), "..x.x.")

    def test_values(self):
        board = sim.Board("")

        def value(readings):
            board.readings["a"] = readings
            return sim.drive(conditions.Senses(board.service).value("a", "b"))

        self.assertEqual(value({"b": True}), 1)
        for readings in ({}, {"b": "x"}, {"b": None}, {"b": float("nan")}):
            with self.assertRaises(ValueError):
                value(readings)

    def test_fill(self):
        board = sim.Board("")
        board.units = {"level": "%", "temp": "°C"}
        board.readings = {"tank": {"level": 12.346}, "room": {"temp": 21}}
        for template, wanted in (
            ("Tank low: {tank.level} %", "Tank low: 12.35 %"),
            ("Tank low: {tank.level}", "Tank low: 12.35 %"),
            ("{room.temp}, {tank.level}%!", "21 °C, 12.35%!"),
            ("{a.b} {x} {", "(no value) {x} {"),
            ("no braces", "no braces"),
        ):
            senses = conditions.Senses(board.service)
            self.assertEqual(sim.drive(senses.fill(template, {})), wanted)
        known = {"room.temp": 30}
        self.assertEqual(sim.drive(senses.fill("{room.temp}", known)), "30 °C")


class Chain(unittest.TestCase):
    def ask(self, tasks=0, now=NOON, trusted=True, mono_s=5, **change):
        """A Question about one beat that is due, with these attributes."""
        question = Question(sim.moment(now, trusted, mono_s), [self.task(NOON - 1800)], Zone())
        if tasks != 0:
            question.tasks = tasks
        question.tokens_per_day = 20000
        for name in change:
            setattr(question, name, change[name])
        return question

    def check(self, action, reason, **change):
        question = self.ask(**change)
        self.assertEqual(decide(question), (action, reason))
        if action != "run" and not question.forced:
            first = [what for _, what in chain(question) if what]
            self.assertEqual(first[0], reason)

    def test_every_gate_gives_its_reason(self):
        night = Hours("07:00-22:00")
        self.check("run", "due")
        self.check("off", "disabled (no HEARTBEAT.md)", tasks=None)
        self.check("off", "disabled (config)", enabled=False)
        self.check("wait", "not due (412 s left)", now=NOON + 1800 - 412,
                   tasks=[self.task(NOON)])  # fmt: skip
        self.check("skip", "quiet hours (22:00-07:00)", now=NOON + 11 * 3600, hours=night)
        self.check("skip", "nothing to do", has_work=False)
        self.check("skip", "no gate is true (3 checked)", conditions=(0, 3, 0))
        self.check("skip", "daily token budget spent (20000)", tokens_left=0)
        self.check("retry", "lane busy (telegram:1234)", busy="telegram:1234")
        self.check("retry", "already running (since 12 s)", running_s=12)
        self.check("retry", "offline (wifi)", online="wifi")
        self.check("wait", "quiet hours (clock not set)", trusted=False, hours=night, mono_s=1800)

    def task(self, last):
        task = Task()
        task.every_s = 1800
        task.last = last
        return task

    def test_the_first_gate_that_says_no_wins(self):
        question = self.ask(has_work=False, tokens_left=0, busy="x", online="wifi")
        self.assertEqual(decide(question), ("skip", "nothing to do"))
        self.assertEqual(len(list(chain(question))), 9)
        self.assertEqual(len(list(chain(self.ask(tasks=None)))), 1)

    def test_forced_passes_due_hours_and_sensors_and_nothing_else(self):
        shut = (0, 3, 0)
        self.check("run", "due", forced=True, conditions=shut, now=NOON + 11 * 3600,
                   tasks=[self.task(NOON * 2)], hours=Hours("07:00-22:00"))  # fmt: skip
        self.check("off", "disabled (no HEARTBEAT.md)", forced=True, tasks=None)
        self.check("skip", "nothing to do", forced=True, has_work=False)
        self.check("skip", "daily token budget spent (20000)", forced=True, tokens_left=-5)
        self.check("retry", "lane busy (x)", forced=True, busy="x")
        self.check("retry", "offline (wifi)", forced=True, online="wifi")

    def test_what_needs_no_model_needs_no_tokens_and_no_lane(self):
        self.check("run", "due", model=False, tokens_left=0, busy="x")

    def test_own_hours_of_a_task(self):
        task = build({"every_s": 60, "hours": "08:00-10:00"}, 5, 0, 1800)
        self.check("skip", "quiet hours (10:00-08:00)", tasks=[task])
        self.check("run", "due", tasks=[task, self.task(0)])


class Times(unittest.TestCase):
    def test_dates_there_and_back(self):
        for days in range(-800, 60000, 37):
            year, month, day = date_of(days)
            self.assertEqual(days_of(year, month, day), days)
            self.assertTrue(1 <= day <= month_days(year, month))
        self.assertEqual(date_of(0), (1970, 1, 1))
        self.assertEqual(date_of(11016), (2000, 2, 29))
        self.assertEqual(days_of(2100, 3, 1) - days_of(2100, 2, 28), 1)

    def test_zones(self):
        for text, offset in (
            ("UTC0", 0),
            ("UTC", 0),
            ("Z", 0),
            ("+02:00", 7200),
            ("-03:30", -12600),
            ("UTC-2", 7200),
            ("<+0330>-3:30", 12600),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 3600),
            ("EST5EDT", -18000),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", 39600),
            ("XXX5YYY,J60/0,300", -18000),
        ):
            self.assertEqual(Zone(text).offset(NOON), offset, text)
        for text in ("", "Europe/Berlin", "CET", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
                     "CET-25", "+15:00", "CET-1x", "CET-1CEST,M3.5.0,M10.5.0/3,", "<A0", "12"):  # fmt: skip
            with self.assertRaises(ValueError):
                Zone(text)

    def test_gap_and_fold(self):
        zone = Zone("CET-1CEST,M3.5.0,M10.5.0/3")
        jump = zone.utc_of(2026, 3, 29, 2, 30)
        self.assertEqual(iso_local(zone, jump), "2026-03-29T03:00:00")
        self.assertEqual(iso_local(zone, jump - 1), "2026-03-29T01:59:59")
        first = zone.utc_of(2026, 10, 25, 2, 30)
        self.assertEqual(iso_local(zone, first), iso_local(zone, first + 3600))
        # A repeated time runs once.
        self.assertEqual(Cron("30 2 * * *").next_after(first, zone), first + 25 * 3600)
        self.assertEqual(zone.local(first)[6:], (6, 298))

    def test_julian_rules_skip_the_leap_day(self):
        for rule, year, month, day in (
            ("J60/0", 2027, 3, 1),
            ("J60/0", 2028, 3, 1),
            ("59/0", 2027, 3, 1),
            ("59/0", 2028, 2, 29),
        ):
            zone = Zone("XXX0YYY,%s,J300/0" % rule)
            start = days_of(year, month, day) * 86400
            self.assertEqual((zone.offset(start - 1), zone.offset(start)), (0, 3600))

    def test_cron_errors_name_the_field(self):
        for expr, word in (
            ("60 * * * *", "minute"),
            ("* 24 * * *", "hour"),
            ("* * 0 * *", "day-of-month"),
            ("* * * 13 *", "month"),
            ("* * * * 8", "day-of-week"),
            ("5-1 * * * *", "backwards"),
            ("*/0 * * * *", "step"),
            ("a * * * *", "not a value"),
            (", * * * *", "not a value"),
            ("* * * * * *", "there are 6"),
            ("0 0 30 2 *", "never"),
            ("0 0 31 4,6 *", "never"),
            ("-1 * * * *", "minute"),
            ("1- * * * *", "minute"),
        ):
            with self.subTest(expr):
                try:
                    Cron(expr)
                except ValueError as error:
                    self.assertTrue(word in str(error), str(error))
                else:
                    self.fail("no error")

    def test_cron_far_away(self):
        zone = Zone()
        start = zone.utc_of(2096, 3, 1)
        self.assertEqual(iso_local(zone, Cron("0 0 29 2 *").next_after(start, zone))[:4], "2104")
        # 29 February and a Sunday: the star leaves the day of the month in force.
        found = Cron("0 0 29 2 */7").next_after(start, zone)
        self.assertEqual(zone.local(found)[6], 6)
        self.assertEqual(iso_local(zone, Cron("5 4 * * sun").next_after(NOON, zone))[:10],
                         "2026-11-22")  # fmt: skip
        fri_sun = Cron("0 0 * * fri-sun")
        days = []
        at = NOON
        for _ in range(4):
            at = fri_sun.next_after(at, zone)
            days.append(zone.local(at)[6])
        self.assertEqual(days, [6, 4, 5, 6])

    def test_slots_do_not_depend_on_the_reboot(self):
        phase = due.board_phase(b"board-1") % 1800
        last = None
        runs = 0
        for now in range(NOON, NOON + 86400, 60):
            if last is None or due.next_slot(1800, phase, last) <= now:
                runs += 1
                last = now
        self.assertEqual(runs, 49)

    def test_iso_times(self):
        zone = Zone("CET-1CEST,M3.5.0,M10.5.0/3")
        for text in ("2026-11-21T13:00", "2026-11-21 13:00:00", "2026-11-21T12:00Z",
                     "2026-11-21T12:00:00.5Z", "2026-11-21T13:00+01:00", "2026-11-21T07:00-0500"):  # fmt: skip
            self.assertEqual(zone.parse(text), NOON, text)
        self.assertEqual(zone.parse("2026-11-21"), NOON - 13 * 3600)
        for text in ("", "tomorrow", "2026-13-01", "2026-02-29", "2026-11-21T24:00", "2026-11-21Z",
                     "2026-11-21T12:00 pm", "2026-11-21T12"):  # fmt: skip
            with self.assertRaises(ValueError):
                zone.parse(text)


if __name__ == "__main__":
    unittest.main()
