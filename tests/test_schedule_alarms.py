# tenner tests: an alarm is told every time, once, and ends.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json
import unittest

import schedule_sim as sim
from tenner.agent import background
from tenner.agent.errors import LaneBusy
from tenner.schedule import clauses, command, heartbeat_tasks, status
from tenner.schedule import service as schedule_service

sim.quiet()
background.log = lambda area, text: None

FREEZER = (
    "- (every 5s; when room.temperature > 30 reset 28; notify) The freezer is getting warm!\n"
)
SLOW = FREEZER.replace("5s", "1m")
MODEL = "- (every 1m; when room.temperature > 30 for 3m) Too hot: say what to do.\n"
NIGHT = {"heartbeat__active_hours": "08:00-22:00"}
HOT, COOL = 35.2, 27.8
# For the owner, where the model says "Open a window."
OPEN = "Open a window.\nroom.temperature 35.2 °C (limit 30)."
MOVED = "Moved. room.temperature %d \u00b0C"
AT_30 = " room.temperature 35.2 \u00b0C (limit 30)"
WARM = "The freezer is getting warm!" + AT_30
NORMAL = (
    'back to normal: "The freezer is getting warm!"; room.temperature 27.8 \u00b0C (limit 30); '
    "%s, highest 35.2 \u00b0C"
)


class Stop(Exception):
    """The end of a loop that has none."""


def texts(board):
    return [text for _, text in board.sent]


def spell(board, degrees, seconds=60):
    board.readings["room"]["temperature"] = degrees
    board.pass_time(seconds)


def alarm(board, line=0):
    return [task for task in board.service.tasks if task.condition][line].condition.alarm


def alarms(board, args=""):
    """The answer to /alarms."""
    return asyncio.run(command.answer(board.service, args))


