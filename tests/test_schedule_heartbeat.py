# tenner tests: the heartbeat service in its world, by a clock that is moved by hand.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import unittest

import schedule_sim as sim
import support
from support import run
from tenner.agent.errors import LaneBusy, Preempted
from tenner.schedule import outcome, status

sim.quiet()

TANK = "- (every 30s; when tank.level < 20 reset 25; notify) Tank low: {tank.level}\n"


def reasons(board):
    return [line.get("why") for line in board.lines()]


class Beats(unittest.TestCase):
    def test_a_day_of_beats_on_the_grid(self):
        board = sim.Board("- Check.\n")
        board.pass_time(6 * 3600)
        self.assertEqual(len(board.turns), 12)
        self.assertEqual(
            {utc % 1800 for utc, _, _ in board.turns}, {board.service.tasks[0].phase_s}
        )
        self.assertEqual([line["r"] for line in board.lines()], ["ran"] * 12)

    def test_a_file_that_asks_for_nothing_costs_nothing(self):
        for text in ("", "# Heartbeat\n", "- [x] Done.\n", "<!-- - Check. -->\n"):
            board = sim.Board(text)
            board.pass_time(7200)
            self.assertEqual(board.turns, [])
            self.assertEqual(set(reasons(board)), {"nothing to do"})

    def test_the_file_is_the_switch(self):
        board = sim.Board(None)
        self.assertEqual(board.step(), ("off", "disabled (no HEARTBEAT.md)"))
        self.assertEqual(board.step(True), ("off", "disabled (no HEARTBEAT.md)"))
        self.assertEqual(board.service.next_wake(), None)
        board.flash.edit("- Check.\n")
        board.pass_time(1800)
        self.assertEqual(len(board.turns), 1)
        board.flash.edit(None)
        board.pass_time(7200)
        self.assertEqual(len(board.turns), 1)
        off = sim.Board("- Check.\n", heartbeat__every=0)
        self.assertEqual(off.step(), ("off", "disabled (config)"))

    def test_a_look_at_the_file_that_fails_leaves_the_old_tasks(self):
        board = sim.Board("- Check.\n")
        board.pass_time(60)
        old = board.service.tasks
        board.flash.edit("- Something else.\n")

        def fails(occurrences, tasks):
            raise MemoryError

        board.service.scan = fails
        with self.assertRaises(MemoryError):
            asyncio.run(status.reread(board.service))
        self.assertTrue(old and board.service.tasks is old)

    def test_the_prompt_ends_with_the_time(self):
        board = sim.Board(
            "# H\nMind the plants.\n- Check.\n- (every 1d) Not now.\n"
            "- (every 30m; when room.temperature > 30) Too hot.\n",
            tz="CET-1CEST,M3.5.0,M10.5.0/3",
        )
        board.readings["room"]["temperature"] = 31.5
        board.pass_time(1800)
        prompt = board.turns[0][1]
        self.assertEqual(
            prompt[: prompt.index("Time:")],
            "Mind the plants.\n\nTasks due now:\n- Check.\n- Too hot.\n"
            "\nReadings:\n- room.temperature 31.5 > 30 (°C)\n\n",
        )
        self.assertTrue(prompt.endswith("Time: Saturday 2026-11-21 01:15\n"), prompt)

    def test_general_text_is_a_task_only_where_there_is_none(self):
        board = sim.Board("Water the plants.\n")
        board.pass_time(1800)
        self.assertEqual(len(board.turns), 1)
        board = sim.Board("Mind the plants.\n- (when room.temperature > 30) Hot.\n")
        board.pass_time(7200)
        self.assertEqual(board.turns, [])

    def test_tasks_of_other_models_are_turns_of_their_own(self):
        board = sim.Board("- A.\n- (model small) B.\n", heartbeat__model="usual")
        board.pass_time(1800)
        self.assertEqual([turn[2] for turn in board.turns], ["usual", "small"])
        self.assertTrue("- A." in board.turns[0][1] and "- B." not in board.turns[0][1])

    def test_a_daily_task_over_a_month_with_a_change_of_the_clocks(self):
        board = sim.Board(
            "- (daily 02:30) Minimum.\n",
            utc=sim.START - 30 * 86400,
            tz="CET-1CEST,M3.5.0,M10.5.0/3",
        )
        board.pass_time(10 * 86400, longest_s=86400)
        self.assertEqual(len(board.turns), 10)
        self.assertEqual({board.zone.local(turn[0])[3:5] for turn in board.turns}, {(2, 30)})

    def test_quiet_hours_and_own_hours(self):
        board = sim.Board(
            "- Check.\n- (every 10m; hours 08:00-09:00) Early.\n",
            heartbeat__active_hours="07:00-22:00",
        )
        board.pass_time(12 * 3600)
        for utc, prompt, _ in board.turns:
            hour = utc % 86400 // 3600
            self.assertTrue(hour >= 7 if "Check" in prompt else hour == 8)
        self.assertTrue("quiet hours (22:00-07:00)" in reasons(board))
        self.assertTrue("quiet hours (09:00-08:00)" in reasons(board))

    def test_a_bad_bracket_is_told_once(self):
        board = sim.Board("- Check.\n- (every banana) Water.\n")
        board.pass_time(3600)
        board.boot()
        board.pass_time(3600)
        self.assertEqual(len(board.notices), 1)
        self.assertTrue("line 2" in board.notices[0] and "banana" in board.notices[0])
        self.assertFalse("banana" in board.turns[0][1])


