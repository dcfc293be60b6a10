# tenner tests: conditions of sensors, the chain of checks of a beat, due times, hours, zones,
# cron, dates. MIT license; Copyright (c) 2026 the tenner authors

import gc
import unittest

import schedule_sim as sim
from tables import iso_local
from tenner.schedule import alarm_texts, decide, due
from tenner.schedule.due import Cron
from tenner.schedule.heartbeat_parser import parse_clauses
from tenner.schedule.heartbeat_tasks import build
from tenner.schedule.task import Task
from tenner.store.hours import Hours
from tenner.store.posix_tz import Zone, date_of, days_of, month_days

sim.quiet()

NOON = 1795262400  # 2026-11-21T12:00Z


def condition(text):
    return build(parse_clauses("(when %s) x" % text)[0], 1, 0, 1800).condition


class SensorGates(unittest.TestCase):
    def run_through(self, text, values):
        """A letter for each look: x where the alarm begins, o where it ends."""
        board = sim.Board("- (every 1m; when %s; notify) On.\n" % text)
        board.readings = {"a": {"b": values[0]}}
        board.step()
        board.clock.pass_s(board.service.next_wake())
        result = ""
        for value in values:
            board.readings["a"]["b"] = value
            before = len(board.sent)
            board.step()
            told = [said for _, said in board.sent[before:]]
            result += "".join(["x" if said.startswith("On.") else "o" for said in told]) or "."
            board.clock.pass_s(60)
        return result

    def test_operators_of_conditions(self):
        for text, wanted in (
            ("a.b > 2", "...x."),
            ("a.b >= 2", "..x.."),
            ("a.b < 2", "x...o"),
            ("a.b <= 2", "x...o"),
            ("a.b == 2", "..x.o"),
            ("a.b != 2", "x...."),
            ("a.b outside 1..3", "x...."),
        ):
            with self.subTest(text):
                self.assertEqual(self.run_through(text, [0, 1, 2, 3, 4]), wanted)

    def test_reset_is_a_hysteresis(self):
        values = [10, 30, 31, 29, 31, 27, 31]
        self.assertEqual(self.run_through("a.b > 28 reset 27", values), ".x...ox")
        self.assertEqual(self.run_through("a.b < 20 reset 25", [15, 15, 22, 15, 25, 15]), "x...ox")
        # A mark at the limit itself does not let it flutter.
        self.assertEqual(self.run_through("a.b >= 28 reset 28", [28, 28, 27, 28]), "x.ox")

    def test_without_reset_two_looks_must_be_a_margin_away(self):
        values = [31, 29.8, 29.8, 29, 31, 29, 29, 31]
        self.assertEqual(self.run_through("a.b > 30", values), "x.....ox")
        self.assertEqual(self.run_through("a.b < -15", [-16, -14.9, -14.9, -14, -14]), "x...o")
        self.assertEqual(self.run_through("a.b == 1", [0, 1, 0, 1, 0, 0, 1]), ".x...ox")

    def test_for_needs_every_check(self):
        values = [2, 2, 2, 2, 0, 0, 2, 2, 2]
        self.assertEqual(self.run_through("a.b > 1 for 2m", values), "..x..o..x")

    def test_a_change_is_met_once(self):
        self.assertEqual(self.run_through("a.b changes by 2", [5, 6, 7, 8, 5, 5]), "..x.x.")

    def test_drops_and_rises(self):
        found = decide.is_met
        drop = condition("a.b changes by 9")
        drop.op, drop.number, drop.within_s = "drops by", 2, 600
        rise = condition("a.b changes by 9")
        rise.op, rise.number, rise.within_s = "rises by", 2, 600
        seen = []
        for minute, value in enumerate([20, 19, 18.5, 18, 18, 18, 18, 18, 18, 18, 18, 18, 18, 20]):
            readings = {"a": {"b": value}}
            seen.append((found(drop, readings, minute * 60), found(rise, readings, minute * 60)))
        self.assertEqual("".join(["x" if one[0] else "." for one in seen]), "...xxxxxxxx...")
        self.assertEqual("".join(["x" if one[1] else "." for one in seen]), "." * 13 + "x")
        self.assertTrue(len(drop.past) <= 25)

    def test_conditions_that_are_joined(self):
        both = condition("a.b > 1")
        both.also = [condition("c.d > 2")]
        for either, cases in (
            (False, ((2, 3, True), (2, 1, False), (0, None, False), (2, None, None))),
            (True, ((2, 1, True), (0, 1, False), (2, None, True), (0, None, None))),
        ):
            both.either = either
            for first, second, wanted in cases:
                readings = {
                    "a": {"b": first},
                    "c": "no answer" if second is None else {"d": second},
                }
                self.assertEqual(decide.is_met(both, readings, 0), wanted)
        self.assertEqual(decide.describe(both), "a.b > 1 or c.d > 2")

    def test_only_numbers_are_compared(self):
        found = condition("a.b > 1")
        self.assertEqual(decide.number(found, {"a": {"b": True}}), 1)
        for readings in ({}, {"b": "x"}, {"b": None}, {"b": float("nan")}, {"s": "text", "ok": 1}):
            said = decide.number(found, {"a": readings})
            self.assertTrue("it gives no number b" in said and "{" not in said, said)

    def test_templates_are_filled_with_readings(self):
        board = sim.Board("")
        board.readings = {"tank": {"level": 12.346}, "room": {"temperature": 21}}
        for template, wanted in (
            ("Tank low: {tank.level} %", "Tank low: 12.35 %"),
            ("Tank low: {tank.level}", "Tank low: 12.35 %"),
            ("{room.temperature}, {tank.level}%!", "21 °C, 12.35%!"),
            ("{a.b} {x} {", "(no value) {x} {"),
            ("{tank.level:.1f}", "12.3 %"),
            ("{tank.level:.0f} {room.temperature:.2f}", "12 % 21.00 °C"),
            ("no braces", "no braces"),
        ):
            self.assertEqual(sim.drive(alarm_texts.fill(board.service, template, {})), wanted)
        known = {"room.temperature": 30}
        said = sim.drive(alarm_texts.fill(board.service, "{room.temperature}", known))
        self.assertEqual(said, "30 °C")