class Episodes(unittest.TestCase):
    def test_a_clock_that_moves_between_its_beginning_and_its_text_makes_no_alarm_late(self):
        board = sim.Board(FREEZER)
        spell(board, 21)
        compose = board.service._compose

        async def moved(request):
            board.clock.utc += 7200
            await compose(request)

        board.service._compose = moved
        spell(board, HOT, 10)
        self.assertEqual(texts(board), [WARM])

    def test_every_episode_is_told_once_and_ends_once(self):
        board = sim.Board(FREEZER)
        for degrees in (21, HOT, COOL, HOT, COOL, HOT):
            spell(board, degrees)
        end = NORMAL % "1 min"
        self.assertEqual(texts(board), [WARM, end, WARM, end, WARM])

    def test_a_condition_without_reset_does_not_storm(self):
        board = sim.Board("- (every 5s; when room.temperature > 30; notify) Hot!\n")
        spell(board, HOT, 3600)
        self.assertEqual(texts(board), ["Hot!" + AT_30])
        # Values that tremble round the number are one episode.
        for degrees in (29.9, 29.8, 30.1) * 20:
            spell(board, degrees, 5)
        self.assertEqual(texts(board), ["Hot!" + AT_30])
        spell(board, 29)
        self.assertEqual(len(texts(board)), 2)

    def test_a_trigger_takes_nothing_from_the_real_alarm(self):
        board = sim.Board(FREEZER)
        board.step(True)
        self.assertEqual(texts(board), [])
        # By its line it is sent with the condition unmet, and is no episode.
        board.step((1,))
        board.pass_time(60)
        plain = "The freezer is getting warm!"
        self.assertEqual((texts(board), alarm(board)), ([plain], None))
        spell(board, HOT)
        self.assertEqual(texts(board), [plain, WARM])

    def test_a_model_is_asked_once_an_episode(self):
        board = sim.Board(MODEL)
        board.reply = sim.Result("Open a window.")
        spell(board, HOT, 6 * 3600)
        self.assertEqual((len(board.turns), texts(board)), (1, [OPEN]))
        spell(board, 20, 600)
        self.assertEqual(len(texts(board)), 1)
        # The same answer is told again: it is another episode.
        spell(board, HOT, 600)
        self.assertEqual((len(board.turns), texts(board)), (2, [OPEN] * 2))

    def test_resolve_tells_the_end_of_a_model_s_alarm(self):
        board = sim.Board("- (every 1m; when room.temperature > 30; resolve) Too hot.\n")
        board.reply = sim.Result("Open a window.")
        spell(board, HOT, 600)
        spell(board, 20, 600)
        self.assertEqual((len(board.turns), len(board.sent)), (1, 2))
        self.assertTrue(
            texts(board)[1].startswith(
                'back to normal: "Too hot."; room.temperature 20 \u00b0C (limit 30); 1'
            ),
            texts(board),
        )

    def test_an_alarm_that_lasts_repeats(self):
        board = sim.Board(SLOW.replace("notify", "notify; repeat 1h"))
        spell(board, HOT, 3 * 3600 + 100)
        self.assertEqual(texts(board)[0], WARM)
        self.assertEqual(len(texts(board)), 4)
        self.assertEqual(
            texts(board)[1],
            (
                'still: "The freezer is getting warm!"; room.temperature 35.2 \u00b0C (limit 30); '
                "1 h, highest 35.2 \u00b0C"
            ),
        )

    def test_an_episode_survives_a_reboot(self):
        board = sim.Board(FREEZER)
        spell(board, HOT)
        board.boot()
        spell(board, HOT)
        self.assertEqual(texts(board), [WARM])
        board.boot()
        spell(board, COOL)
        self.assertEqual(len(texts(board)), 2)

    def test_for_goes_on_over_a_reboot(self):
        for trusted in (True, False):
            board = sim.Board("- (every 1m; when room.temperature > 30 for 10m; notify) Hot!\n")
            spell(board, HOT, 480)
            board.boot(trusted)
            spell(board, HOT, 60)
            board.clock.trusted = True
            spell(board, HOT, 120)
            self.assertEqual(texts(board), ["Hot!" + AT_30], trusted)
        # An earlier spell does not count.
        board = sim.Board("- (every 1m; when room.temperature > 30 for 10m; notify) Hot!\n")
        spell(board, HOT, 480)
        spell(board, COOL, 120)
        board.boot()
        spell(board, HOT, 480)
        self.assertEqual(texts(board), [])

    def test_a_drop_is_seen_over_reboots(self):
        board = sim.Board(
            "- (every 5m; when tank.level drops by 15 within 2h; notify) A leak: {tank.level}\n"
        )
        largest = 0
        # A board that sleeps boots at each look, and the clock is set after it.
        for level in (80,) * 6 + (78, 76, 75, 74, 73, 72, 70, 69, 68, 66, 65, 64, 64, 64):
            board.readings["tank"] = {"level": level}
            board.clock.pass_s(300)
            board.boot(False)
            board.step()
            board.clock.trusted = True
            board.pass_time(20)
            largest = max(largest, len(board.flash.saved["heartbeat"]))
        self.assertEqual(texts(board), ["A leak: 65 % (alarm when it drops by 15 within 2 h)"])
        self.assertTrue(largest < 700, largest)

    def test_a_clock_that_is_set_back_makes_nothing_wait(self):
        board = sim.Board("- (every 1m; when room.temperature > 30 for 10m; notify) Hot!\n")
        spell(board, HOT, 480)
        board.clock.utc -= 86400
        board.boot()
        spell(board, HOT, 720)
        self.assertEqual(texts(board), ["Hot!" + AT_30])
        # Readings of a day that is yet to come are no drop.
        board = sim.Board("- (every 5m; when tank.level drops by 15 within 1h; notify) A leak.\n")
        for level, set_back in ((80, 86400), (60, 0), (60, 0)):
            board.readings["tank"] = {"level": level}
            board.pass_time(900)
            board.clock.utc -= set_back
            board.boot()
        self.assertEqual(texts(board), [])

    def test_a_drop_that_took_longer_is_none_over_reboots_too(self):
        board = sim.Board("- (every 5m; when tank.level drops by 15 within 1h; notify) A leak.\n")
        for place in range(40):
            board.readings["tank"] = {"level": 80 - place}
            board.pass_time(300)
            board.boot()
        self.assertEqual(texts(board), [])

    def test_readings_of_a_drop_are_written_every_five_minutes_at_most(self):
        board = sim.Board("- (every 5s; when tank.level drops by 15 within 10m; notify) A leak.\n")
        board.readings["tank"] = {"level": 80}
        board.pass_time(600)
        writes = board.flash.writes
        logs = len(board.flash.log)
        saves = []
        save = board.flash.save
        board.flash.save = lambda name, pieces: (
            saves.append(board.clock.mono) or save(name, pieces)
        )
        for place in range(120):
            board.readings["tank"] = {"level": 80 - place / 100}
            board.pass_time(30)
        self.assertTrue(board.flash.writes > writes and len(board.flash.log) > logs)
        # One more is that of a boot that has lasted.
        self.assertTrue(11 <= len(saves) <= 13, saves)

    def test_a_power_cut_at_any_write_tells_it_once(self):
        for cut in range(12):
            board = sim.Board(FREEZER)
            spell(board, 20)
            last = ()
            board.flash.cut_in = cut
            for degrees in (HOT, COOL, HOT):
                board.readings["room"]["temperature"] = degrees
                try:
                    board.pass_time(60)
                except sim.PowerCut:
                    # Messages on their way may have arrived; the outbox marks the ones that may be
                    # sent twice.
                    last = board.marks[-1:]
                    board.clock.pass_s(5)
                    board.boot()
                    board.pass_time(60)
            marks = list(board.marks)
            if last and marks.count(last[0]) == 2:
                marks.remove(last[0])
            self.assertEqual([mark[:2] for mark in marks], ["al", "ae", "al"], cut)
            self.assertEqual(len(marks), len(set(marks)), (cut, marks))

    def test_a_full_disk_holds_no_alarm_back(self):
        board = sim.Board(FREEZER)
        spell(board, 20)
        board.flash.is_full = True
        spell(board, HOT, 3600)
        spell(board, COOL, 3600)
        self.assertEqual(len(texts(board)), 2)
        self.assertEqual(len(board.notices), 1)
        self.assertTrue("I cannot write to my files: " in board.notices[0], board.notices)
        self.assertTrue(len(board.service.held) < 30)
        board.flash.is_full = False
        spell(board, HOT)
        spell(board, COOL)
        self.assertEqual((len(texts(board)), len(board.notices)), (4, 2))
        self.assertEqual(board.notices[-1], "I can write to my files again.")
        self.assertFalse(board.service.dirty)
        board.flash.is_full = True
        spell(board, HOT)
        self.assertEqual((len(texts(board)), len(board.notices)), (5, 3))

    def test_an_alarm_after_a_full_flash_is_a_new_one(self):
        """Flash took the mark of the last one, and no state."""
        board = sim.Board(FREEZER)
        spell(board, HOT)
        spell(board, COOL)
        saved = dict(board.flash.saved)
        spell(board, HOT)
        spell(board, COOL)
        saved["said"] = board.flash.saved["said"]
        board.flash.saved = saved
        board.boot()
        spell(board, HOT)
        self.assertEqual(len(board.marks), 5, board.marks)
        self.assertEqual(len(set(board.marks)), 5, board.marks)

    def test_an_end_that_could_not_leave_is_told_later(self):
        board = sim.Board(FREEZER)
        spell(board, HOT)
        board.confirms = OSError(28)
        spell(board, COOL, 600)
        board.confirms = True
        spell(board, COOL)
        self.assertEqual(len(texts(board)), 2)

    def test_a_model_that_could_not_be_asked_in_time_is_not_paid(self):
        board = sim.Board(MODEL)
        board.reply = LaneBusy("telegram:1")
        spell(board, HOT, 600)
        asked = len(board.turns)
        spell(board, 20, 600)
        board.reply = sim.Result("Late.")
        spell(board, 20, 600)
        self.assertEqual(len(board.turns), asked)
        self.assertTrue("no model was asked" in texts(board)[0], texts(board))

    def test_changes_are_told_each(self):
        board = sim.Board("- (every 1m; when room.temperature changes by 2; notify) Moved.\n")
        for degrees in (20, 23, 23, 26, 26):
            spell(board, degrees, 180)
        self.assertEqual(texts(board), [MOVED % 23, MOVED % 26])

    def test_at_a_fixed_time_it_is_a_question(self):
        board = sim.Board("- (daily 18:00; when room.temperature < 30; notify) Water me.\n")
        board.pass_time(3 * 86400, longest_s=3600)
        self.assertEqual(texts(board), ["Water me."] * 3)

    def test_plain_when_is_looked_at_every_minute(self):
        board = sim.Board("- (when room.temperature > 30; notify) Hot.\n")
        self.assertEqual(board.step()[0], "wait")
        self.assertEqual(board.service.tasks[0].every_s, 60)