class Conditions(unittest.TestCase):
    def test_notify_needs_no_model_and_fires_once(self):
        board = sim.Board(TANK)
        board.readings["tank"] = {"level": 50}
        board.pass_time(300)
        board.readings["tank"] = {"level": 12.5}
        board.pass_time(300)
        self.assertEqual([text for _, text in board.sent], ["Tank low: 12.5 % (limit 20)"])
        # Over a reboot too, and again only after the reset mark.
        board.boot()
        board.pass_time(300)
        self.assertEqual(len(board.sent), 1)
        board.readings["tank"] = {"level": 26}
        board.pass_time(60)
        board.readings["tank"] = {"level": 11}
        board.pass_time(60)
        self.assertEqual(
            [text for _, text in board.sent][1:],
            [
                (
                    'back to normal: "Tank low: 12.5 %"; tank.level 26 % (limit 20); 10 min, '
                    "lowest 12.5 %"
                ),
                "Tank low: 11 % (limit 20)",
            ],
        )
        self.assertEqual(board.turns, [])

    def test_an_alert_for_which_there_was_no_memory_is_sent_later(self):
        board = sim.Board(TANK)
        board.readings["tank"] = {"level": 50}
        board.pass_time(300)
        board.readings["tank"] = {"level": 12.5}
        board.confirms = MemoryError()
        board.pass_time(120)
        self.assertEqual(board.sent, [])
        board.confirms = True
        board.pass_time(120)
        self.assertEqual([text for _, text in board.sent], ["Tank low: 12.5 % (limit 20)"])

    def test_a_time_of_day_stays_due_when_nothing_has_memory(self):
        def full(times, error):
            left = [times]

            async def put_off(*args):
                left[0] -= 1
                if left[0] >= 0:
                    raise error
                return await real(*args)

            return put_off

        real = outcome.put_off
        self.addCleanup(setattr, outcome, "put_off", real)
        for line, count in (
            ("- (daily 07:30; notify) Good morning.\n", 1),
            ("- (daily 07:30; notify) A.\n- (daily 07:30; notify) B.\n", 2),
            ("- (daily 07:30) Report.\n", 0),
            ("- (when tank.level < 20 reset 25; notify) Low.\n", 1),
        ):
            for times in (1, 2, 3, 4, 9):
                board = sim.Board(line, utc=sim.START + 27000 - 120)
                board.readings["tank"] = {"level": 30}
                board.step()
                board.readings["tank"] = {"level": 12.5}
                board.confirms = MemoryError()
                board.reply = sim.Result("All is well.")
                outcome.put_off = full(times, MemoryError())
                board.pass_time(180 + 60 * times)
                self.assertEqual(board.sent, [], (line, times))
                board.confirms = True
                board.pass_time(120)
                self.assertEqual(len(board.sent), count or 1, (line, times, board.sent))
                board.pass_time(7200)
                board.boot()
                board.pass_time(7200)
                self.assertEqual(len(board.sent), count or 1, (line, times))
        outcome.put_off = real

    def test_what_waits_for_memory_is_put_off_once(self):
        # The state cannot be written at first: the second call finds the occurrence.
        board = sim.Board("- (daily 07:30; notify) Good morning.\n", utc=sim.START + 27000 - 120)
        board.step()
        board.confirms = MemoryError()
        save = board.flash.save
        left = [2]

        def full(name, pieces):
            if board.service.tasks[-1].pending and left[0]:
                left[0] -= 1
                raise MemoryError
            save(name, pieces)

        board.flash.save = full
        board.pass_time(180)
        self.assertEqual((board.sent, left), ([], [0]))
        board.confirms = True
        board.pass_time(120)
        self.assertEqual(len(board.sent), 1)

    def test_no_condition_is_met(self):
        board = sim.Board("- (when room.temperature > 30) A.\n- (when room.temperature > 40) B.\n")
        board.pass_time(1790)
        board.clock.pass_s(20)
        self.assertEqual(board.step()[1].split("(")[0], "not due ")
        self.assertEqual(set(reasons(board)), {"no condition met (1 checked)"})
        self.assertEqual(board.turns, [])

    def test_a_silent_sensor_is_reported_once(self):
        board = sim.Board(TANK)
        board.pass_time(300)
        board.boot()
        board.pass_time(300)
        self.assertEqual(len(board.notices), 1)
        self.assertTrue("sensor tank" in board.notices[0])
        board.readings["tank"] = {"level": 30}
        board.pass_time(120)
        self.assertTrue("tank answers again" in board.notices[1], board.notices)
        # Again within the hour: it is told when it lasts.
        del board.readings["tank"]
        board.pass_time(500)
        self.assertEqual(len(board.notices), 2)
        board.pass_time(200)
        self.assertEqual(len(board.notices), 3)
        self.assertEqual(board.sent, [])

    def test_an_alert_that_could_not_be_sent_waits(self):
        board = sim.Board(TANK)
        board.readings["tank"] = {"level": 10}
        board.confirms = OSError(113)
        board.pass_time(100)
        board.confirms = True
        # The tank is full again; the owner hears of it all the same.
        board.readings["tank"] = {"level": 90}
        board.pass_time(60)
        self.assertEqual(
            [text for _, text in board.sent],
            [
                "Tank low: 10 % (limit 20)",
                'back to normal: "Tank low: 10 %"; tank.level 90 % (limit 20); 1 min, lowest 10 %',
            ],
        )

    def test_offline_holds_an_alert(self):
        board = sim.Board(TANK)
        board.readings["tank"] = {"level": 10}
        board.net = "wifi"
        board.pass_time(25)
        self.assertEqual(board.step(), ("retry", "offline (wifi)"))
        board.pass_time(600)
        board.net = True
        board.pass_time(31)
        self.assertEqual(len(board.sent), 1)
        self.assertTrue("offline (wifi)" in reasons(board))

    def test_a_busy_lane_does_not_hold_an_alert(self):
        board = sim.Board(TANK + "- Check.\n")
        board.readings["tank"] = {"level": 10}
        board.lane_holder = "telegram:1"
        board.pass_time(1800)
        self.assertEqual((len(board.sent), board.turns), (1, []))