class Chain(unittest.TestCase):
    def ask(self, tasks=0, now=NOON, trusted=True, mono_s=5, **change):
        """A Question about one beat that is due, with these attributes."""
        question = decide.Question(
            sim.moment(now, trusted, mono_s), [self.task(NOON - 1800)], Zone()
        )
        if tasks != 0:
            question.tasks = tasks
        question.tokens_per_day = 20000
        for name in change:
            setattr(question, name, change[name])
        return question

    def check(self, action, reason, **change):
        question = self.ask(**change)
        self.assertEqual(decide.decide(question), (action, reason))
        if action != "run" and not question.forced:
            first = [what for _, what in decide.chain(question) if what]
            self.assertEqual(first[0], reason)

    def test_every_check_gives_its_reason(self):
        night = Hours("07:00-22:00")
        self.check("run", "due")
        self.check("off", "disabled (no HEARTBEAT.md)", tasks=None)
        self.check("off", "disabled (config)", enabled=False)
        self.check("wait", "not due (412 s left)", now=NOON + 1800 - 412,
                   tasks=[self.task(NOON)])  # fmt: skip
        self.check("skip", "quiet hours (22:00-07:00)", now=NOON + 11 * 3600, hours=night)
        self.check("skip", "nothing to do", has_work=False)
        self.check("skip", "no condition met (3 checked)", conditions=(0, 3, 0))
        self.check("skip", "daily token budget spent (20000)", tokens_left=0)
        self.check("retry", "busy (telegram:1234)", busy="telegram:1234")
        self.check("retry", "already running (since 12 s)", running_s=12)
        self.check("retry", "offline (wifi)", online="wifi")
        self.check("wait", "quiet hours (clock not set)", trusted=False, hours=night, mono_s=1800)

    def task(self, last):
        task = Task()
        task.every_s = 1800
        task.last = last
        return task

    def test_the_first_check_that_fails_wins(self):
        question = self.ask(has_work=False, tokens_left=0, busy="x", online="wifi")
        self.assertEqual(decide.decide(question), ("skip", "nothing to do"))
        self.assertEqual(len(list(decide.chain(question))), 9)
        self.assertEqual(len(list(decide.chain(self.ask(tasks=None)))), 1)

    def test_forced_passes_due_hours_and_sensors_and_nothing_else(self):
        shut = (0, 3, 0)
        self.check("run", "due", forced=True, conditions=shut, now=NOON + 11 * 3600,
                   tasks=[self.task(NOON * 2)], hours=Hours("07:00-22:00"))  # fmt: skip
        self.check("off", "disabled (no HEARTBEAT.md)", forced=True, tasks=None)
        self.check("skip", "nothing to do", forced=True, has_work=False)
        self.check("skip", "daily token budget spent (20000)", forced=True, tokens_left=-5)
        self.check("retry", "busy (x)", forced=True, busy="x")
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

    def test_time_zones_are_parsed(self):
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
            ("Asia/Shanghai", 28800),
            ("europe/berlin", 3600),
            ("America/Argentina/Buenos_Aires", -10800),
        ):
            self.assertEqual(Zone(text).offset(NOON), offset, text)
        self.assertEqual(Zone("Asia/Shanghai").text, "CST-8")
        for text in ("", "Europe/Berli", "Asia/", "/", "CET", "CET-1CEST,M3.5.0",
                     "CET-1CEST,M13.5.0,M10.5.0", "CET-25", "+15:00", "CET-1x",
                     "CET-1CEST,M3.5.0,M10.5.0/3,", "<A0", "12"):  # fmt: skip
            with self.assertRaises(ValueError):
                Zone(text)

    def test_a_collection_in_the_middle_changes_nothing(self):
        if not hasattr(gc, "threshold"):
            raise unittest.SkipTest("CPython counts references")
        gc.threshold(64)
        self.addCleanup(gc.threshold, -1)
        for number in range(100):
            # So that the next allocations are not those of the last time.
            self.kept = [number] * (number % 40)
            self.assertEqual(Zone("EST5EDT").offset(NOON), -18000)

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
            if last is None or due.next_period(1800, phase, last) <= now:
                runs += 1
                last = now
        self.assertEqual(runs, 49)

    def test_iso_times(self):
        zone = Zone("CET-1CEST,M3.5.0,M10.5.0/3")
        for text in ("2026-11-21T13:00", "2026-11-21 13:00:00", "2026-11-21T12:00Z",
                     "2026-11-21T12:00:00.5Z", "2026-11-21T13:00+01:00", "2026-11-21T07:00-0500"):  # fmt: skip  # noqa: E501
            self.assertEqual(zone.parse(text), NOON, text)
        self.assertEqual(zone.parse("2026-11-21"), NOON - 13 * 3600)
        for text in ("", "tomorrow", "2026-13-01", "2026-02-29", "2026-11-21T24:00", "2026-11-21Z",
                     "2026-11-21T12:00 pm", "2026-11-21T12"):  # fmt: skip
            with self.assertRaises(ValueError):
                zone.parse(text)


if __name__ == "__main__":
    unittest.main()