class Quiet(unittest.TestCase):
    def test_what_quiet_hours_hold_is_told_once_when_they_end(self):
        board = sim.Board(SLOW, **NIGHT)
        spell(board, 20, 3600)
        for degrees in (HOT, COOL, HOT):
            spell(board, degrees, 600)
        self.assertEqual(texts(board), [])
        board.boot()
        board.pass_time(7 * 3600)
        self.assertEqual(len(texts(board)), 1)
        lines = texts(board)[0].split("\n")
        self.assertEqual(lines[0], "While it was quiet (22:00-08:00):")
        self.assertEqual(lines[1], "01:20-now " + WARM + "; now 35.2 \u00b0C")
        self.assertEqual(lines[2], "01:00-01:10 " + WARM + "; 10 min, highest 35.2 \u00b0C")
        self.assertEqual(len(lines), 3)
        self.assertEqual(board.sent[0][0] % 86400 // 60, 480)
        spell(board, COOL)
        self.assertEqual(len(texts(board)), 2)

    def test_an_alarm_that_is_held_was_not_told(self):
        board = sim.Board(SLOW, **NIGHT)
        spell(board, HOT, 3600)
        report = asyncio.run(status.heartbeat(board.service))
        self.assertTrue("active since" in report and "last told" not in report, report)
        spell(board, HOT, 8 * 3600)
        report = asyncio.run(status.heartbeat(board.service))
        self.assertTrue("last told 2026-11-21 08:00" in report, report)

    def test_a_unit_behind_a_value_is_not_said_twice(self):
        for text, wanted in (
            ("{room.temperature} C!", "35.2 C!"),
            ("{room.temperature}C", "35.2C"),
            ("{room.temperature} \u00b0C now", "35.2 \u00b0C now"),
            ("{room.temperature} Cellar", "35.2 \u00b0C Cellar"),
        ):
            board = sim.Board("- (when room.temperature > 30; notify) %s\n" % text)
            spell(board, HOT, 120)
            self.assertTrue(texts(board)[0].startswith(wanted), texts(board))

    def test_an_owner_with_imperial_units_reads_those(self):
        board = sim.Board(FREEZER, units="imperial")
        spell(board, HOT, 600)
        spell(board, COOL, 600)
        began, ended = texts(board)
        self.assertEqual(
            began,
            "The freezer is getting warm! room.temperature 95.36 \u00b0F (limit 86)",
        )
        for part in ("82.04 \u00b0F (limit 86)", "highest 95.36 \u00b0F"):
            self.assertTrue(part in ended, ended)
        report = asyncio.run(status.heartbeat(board.service))
        self.assertTrue("room.temperature > 86 (now 82.04)" in report, report)

    def test_a_model_reads_the_owner_s_units_too(self):
        board = sim.Board(MODEL, units="imperial")
        board.reply = sim.Result("It is 95.36 degrees: open a window.")
        spell(board, HOT, 600)
        prompt = board.turns[0][1]
        self.assertTrue("room.temperature 95.36 > 86 for 180 s (\u00b0F)" in prompt, prompt)
        self.assertEqual(texts(board), ["It is 95.36 degrees: open a window."])

    def test_a_difference_has_no_zero(self):
        text = "- (when room.temperature drops by 5 within 2h; notify) Cold\n"
        board = sim.Board(text, units="imperial")
        spell(board, 20, 600)
        spell(board, 14, 600)
        self.assertTrue("drops by 9 within" in texts(board)[0], texts(board))

    def test_the_digest_comes_at_the_second_they_end(self):
        board = sim.Board(FREEZER.replace("5s", "3h"), **NIGHT)
        spell(board, HOT, 7 * 3600)
        board.pass_time(2 * 3600, longest_s=86400)
        self.assertEqual(board.sent[0][0] % 86400, 8 * 3600)

    def test_a_model_is_asked_when_they_end(self):
        board = sim.Board(MODEL, **NIGHT)
        board.reply = sim.Result("Open a window.")
        spell(board, HOT, 7 * 3600)
        self.assertEqual(board.turns, [])
        self.assertTrue("held until 08:00" in [line.get("why") for line in board.lines()])
        spell(board, HOT, 3700)
        self.assertEqual((len(board.turns), texts(board)), (1, [OPEN]))

    def test_a_model_is_not_asked_for_what_is_over(self):
        board = sim.Board(MODEL, **NIGHT)
        spell(board, HOT, 3600)
        spell(board, 20, 8 * 3600)
        self.assertEqual(board.turns, [])
        self.assertEqual(len(texts(board)), 1)
        self.assertTrue("Too hot" in texts(board)[0], texts(board))

    def test_urgent_goes_through(self):
        board = sim.Board(SLOW.replace("notify", "notify; urgent"), **NIGHT)
        spell(board, HOT)
        self.assertEqual(texts(board), [WARM])

    def test_own_hours_win(self):
        board = sim.Board(SLOW.replace("notify", "notify; hours 00:00-24:00"), **NIGHT)
        spell(board, HOT)
        self.assertEqual(texts(board), [WARM])
        board = sim.Board(SLOW.replace("notify", "notify; hours 01:00-02:00"))
        spell(board, HOT, 3590)
        self.assertEqual(texts(board), [])
        spell(board, HOT)
        self.assertEqual(texts(board), [WARM])
        # An episode that has begun is followed to its end.
        spell(board, HOT, 7200)
        spell(board, COOL)
        self.assertEqual(len(texts(board)), 2)

    def test_an_edit_at_night_loses_nothing(self):
        board = sim.Board(SLOW, **NIGHT)
        spell(board, HOT)
        board.write("# Heartbeat\n")
        board.pass_time(9 * 3600)
        self.assertEqual(len(texts(board)), 1)


class Edits(unittest.TestCase):
    def test_another_text_is_the_same_alarm(self):
        board = sim.Board(FREEZER)
        spell(board, HOT)
        board.write(FREEZER.replace("warm", "hot").replace("28", "27"))
        spell(board, HOT)
        self.assertEqual(texts(board), [WARM])
        spell(board, 26)
        self.assertEqual(len(texts(board)), 2)

    def test_an_edit_is_seen_within_5_seconds_on_a_running_board(self):
        hourly = "- (every 1h; when room.temperature > 30; notify) Hot!\n"
        board = sim.Board(hourly, case=self)
        board.readings["room"]["temperature"] = HOT
        board.pass_time(60)
        self.assertEqual(texts(board), [])
        began = board.clock.utc
        edited = []
        nexts = []

        async def wait(event, seconds):
            # The real loop, on a clock that is moved.
            self.assertTrue(0 < seconds <= 5, seconds)
            if edited and not nexts and board.service.tasks[0].every_s == 60:
                self.assertTrue(board.clock.utc - edited[0] <= 5)
                last = asyncio.run(status.why(board.service)).split("\n")[-1]
                left_s = int(last.split(" ")[2])
                self.assertTrue(0 < left_s <= 60, last)
                nexts.append(board.clock.utc + left_s)
            elif board.sent:
                raise Stop
            elif not edited and board.clock.utc - began >= 20:
                edited.append(board.clock.utc)
                board.write(hourly.replace("1h", "60s"))
            board.clock.pass_s(seconds)
            event.clear()
            return False

        before = schedule_service._wait
        schedule_service._wait = wait
        try:
            self.assertRaises(Stop, sim.drive, board.service.service())
        finally:
            schedule_service._wait = before
        # When it was said to, and not later.
        self.assertEqual(board.sent, [(nexts[0], "Hot!" + AT_30)])

    def test_an_alarm_that_is_taken_out_says_so(self):
        board = sim.Board(FREEZER)
        spell(board, HOT)
        board.write("# Heartbeat\n")
        board.pass_time(60)
        self.assertEqual(len(board.notices), 1)
        self.assertTrue("no longer watched" in board.notices[0], board.notices)


class Commands(unittest.TestCase):
    def board(self):
        board = sim.Board("# H\n" + SLOW.replace("notify", "notify; repeat 1h"))
        spell(board, HOT, 120)
        return board

    def test_the_list_names_state_and_waiting_reset(self):
        board = self.board()
        line = alarms(board)
        number = alarm(board)[0]
        self.assertEqual(
            line,
            (
                "alarm %d: active since 00:00, waits for reset 28; room.temperature > 30 (now "
                "35.2 \u00b0C); %s\ntimes are UTC+00:00"
            )
            % (number, "The freezer is getting warm!"),
        )
        self.assertTrue("waits for reset 28" in asyncio.run(status.heartbeat(board.service)))
        self.assertTrue("waits for reset 28" in asyncio.run(status.why(board.service)))
        found = json.loads(alarms(board, "json"))
        self.assertEqual((found["value"], found["line"], found["alarm"]), (HOT, 2, number))

    def test_times_have_their_zone(self):
        board = sim.Board(SLOW, tz="IST-5:30")
        self.assertFalse("UTC" in alarms(board))
        spell(board, HOT, 60)
        self.assertTrue(alarms(board).endswith("\ntimes are UTC+05:30"), alarms(board))
        self.assertFalse("UTC" in alarms(board, "json"))
        why = alarms(board, "why %d" % alarm(board)[0]).split("\n")[-1]
        self.assertTrue("last told 20" in why and why.endswith("; times are UTC+05:30"), why)
        board.clock.trusted = False
        self.assertFalse("UTC" in alarms(board))

    def test_data_of_nothing_is_not_nothing(self):
        board = sim.Board(None)
        self.assertEqual(alarms(board, "json"), "[]")
        self.assertEqual(asyncio.run(status.heartbeat(board.service, "json")), "[]")
        self.assertTrue(
            "now: disabled (no HEARTBEAT.md)" in asyncio.run(status.heartbeat(board.service))
        )

    def test_equal_decisions_are_one_line(self):
        board = sim.Board(SLOW)
        spell(board, 20, 3600)
        lines = asyncio.run(status.why(board.service)).split("\n")
        self.assertEqual(len(lines), 2)
        self.assertTrue("no condition met (1 checked) (\u00d740 since 00:" in lines[0], lines)
        found = [
            json.loads(line) for line in asyncio.run(status.why(board.service, "json")).split("\n")
        ]
        self.assertEqual((found[0]["times"], found[0]["task"]), (40, "line 1"))

    def test_what_is_acknowledged_is_not_repeated_and_its_end_is_told(self):
        board = self.board()
        number = alarm(board)[0]
        answer = alarms(board, "ack %d" % number)
        self.assertTrue(answer.startswith("Acknowledged"), answer)
        board.boot()
        spell(board, HOT, 7200)
        self.assertEqual(texts(board), [WARM])
        self.assertTrue("acknowledged since" in alarms(board))
        spell(board, COOL, 120)
        self.assertEqual(len(texts(board)), 2)

    def test_what_happens_while_muted_is_told_afterwards(self):
        board = self.board()
        number = alarm(board)[0]
        self.assertTrue(alarms(board, "mute %d" % number).startswith("Muted for 1 h"))
        spell(board, COOL, 600)
        spell(board, HOT, 600)
        self.assertEqual(texts(board), [WARM])
        board.boot()
        spell(board, HOT, 3600)
        self.assertEqual(texts(board)[1:2], [NORMAL % "2 min"])
        self.assertEqual(texts(board)[2:3], [WARM])
        self.assertTrue(alarms(board, "mute line 2 2h").startswith("Muted for 2 h"))
        alarms(board, "unmute line 2")
        self.assertEqual(board.service.tasks[0].condition.muted, 0)

    def test_wrong_words_are_answered(self):
        board = self.board()
        for words, part in (
            ("mute", "expected:"),
            ("shout 7", "expected:"),
            ("ack 7", "There is no alarm 7"),
            ("mute line 2 ever", "no duration"),
            ("why line 2", "still: room.temperature 35.2 \u00b0C (limit 30); 1 min"),
        ):
            answer = alarms(board, words)
            self.assertTrue(part in answer, answer)


TWO = (
    "- (every 5s; when room.temperature > 30; notify) Warm\n"
    "- (every 5s; when room.temperature > 40; notify) FIRE RISK\n"
)
README = "- (every 1m; when room.temperature > 30 reset 28) The room is too warm.\n"


class Names(unittest.TestCase):
    def test_the_end_of_one_alarm_is_no_all_clear_while_another_goes_on(self):
        board = sim.Board(TWO, name="kitchen")
        for degrees in (35, 41, 35, 20):
            spell(board, degrees)
        self.assertEqual(
            texts(board),
            [
                "kitchen: Warm: room.temperature 35 \u00b0C (limit 30)",
                "kitchen: FIRE RISK: room.temperature 41 \u00b0C (limit 40)",
                (
                    'kitchen: over: "FIRE RISK"; room.temperature 35 \u00b0C (limit 40); 1 min, '
                    'highest 41 \u00b0C. Still active: "Warm" (limit 30).'
                ),
                (
                    'kitchen: back to normal: "Warm"; room.temperature 20 \u00b0C (limit 30); '
                    "3 min, highest 41 \u00b0C"
                ),
            ],
        )

    def test_an_alarm_that_was_not_looked_at_yet_is_no_all_clear_either(self):
        for other in ("every 1h", "every 5s; when room.temperature > 30 for 1h"):
            slow = "- (%s; when room.temperature > 30; notify) Warm\n" % other
            if "for" in other:
                slow = "- (%s; notify) Warm\n" % other
            board = sim.Board(TWO.split("\n")[1] + "\n" + slow)
            for degrees in (20, 41, 35):
                spell(board, degrees)
            self.assertTrue(texts(board)[1].startswith("over: "), texts(board))
            self.assertTrue('"Warm" (limit 30)' in texts(board)[1], texts(board))

    def test_each_kind_of_limit_is_named(self):
        for condition, reading, expected in (
            (
                "room.temperature outside 17-26",
                30,
                "X: room.temperature 30 \u00b0C (limits 17 to 26)",
            ),
            ("leak.wet is on", 1, "X: leak.wet 1 (alarm at 1)"),
            ("door.open is not 0", 1, "X: door.open 1 (alarm unless 0)"),
            (
                "rack.temperature > 27 and rack.level > 60",
                70,
                ("X: rack.temperature 70 \u00b0C (limit 27) and rack.level 70 % (limit 60)"),
            ),
        ):
            board = sim.Board("- (every 5s; when %s; notify) X\n" % condition)
            names = ("temperature", "wet", "open", "level")
            for sensor in ("room", "leak", "door", "rack"):
                board.readings[sensor] = dict.fromkeys(names, reading)
            board.pass_time(10)
            self.assertEqual(texts(board), [expected])

    def test_a_repetition_has_the_text_with_the_value_now(self):
        board = sim.Board(
            "- (every 5s; when tank.level < 20; notify; repeat 1h) Tank low: {tank.level}\n"
        )
        board.readings["tank"] = {"level": 12}
        board.pass_time(1800)
        board.readings["tank"] = {"level": 8}
        board.pass_time(1900)
        self.assertEqual(
            texts(board)[1],
            'still: "Tank low: 8 %"; tank.level 8 % (limit 20); 1 h, lowest 8 %',
        )

    def test_the_words_of_a_model_name_the_board_too(self):
        board = sim.Board(README, name="kitchen")
        board.reply = sim.Result("Open a window.")
        spell(board, HOT, 120)
        self.assertEqual(texts(board), ["kitchen: " + OPEN])

    def test_answers_name_the_alarm_and_what_else_is_active(self):
        board = sim.Board(TWO, name="kitchen")
        spell(board, 41)
        number = alarm(board, 1)[0]
        self.assertEqual(
            alarms(board, "ack %d" % number),
            (
                'kitchen: Acknowledged: "FIRE RISK"; room.temperature 41 \u00b0C (limit 40). I '
                'will say when it is over. Still active: "Warm" (limit 30).'
            ),
        )
        self.assertEqual(
            alarms(board, "mute line 1 2h"),
            (
                'kitchen: Muted for 2 h: "Warm"; room.temperature 41 \u00b0C (limit 30). You will '
                "hear of events afterwards."
            ),
        )

    def test_the_list_shows_no_templates(self):
        board = sim.Board("- (when tank.level < 20; notify) Tank low: {tank.level:.1f}\n")
        board.readings["tank"] = {"level": 12}
        board.pass_time(120)
        self.assertTrue("; Tank low: 12.0 %\n" in alarms(board), alarms(board))

    def test_a_digest_names_the_board_once(self):
        board = sim.Board(SLOW, name="kitchen", **NIGHT)
        spell(board, HOT, 600)
        board.pass_time(8 * 3600)
        lines = texts(board)[0].split("\n")
        self.assertEqual(lines[0], "kitchen: While it was quiet (22:00-08:00):")
        self.assertEqual(lines[1], "00:00-now " + WARM + "; now 35.2 \u00b0C")


class FirstMessages(unittest.TestCase):
    def test_the_first_message_of_an_episode_is_known_for_good(self):
        board = sim.Board(FREEZER)
        for mark, id in (("al:170", 8), ("al:17", 9001), ("al:17.1", 9005), ("ae:16", 9007)):
            board.service.confirm(mark, id)
        board.service.confirm("ab12", 9009)
        board.service.confirm("al:19")
        board.boot()
        board.flash.saved["said"].append('["al:18",1,90')
        board.flash.saved["said"].append('["al:18"')
        found = [
            board.service.first(mark) for mark in ("ae:17", "al:17.2", "ad:170", "al:1", "al:18")
        ]
        self.assertEqual(found, [9001, 9001, 8, None, None])
        self.assertEqual(
            (board.service.first("al:19"), board.service.first("al:16")), (None, None)
        )
        # It is evicted one day; the repetitions know it.
        board.flash.saved["said"] = board.flash.saved["said"][2:]
        self.assertEqual(board.service.first("ae:17"), 9001)
        board.service.confirm("ab12")
        self.assertEqual(len(board.flash.saved["said"]), 7)

    def test_its_state_stands_there(self):
        marked = []

        class Telegram:
            def mark(self, *args):
                marked.append(args)

        board = sim.Board(SLOW)
        board.telegram = Telegram()
        spell(board, HOT)
        id = str(alarm(board)[0])
        alarms(board, "ack " + id)
        # Its number is not known: it went elsewhere, or is long ago.
        self.assertEqual(marked, [])
        board.service.confirm("al:" + id, 9001)
        for words in ("ack %s by Ann", "mute %s 2h", "unmute %s", "why %s"):
            alarms(board, words % id)
        self.assertEqual(
            marked,
            [
                (9001, id, ["mute", "why"], "\u2713 acknowledged 00:01 by Ann"),
                (9001, id, ["unmute", "why"], "muted until 02:01"),
                (9001, id, ["mute", "why"], "\u2713 acknowledged"),
            ],
        )
        spell(board, COOL, 120)
        alarms(board, "ack line 1")
        self.assertEqual(len(marked), 3)


PASSED_ON = "- (every 1m; when room.temperature > 30; notify; escalate 15m to anna) Hot!\n"


class Escalation(unittest.TestCase):
    def board(self, text=PASSED_ON, **more):
        board = sim.Board(text)
        people = {
            "telegram.owner": "7",
            "telegram.allow": [2000],
            "telegram.token": "77:x",
            "people.anna": "2000",
            "people.eve": "3000",
            "people.bob": "",
        }
        board.settings.update(people)
        board.settings.update(more)
        board.mqtt = board.console = None
        self.to = []

        async def deliver(app, text, alert=False, channel=None, chat=None):
            self.to.append((alert[:2] + alert[-2:], channel, chat))
            return await board.deliver_alert(text, alert)

        board._deliver = deliver
        board.boot()
        return board

    def test_who_is_next_is_told_once_and_of_the_end(self):
        board = self.board()
        spell(board, HOT, 600)
        board.boot()
        spell(board, HOT, 7200)
        self.assertEqual(len(board.sent), 2, texts(board))
        self.assertEqual(
            texts(board)[1].split("); 1")[0],
            'not acknowledged for 15 min: "Hot!"; room.temperature 35.2 \u00b0C (limit 30',
        )
        self.assertTrue(900 <= board.sent[1][0] - board.sent[0][0] <= 1060)
        self.assertEqual(self.to[1], ("al.e", "telegram", "2000"))
        spell(board, COOL, 300)
        self.assertEqual(len(board.sent), 4, texts(board))
        self.assertEqual(texts(board)[2], texts(board)[3])
        self.assertEqual([one[2] for one in self.to], [None, "2000", None, "2000"])
        # The next episode is another one.
        spell(board, HOT, 1200)
        self.assertEqual(len(board.sent), 6)

    def test_an_answer_or_the_end_stops_it(self):
        for words in ("ack", "mute", None):
            board = self.board()
            spell(board, HOT, 840)
            if words:
                alarms(board, "%s %d" % (words, alarm(board)[0]))
            else:
                spell(board, COOL, 120)
            board.boot()
            spell(board, HOT if words else COOL, 7200)
            self.assertEqual([one for one in self.to if one[1]], [], words)

    def test_it_waits_for_quiet_hours_and_not_for_a_clock_or_a_sensor(self):
        board = self.board(**{"heartbeat.active_hours": "08:00-22:00"})
        spell(board, HOT, 7 * 3600)
        self.assertEqual(board.sent, [])
        spell(board, HOT, 2 * 3600)
        self.assertEqual([one[1] for one in self.to], [None, "telegram"])
        self.assertTrue(board.sent[1][0] % 86400 >= 8 * 3600 + 900)
        for jump in (-7200, 7200):
            board = self.board()
            spell(board, HOT, 300)
            board.clock.utc += jump
            board.readings.pop("room")
            board.pass_time(500)
            self.assertEqual(len(board.sent), 1)
            board.pass_time(300)
            self.assertEqual(len(board.sent), 2)

    def test_it_is_looked_at_in_time(self):
        board = self.board(PASSED_ON.replace("every 1m", "every 6h"))
        self.assertEqual(board.step()[0], "wait")
        self.assertEqual(board.service.tasks[0].every_s, 900)

    def test_a_power_cut_at_any_write_tells_the_next_one_once(self):
        for cut in range(10):
            board = self.board()
            spell(board, HOT, 600)
            board.flash.cut_in = cut
            for degrees in (HOT, COOL):
                board.readings["room"]["temperature"] = degrees
                try:
                    board.pass_time(700)
                except sim.PowerCut:
                    unsure = board.marks[-1:]
                    board.boot()
                    board.pass_time(600)
                    if unsure and board.marks.count(unsure[0]) == 2:
                        board.marks.remove(unsure[0])
            marks = [mark for mark in board.marks if mark[-2:] == ".e"]
            self.assertEqual([mark[:2] for mark in marks], ["al", "ae"], (cut, board.marks))

    def test_channels_and_names(self):
        board = self.board()
        for name, to in (
            ("telegram", ("telegram", "7")),
            ("mqtt", ()),
            ("console", ()),
            ("anna", ("telegram", "2000")),
            ("eve", ()),
            ("bob", ()),
        ):
            self.assertEqual(heartbeat_tasks.next_one(board, name), to)
        board.mqtt = board
        board.owner = "answer"
        self.assertEqual(heartbeat_tasks.next_one(board, "mqtt"), ("mqtt", "answer"))

    def test_an_unknown_name_is_refused_and_the_alarm_works(self):
        board = self.board(PASSED_ON.replace("anna", "eve"))
        spell(board, HOT, 1200)
        (notice,) = board.notices
        self.assertTrue("line 1: nobody is called eve: " in notice, notice)
        self.assertTrue('"people.eve" in config.json' in notice, notice)
        self.assertEqual([one[1] for one in self.to], [None, None])
        self.assertTrue("nobody is called eve" in asyncio.run(board.service.understood([])))

    def test_wrong_clauses(self):
        for text, part in (
            ("(when a.b > 1; escalate)", "such as escalate 15m to anna"),
            ("(when a.b > 1; escalate 15m)", "such as escalate 15m to anna"),
            ("(when a.b > 1; escalate 15m to anna bob)", "such as escalate 15m to anna"),
            ("(every 1h; escalate 15m to anna)", "escalate is for alarms"),
        ):
            problem = clauses.parse_clauses(text + " X")[2]
            self.assertTrue(part in str(problem), problem)


class Charts(unittest.TestCase):
    def test_a_chart_gets_the_value_of_the_beginning_and_the_one_now(self):
        board = sim.Board(SLOW.replace("notify", "notify; chart; repeat 1h"))
        board.wanted = []
        board.chart = lambda *wanted: board.wanted.append(wanted)
        board.deliver = lambda channel, chat, text, alert: ["1"]
        board.owner = lambda: ("telegram", "7")
        board.service.deliver = None
        board.settings.update({"heartbeat.channel": "", "heartbeat.chat": ""})

        async def nothing(*_):
            return None

        remember = background.remember
        background.remember = nothing
        try:
            spell(board, HOT, 120)
            spell(board, 33, 3700)
        finally:
            background.remember = remember
        began, last = board.wanted[0][5][0], board.wanted[1][5]
        self.assertEqual(board.wanted[0][:5], ("room.temperature", 86400, "telegram", "7", False))
        self.assertEqual((began[1], last[0], last[1][1]), (HOT, began, 33))
        self.assertTrue(3600 <= last[1][0] - began[0] <= 3700, last)


class Promises(unittest.TestCase):
    def test_the_end_is_told_where_it_was_promised(self):
        for words, told in (("ack", 2), ("mute", 2), ("why", 1)):
            board = sim.Board(README)
            board.reply = sim.Result("Open a window.")
            spell(board, HOT, 120)
            answer = alarms(board, "%s %d" % (words, alarm(board)[0]))
            self.assertEqual("say when it is over" in answer, words == "ack")
            board.boot()
            spell(board, 20, 7200)
            self.assertEqual(len(board.sent), told, words)
            if told == 2:
                self.assertTrue(
                    texts(board)[1].startswith('back to normal: "The room is too warm."; room.')
                )
            # The next episode knows of no promise.
            spell(board, HOT, 120)
            spell(board, 20, 120)
            self.assertEqual(len(board.sent), told + 1)

    def test_a_drop_that_was_acknowledged_ends_too(self):
        board = sim.Board("- (every 5m; when tank.level drops by 15 within 1h; notify) A leak.\n")
        for level in (80, 60):
            board.readings["tank"] = {"level": level}
            board.pass_time(900)
        alarms(board, "ack %d" % alarm(board)[0])
        board.pass_time(2 * 3600)
        self.assertEqual(len(board.sent), 2)
        self.assertTrue(texts(board)[1].startswith('back to normal: "A leak."'), texts(board))


class MovedLimits(unittest.TestCase):
    def edited(self, degrees, before, after, boots=False):
        line = "- (every 5s; when room.temperature %s; notify) Hot!\n"
        board = sim.Board(line % before)
        spell(board, degrees)
        board.write(line % after)
        if boots:
            board.boot()
        spell(board, degrees)
        return board

    def test_a_limit_that_moves_over_the_value_is_no_back_to_normal(self):
        for boots in (False, True):
            for degrees, before, after, head in (
                (35, "> 30", "> 50", "its limit is 50 now"),
                (5, "< 10", "< 2", "its limit is 2 now"),
                (28, "outside 17..26", "outside 17..40", "its limits are 17 to 40 now"),
            ):
                board = self.edited(degrees, before, after, boots)
                self.assertTrue(
                    texts(board)[1].startswith('no longer an alarm: %s; "Hot!"; room.' % head),
                    texts(board),
                )

    def test_a_value_that_falls_is_back_to_normal_under_any_limit(self):
        board = self.edited(35, "> 30", "> 33")
        self.assertEqual(len(board.sent), 1)
        spell(board, 31)
        self.assertTrue(texts(board)[1].startswith("back to normal: "), texts(board))
        board = self.edited(35, "> 30", ">= 32")
        self.assertEqual((len(board.sent), board.notices), (1, []))


class ClockJumps(unittest.TestCase):
    REPEATS = SLOW.replace("notify", "notify; repeat 1h")

    def test_repetitions_go_on_when_the_clock_goes_back(self):
        for jump, boots in ((-10800, False), (10800, False), (-10800, True)):
            board = sim.Board(self.REPEATS)
            spell(board, HOT, 1800)
            board.clock.utc += jump
            if boots:
                board.boot()
            spell(board, HOT, 1700)
            self.assertEqual(len(board.sent), 1, (jump, boots))
            spell(board, HOT, 2100)
            self.assertEqual(len(board.sent), 2, (jump, boots))
            if not boots:
                self.assertTrue("; 1 h, highest" in texts(board)[1], texts(board))

    def test_a_mute_is_no_longer_than_it_was_meant(self):
        for jump in (-2 * 3600, 2 * 3600):
            board = sim.Board(self.REPEATS.replace("1h", "10m"))
            spell(board, HOT, 120)
            alarms(board, "mute %d" % alarm(board)[0])
            board.clock.utc += jump
            spell(board, HOT, 3300)
            self.assertEqual(len(board.sent), 1, jump)
            spell(board, HOT, 400)
            self.assertEqual(len(board.sent), 2, jump)

    def test_neither_is_one_over_a_reboot_with_a_clock_that_went_back(self):
        for trusted in (True, False):
            board = sim.Board(self.REPEATS.replace("1h", "10m"))
            spell(board, HOT, 120)
            alarms(board, "mute %d" % alarm(board)[0])
            board.clock.utc = 946684800 if not trusted else board.clock.utc - 2 * 3600
            board.boot(trusted)
            spell(board, HOT, 3500)
            self.assertEqual(len(board.sent), 1, trusted)
            spell(board, HOT, 500)
            self.assertEqual(len(board.sent), 2, trusted)

    def test_a_mute_goes_on_when_the_clock_is_set(self):
        board = sim.Board(self.REPEATS, utc=946684800, trusted=False)
        spell(board, HOT, 7200)
        told = len(board.sent)
        alarms(board, "mute %d" % alarm(board)[0])
        spell(board, HOT, 600)
        board.clock.utc = sim.START
        board.clock.trusted = True
        spell(board, HOT, 2900)
        self.assertEqual(len(board.sent), told)
        spell(board, HOT, 200)
        self.assertEqual(len(board.sent), told + 1)

    def test_a_sensor_answers_again_also_after_the_clock_went_back(self):
        board = sim.Board(FREEZER)
        board.readings.pop("room")
        board.pass_time(600)
        board.clock.utc -= 7200
        board.readings["room"] = {"temperature": 20}
        board.pass_time(120)
        self.assertEqual(len(board.notices), 2, board.notices)


class Typos(unittest.TestCase):
    def typo(self, wrong, right=FREEZER, boots=False, quiet_s=60):
        board = sim.Board(FREEZER)
        spell(board, HOT)
        board.write(wrong)
        spell(board, HOT, quiet_s)
        if boots:
            board.boot()
        board.write(right)
        spell(board, HOT)
        self.assertEqual(texts(board), [WARM])
        spell(board, COOL)
        self.assertEqual(len(texts(board)), 2)
        return board

    def test_a_typo_and_its_repair_do_not_tell_an_episode_twice(self):
        for boots in (False, True):
            for wrong in (
                FREEZER.replace("every", "evry"),
                FREEZER.replace("notify", "notifi"),
                FREEZER.replace("> 30", "> plenty"),
                FREEZER.replace(")", "", 1),
            ):
                board = self.typo(wrong, boots=boots)
                self.assertEqual(len(board.notices), 1, board.notices)
            # Repaired with another text.
            self.typo(
                FREEZER.replace("every", "evry"),
                FREEZER.replace("notify", "notify; urgent"),
                boots,
            )

    def test_neither_does_one_that_is_no_mistake_of_form(self):
        for boots in (False, True):
            for wrong in (
                FREEZER.replace("room.", "rom."),
                FREEZER.replace("temperature", "temprature"),
                FREEZER.replace("> 30 reset 28", "< 3 reset 8"),
                "# Heartbeat\n",
            ):
                self.typo(wrong, boots=boots)

    def test_an_item_that_is_gone_takes_no_later_alarm_with_it(self):
        board = sim.Board(SLOW)
        spell(board, HOT, 600)
        board.write("# Heartbeat\n")
        spell(board, HOT, 600)
        self.assertEqual(len(board.notices), 1)
        fire = "- (every 10m; when room.temperature > 33; notify) Fire!\n"
        board.write(fire)
        spell(board, HOT, 600)
        self.assertEqual(len(board.sent), 2)
        self.assertTrue(texts(board)[1].startswith("Fire!"), texts(board))
        # A day later it is new.
        board.pass_time(90000, longest_s=3600)
        board.write(fire + SLOW)
        spell(board, HOT, 600)
        self.assertEqual((len(board.sent), len(board.notices)), (3, 1))
        self.assertEqual(board.service.saved, {})

    def test_an_edit_of_one_alarm_gives_its_episode_to_no_neighbor(self):
        board = sim.Board(TWO.replace("30", "30 for 10h"))
        spell(board, 41)
        number = alarm(board, 1)[0]
        board.write(TWO.replace("30", "30 for 10h").replace("RISK", "RISK!"))
        spell(board, 41)
        self.assertEqual(len(board.sent), 1)
        self.assertEqual((alarm(board, 0), alarm(board, 1)[0]), (None, number))

    def test_a_wrong_line_is_told_once_whatever_else_is_edited(self):
        board = sim.Board("- (evry 10m) Look.\n")
        board.pass_time(60)
        for text in (
            "# Heartbeat\n- (evry 10m) Look.\n",
            "# Heartbeat\n- (hourly) Check.\n- (evry 10m) Look.\n",
            "- (evry 10m) Look at it.\n- (hourly) Check.\n",
        ):
            board.write(text)
            board.pass_time(60)
            board.boot()
            board.pass_time(60)
        self.assertEqual(len(board.notices), 1, board.notices)
        board.write("- (evry 10m) Look.\n- (> 35 \u00b0C) Hot.\n- (evry 10m) Again.\n")
        board.pass_time(60)
        # A second one with the same mistake is another one.
        self.assertEqual(len(board.notices), 2, board.notices)
        self.assertFalse("line 1:" in board.notices[1], board.notices)
        self.assertTrue("line 2:" in board.notices[1] and "line 3:" in board.notices[1])
        board.write("- (evry 10m) Look.\n- (hourly) Check.\n")
        board.pass_time(60)
        self.assertEqual(len(board.notices), 2, board.notices)


class Mistakes(unittest.TestCase):
    def test_what_is_not_understood_is_off_told_once_and_never_paid(self):
        board = sim.Board("- (evry 10m) Look.\n- (hourly) Check.\n- (> 35 \u00b0C) Hot.\n")
        board.pass_time(2 * 3600, longest_s=600)
        self.assertEqual(len(board.notices), 1)
        for part in (
            'line 1: "evry 10m"',
            'did you mean "every 10m"',
            "line 3: ",
            "the line is off",
        ):
            self.assertTrue(part in board.notices[0], board.notices)
        said = asyncio.run(board.service.understood([]))
        self.assertTrue('line 1: off: "evry 10m"' in said and "line 3: off: " in said, said)
        self.assertTrue(1 <= len(board.turns) <= 3)
        self.assertFalse(
            [1 for _, prompt, _ in board.turns if "Look" in prompt or "Hot" in prompt]
        )


class Settings(unittest.TestCase):
    def target(self, channel="", chat="", mqtt=None):
        told = []

        class App:
            console = None
            agent = None

            def get(self, name):
                known = {"heartbeat.channel": channel, "heartbeat.chat": chat}
                return known.get(name, "7" if name == "telegram.owner" else "token")

            def owner(self):
                return "telegram", "7"

            def deliver(self, channel, chat, text, alert):
                told.append((channel, chat))
                return [None]

        app = App()
        app.config = app
        app.mqtt = mqtt
        try:
            sim.drive(background.deliver(app, "Hot!", True))
        except OSError:
            pass
        return told[0]

    def test_alerts_go_where_the_settings_say(self):
        class Mqtt:
            owner = "tenner/say"

        self.assertEqual(self.target(), ("telegram", "7"))
        self.assertEqual(self.target(chat="-100"), ("telegram", "-100"))
        self.assertEqual(self.target("mqtt", "", Mqtt), ("mqtt", "tenner/say"))
        # A channel that is not set up would keep it forever.
        self.assertEqual(self.target("mqtt"), ("telegram", "7"))


class Sensors(unittest.TestCase):
    def test_a_loose_wire_is_one_notice_and_one_end(self):
        board = sim.Board(FREEZER)
        for _ in range(12):
            board.readings.pop("room", None)
            board.pass_time(5)
            board.readings["room"] = {"temperature": 20}
            board.pass_time(5)
        self.assertEqual(len(board.notices), 1)
        board.pass_time(120)
        self.assertEqual(len(board.notices), 2)
        self.assertTrue("answers again; it failed" in board.notices[1], board.notices)

    def test_the_value_of_a_silent_sensor_is_old(self):
        board = sim.Board(FREEZER)
        board.pass_time(20)
        self.assertIn("(now 21.5)", asyncio.run(status.heartbeat(board.service)))
        del board.readings["room"]
        board.pass_time(24 * 60 + 10)
        self.assertIn("(21.5, old: 24 min)", asyncio.run(status.heartbeat(board.service)))
        self.assertIn("(21.5 \u00b0C, old: 24 min)", alarms(board))
        board.readings["room"] = {"temperature": 21.5}
        board.pass_time(120)
        self.assertIn("(now 21.5)", asyncio.run(status.heartbeat(board.service)))

    def test_a_notice_is_a_sentence(self):
        board = sim.Board(FREEZER)
        board.readings["room"] = {"s": "text", "ok": 1}
        board.pass_time(60)
        self.assertEqual(
            board.notices,
            [
                (
                    "I cannot read the sensor room (HEARTBEAT.md line 1): it gives no number "
                    "temperature; it gives ok, s. Its alarms wait until it answers."
                )
            ],
        )


if __name__ == "__main__":
    unittest.main()