class Failures(unittest.TestCase):
    def test_a_busy_lane_is_tried_again_in_the_same_slot(self):
        board = sim.Board("- Check.\n")
        board.lane_holder = "telegram:1"
        board.pass_time(1000)
        self.assertEqual(board.lines(), [])
        self.assertTrue(board.service.next_wake() <= 30)
        board.lane_holder = None
        board.pass_time(31)
        self.assertEqual([line["r"] for line in board.lines()], ["ran"])

    def test_the_lane_is_taken_at_the_last_moment(self):
        board = sim.Board("- Check.\n")
        board.reply = LaneBusy("telegram:1")
        board.pass_time(900)
        board.reply = sim.Result("HEARTBEAT_OK")
        board.pass_time(60)
        self.assertEqual([line["r"] for line in board.lines()], ["ran"])

    def test_an_occurrence_that_never_got_its_turn_has_a_line(self):
        board = sim.Board("- Check.\n")
        board.lane_holder = "telegram:1"
        board.pass_time(3 * 1800)
        self.assertEqual(reasons(board), ["busy (telegram:1)"] * 2)

    def test_a_person_first_and_then_the_beat(self):
        board = sim.Board("- Check.\n")
        board.idle = 5
        board.reply = Preempted(sim.Result(tokens=40))
        board.pass_time(1000)
        # Preempted three times: it waits for the conversation to pause.
        self.assertEqual(len(board.turns), 3)
        board.reply = sim.Result("HEARTBEAT_OK")
        board.pass_time(60)
        self.assertEqual(len(board.turns), 3)
        board.idle = 60
        board.pass_time(60)
        line = board.lines()[-1]
        self.assertEqual((len(board.turns), line["r"], line["tokens"]), (4, "ran", 220))

    def test_failures_back_off_and_are_told_once(self):
        board = sim.Board("- Check.\n", heartbeat__every=86400)
        board.reply = sim.Result(error="The model does not answer.")
        board.pass_time(86400)
        times = [turn[0] for turn in board.turns]
        steps = [b - a for a, b in zip(times, times[1:])]
        self.assertEqual(steps[:6], [30, 60, 300, 900, 3600, 3600])
        self.assertEqual(len(board.notices), 1)
        self.assertTrue("3 times" in board.notices[0] and "not answer" in board.notices[0])
        self.assertEqual((board.sent, board.lines()), ([], []))
        board.reply = sim.Result("HEARTBEAT_OK")
        board.pass_time(3600)
        self.assertEqual(len(board.notices), 2)
        self.assertEqual(board.lines()[-1]["r"], "ran")

    def test_whatever_a_turn_raises_is_a_failure(self):
        board = sim.Board("- Check.\n")
        board.reply = KeyError("x")
        board.pass_time(1000)
        self.assertTrue(board.service.failures >= 1)

    def test_a_spent_budget_stops_only_model_calls(self):
        board = sim.Board("- Check.\n" + TANK, heartbeat__every=1800)
        board.readings["tank"] = {"level": 1}
        board.left_tokens = 0
        board.pass_time(1800)
        self.assertEqual(len(board.sent), 1)
        self.assertTrue("daily token budget spent (20000)" in reasons(board))
        self.assertEqual(board.turns, [])

    def test_a_run_cut_short_is_logged_and_not_repeated(self):
        board = sim.Board("- Check.\n- (every 30m) Look.\n")
        board.reply = sim.PowerCut()
        try:
            board.pass_time(1800)
            self.fail("no cut")
        except sim.PowerCut:
            board.reply = sim.Result("HEARTBEAT_OK")
        board.clock.pass_s(60)
        board.boot()
        board.pass_time(600)
        self.assertEqual([line["r"] for line in board.lines()], ["interrupted"] * 2)
        self.assertEqual(len(board.turns), 1)

    def test_state_of_another_shape_is_quarantined(self):
        for value in (
            '{"": null}', "[]", '"x"', '{"": {"told": "x"}}', '{"1": 5}', '{"1": [1]}',
            '{"1": ["x", null, null]}', '{"1": [1, ["a", "b"], null]}', '{"1": [1, null, 7]}',
        ):  # fmt: skip
            board = sim.Board("- Check.\n")
            board.flash.saved["heartbeat"] = value
            board.boot()
            board.pass_time(3600)
            self.assertTrue(len(board.turns) > 0, value)

    def test_a_corrupt_state_file_is_told(self):
        board = sim.Board("- (every 10m) Look.\n")
        board.flash.saved["heartbeat"] = "{"
        board.boot()
        board.step()
        self.assertTrue("heartbeat.json.bad" in board.notices[0])


class Clocks(unittest.TestCase):
    def test_a_reboot_neither_starves_nor_repeats(self):
        board = sim.Board("- Check.\n")
        for _ in range(12):
            board.pass_time(1500)
            board.clock.pass_s(100)
            board.boot()
        # 12 x 1600 s with a beat each 1800 s.
        self.assertTrue(10 <= len(board.turns) <= 11, len(board.turns))
        board.clock.pass_s(86400)
        board.boot()
        before = len(board.turns)
        board.pass_time(60)
        self.assertEqual(len(board.turns), before + 1)

    def test_an_unset_clock(self):
        board = sim.Board("- (daily 07:30) Minimum.\n- (every 10m) Look.\n", utc=946684800,
                          trusted=False)  # fmt: skip
        board.pass_time(3600)
        self.assertEqual(len(board.turns), 6)
        self.assertTrue("not known" in board.turns[0][1])
        # The clock is set: no burst.
        board.clock.utc = sim.START + 8 * 3600
        board.clock.trusted = True
        before = len(board.turns)
        board.step()
        self.assertEqual(len(board.turns), before)
        board.pass_time(86400, longest_s=600)
        self.assertEqual(len([1 for turn in board.turns if "Minimum" in turn[1]]), 1)

    def test_a_missed_time_of_day_is_caught_up_once(self):
        board = sim.Board("- (daily 07:30) Minimum.\n")
        board.pass_time(60)
        board.clock.pass_s(3 * 86400)
        board.boot(trusted=False)
        board.step()
        self.assertEqual(board.turns, [])
        board.clock.trusted = True
        board.pass_time(3600)
        self.assertEqual(len(board.turns), 1)

    def test_jumps_make_no_burst(self):
        board = sim.Board("- (every 10m) A.\n- (every 7m) B.\n- Check.\n")
        board.pass_time(3600)
        for jump in (86400, -86400, 365 * 86400, -7200):
            before = len(board.turns)
            board.clock.utc += jump
            board.step()
            self.assertEqual(len(board.turns), before)
            board.pass_time(1801)
            self.assertTrue(len(board.turns) > before)

    def test_a_small_step_back_repeats_no_slot(self):
        board = sim.Board("- Check.\n")
        board.pass_time(1800)
        ran = board.turns[-1][0]
        board.clock.utc = ran - 5
        board.pass_time(60)
        self.assertEqual(len(board.turns), 1)

    def test_three_short_boots(self):
        board = sim.Board("- Check.\n", utc=946684800, trusted=False)
        for _ in range(3):
            board.pass_time(300)
            board.boot()
        self.assertEqual(board.turns, [])
        board.pass_time(59)
        self.assertEqual(board.turns, [])
        board.pass_time(5)
        self.assertEqual(len(board.turns), 1)
        board.pass_time(1790)
        self.assertEqual(len(board.turns), 1)

    def test_hours_hold_while_nobody_knows_the_time(self):
        board = sim.Board("- Check.\n", utc=946684800, trusted=False,
                          heartbeat__active_hours="07:00-22:00")  # fmt: skip
        board.pass_time(3600)
        self.assertEqual(board.turns, [])


class Answers(unittest.TestCase):
    def test_what_is_said_is_said_once_a_day(self):
        board = sim.Board("- Check.\n")
        board.reply = sim.Result("The  door is OPEN. HEARTBEAT_OK")
        board.pass_time(7200)
        board.boot()
        board.reply = sim.Result("the door is open.")
        board.pass_time(21 * 3600)
        self.assertEqual([text for _, text in board.sent], ["The  door is OPEN."])
        self.assertEqual(board.lines()[0]["sent"], "yes")
        self.assertEqual(board.lines()[-1]["sent"], "repeat")
        board.pass_time(3 * 3600)
        self.assertEqual(len(board.sent), 2)

    def test_only_what_was_confirmed_counts(self):
        board = sim.Board("- Check.\n")
        board.reply = sim.Result("Fire!")
        board.confirms = False
        board.pass_time(7200)
        # Queued, and not queued again while it waits.
        self.assertEqual(len(board.sent), 1)
        # Given up: it may be said again.
        board.waiting.clear()
        board.pass_time(1800)
        self.assertEqual(len(board.sent), 2)
        board.service.confirm(board.waiting.pop())
        board.boot()
        board.reply = sim.Result("fire!")
        board.pass_time(1800)
        self.assertEqual(len(board.sent), 2)
        board.reply = sim.Result("Water!")
        board.pass_time(1800)
        self.assertEqual(len(board.sent), 3)

    def test_what_arrives_before_the_clock_is_set_counts_too(self):
        board = sim.Board("- Check.\n")
        board.reply = sim.Result("Fire!")
        board.confirms = False
        board.pass_time(7200)
        utc, board.clock.utc, board.clock.trusted = board.clock.utc, 946684800, False
        board.service.confirm(board.waiting.pop())
        board.clock.utc, board.clock.trusted = utc, True
        board.boot()
        board.pass_time(23 * 3600)
        self.assertEqual(len(board.sent), 1)
        board.pass_time(3 * 3600)
        self.assertEqual(len(board.sent), 2)

    def test_numbers_may_be_masked(self):
        board = sim.Board("- Check.\n", heartbeat__dedup_numbers=True)
        texts = ["12.5 of 30,000 at 7", "3 of 0.5 at 12", "999 of 1.000,5 at 0", "7 of 7 at 7"]
        board.reply = lambda prompt: sim.Result(texts[len(board.turns) - 1])
        board.pass_time(7200)
        self.assertEqual(len(board.sent), 1)

    def test_a_failed_turn_is_never_news(self):
        board = sim.Board("- Check.\n")
        board.reply = sim.Result("half an answ", error="Cut off.")
        board.pass_time(7200)
        self.assertEqual(board.sent, [])

    def test_stopped_by_the_owner(self):
        board = sim.Board("- Check.\n")
        board.reply = sim.Result(error="Stopped, as you asked.", interrupted="stop")
        board.pass_time(1800)
        self.assertEqual(board.lines()[0]["why"], "stopped by the owner")

    def test_trigger_looks_and_changes_no_alarm(self):
        board = sim.Board("- Check.\n- (when room.temperature > 90) Hot.\n" + TANK,
                          heartbeat__active_hours="07:00-22:00")  # fmt: skip
        board.readings["tank"] = {"level": 77}
        before = board.flash.saved.get("heartbeat")
        self.assertEqual(board.step(True), ("run", "nothing to report"))
        self.assertTrue("- Check." in board.turns[0][1] and "Hot" not in board.turns[0][1])
        self.assertEqual(board.sent, [])
        told = []
        board.deliver = lambda channel, chat, text: told.append(text)
        sim.drive(board.service.trigger("console", "owner"))
        self.assertEqual(
            told[0],
            "line 2: room.temperature 21.5 > 90; not met; clear\n"
            "line 3: tank.level 77 < 20; not met; clear\n"
            "    its text: Tank low: 77 % (limit 20)\n"
            "heartbeat: run (nothing to report)",
        )
        self.assertEqual([task.condition.alarm for task in board.service.tasks if task.key
                          and task.condition], [None, None])  # fmt: skip
        board.lane_holder = "console"
        self.assertEqual(board.step(True), ("retry", "busy (console)"))
        self.assertTrue(before is None or before)

    def test_trigger_of_a_line_runs_it_for_real(self):
        board = sim.Board("- Check.\n- (when room.temperature > 90) Hot.\n" + TANK)
        board.readings["tank"] = {"level": 77}
        self.assertEqual(board.step((3,)), ("run", "shown at the console"))
        self.assertEqual([text for _, text in board.sent], ["Tank low: 77 %"])
        self.assertEqual(board.step((2,)), ("run", "nothing to report"))
        self.assertTrue("- Hot." in board.turns[0][1])
        self.assertEqual(board.step((9,)), ("skip", "no such line"))
        # The real alarm is told all the same.
        board.readings["tank"] = {"level": 7}
        board.pass_time(60)
        self.assertEqual([text for _, text in board.sent][1:], ["Tank low: 7 % (limit 20)"])

    def test_a_triggered_beat_that_is_interrupted_runs_again(self):
        board = sim.Board("- Check.\n")
        board.idle = 3600
        board.reply = Preempted(sim.Result())
        self.assertEqual(board.step(True)[0], "retry")
        board.reply = sim.Result("Here.")
        board.pass_time(60)
        self.assertEqual([text for _, text in board.sent], ["Here."])
        self.assertEqual(len(board.turns), 2)

    def test_a_triggered_beat_that_waits_outlives_a_reboot(self):
        board = sim.Board("- (daily 07:30) Minimum.\n", heartbeat__active_hours="07:00-22:00")
        board.reply = sim.Result(error="The model does not answer.")
        self.assertEqual(board.step(True)[0], "retry")
        due = board.clock.utc
        board.clock.pass_s(120)
        board.boot()
        # Asked for again, it is still the same one, and not another that takes its place without a
        # line.
        self.assertEqual(board.step(True)[0], "retry")
        board.clock.pass_s(120)
        board.boot()
        board.reply = sim.Result("Here.")
        board.pass_time(60)
        self.assertEqual([text for _, text in board.sent], ["Here."])
        self.assertEqual([(line["due"], line["r"]) for line in board.lines()], [(due, "ran")])

    def test_why_and_status(self):
        board = sim.Board("- Check.\n")
        board.pass_time(1800)
        why = asyncio.run(status.why(board.service)).split("\n")
        self.assertTrue("beat: ran" in why[0] and "100 tokens" in why[0], why[0])
        self.assertTrue(why[-1].startswith("next: in "))
        self.assertTrue(why[-1].endswith(" s; times are UTC+00:00"), why[-1])
        lines = asyncio.run(status.heartbeat(board.service)).split("\n")
        self.assertEqual(lines[0], "heartbeat every 30 min; times are UTC+00:00")
        self.assertTrue(
            lines[1].startswith("the tasks without a time of their own; next in "), lines
        )
        self.assertTrue(lines[2].startswith("line 1: asks the model at every beat: "), lines[2])
        self.assertTrue(lines[3].startswith("now: not due ("), lines[3])

    def test_the_token_of_silence_in_small_letters(self):
        board = sim.Board("- Check.\n")
        for reply in ("heartbeat_ok", "Heartbeat_OK.", "**heartbeat_ok**"):
            board.reply = sim.Result(reply)
            board.pass_time(1800)
        self.assertEqual(board.sent, [])
        board.reply = sim.Result("heartbeat_ok The door is open.")
        board.pass_time(1800)
        self.assertEqual([text for _, text in board.sent], ["The door is open."])

    def test_mode_decide(self):
        asked = []

        class Call:
            name = "heartbeat"
            arguments_text = '{"action": "skip"}'

        class Reply:
            tokens_in = 50
            tokens_out = 5
            calls = []

        async def ask(text, model):
            asked.append((text, model))
            return Reply

        board = sim.Board("- A.\n- B.\n", heartbeat__mode="decide", heartbeat__model="cheap")
        board.ask = ask
        board.pass_time(1800)
        self.assertEqual((len(asked), board.turns), (1, []))
        self.assertTrue("1. A.\n2. B.\n" in asked[0][0])
        self.assertEqual(asked[0][1], "cheap")
        self.assertEqual(board.lines()[0]["tokens"], 55)
        Reply.calls = [Call]
        board.pass_time(1800)
        self.assertEqual(board.turns, [])
        Call.arguments_text = None  # they were too long
        board.pass_time(1800)
        self.assertEqual((board.turns, board.service.failures), ([], 0))
        Call.arguments_text = '{"action": "run", "tasks": [2]}'
        board.pass_time(1800)
        self.assertEqual(board.turns[0][2], None)
        self.assertTrue("- B." in board.turns[0][1] and "- A." not in board.turns[0][1])
        Call.arguments_text = '{"action": "run", "tasks": [9]}'
        board.pass_time(1800)
        self.assertTrue("- A." in board.turns[1][1])


class OnFlash(unittest.TestCase):
    """The same on real files and a real loop."""

    def test_a_real_board(self):
        board = sim.Board("- Check.\n" + TANK, case=self)
        board.readings["tank"] = {"level": 10}
        board.reply = sim.Result("The door is open.")
        board.pass_time(1800)
        self.assertEqual(len(board.turns), 1)
        self.assertEqual(len(board.sent), 2)
        board.boot()
        board.pass_time(60)
        self.assertEqual((len(board.turns), len(board.sent)), (1, 2))
        board.write("- Chuck.\n")
        board.step()
        self.assertEqual(len(board.service.tasks), 1)
        # A wake is spared while nothing is due and nothing has changed.
        spared = board.service._nothing_new
        self.assertEqual([spared(), spared()], [False, True])
        board.write("- Check again.\n")
        self.assertEqual([spared(), spared()], [False, True])
        board.clock.utc += 7200
        self.assertEqual(spared(), False)
        board.step()
        self.assertEqual(spared(), True)
        board.clock.pass_s(board.service.next_wake())
        self.assertEqual(spared(), False)
        board.step()
        board.clock.trusted = False
        self.assertEqual(spared(), False)

    def test_what_waits_for_memory_is_known_after_a_power_cut(self):
        board = sim.Board("- Check.\n")
        turns = []

        async def run(tasks):
            turns.append(tasks)  # the power goes before there is room

        async def main():
            board.service._run = run
            await board.service.step(False, True)
            while not turns:
                await asyncio.sleep(0)

        board.step()
        board.clock.pass_s(board.service.next_wake())
        due = board.clock.utc
        support.run(main())
        board.clock.pass_s(1800)
        board.boot()
        board.pass_time(60)
        lines = [(line["due"], line["r"], line.get("why")) for line in board.lines()]
        self.assertEqual(lines[0], (due, "skipped", "waits for memory"))
        self.assertEqual(lines[1], (due + 1800, "ran", None))

    def test_the_service_checks_conditions_while_a_model_thinks(self):
        board = sim.Board("- Check.\n" + TANK)
        board.readings["tank"] = {"level": 50}
        events = []

        async def main():
            thinking = asyncio.Event()
            enough = asyncio.Event()

            async def run_turn(text, kind, model):
                events.append("begin")
                thinking.set()
                await enough.wait()
                events.append("end")
                return sim.Result("HEARTBEAT_OK")

            board.run_turn = run_turn
            board.step()
            board.clock.pass_s(1800)
            service = asyncio.create_task(board.service.service())
            await thinking.wait()
            board.readings["tank"] = {"level": 5}
            board.clock.pass_s(60)
            board.service.poke()
            while not board.sent:
                await asyncio.sleep(0)
            events.append("alert")
            reason = (await board.service.step(True))[1]
            events.append(reason.split("(")[0])
            enough.set()
            while not any(line["k"] == "beat" for line in board.lines()):
                await asyncio.sleep(0)
            service.cancel()
            try:
                await service
            except asyncio.CancelledError:
                events.append("stopped")

        run(main())
        self.assertEqual(events, ["begin", "alert", "already running ", "end", "stopped"])


if __name__ == "__main__":
    unittest.main()
