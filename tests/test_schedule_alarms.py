# tenner tests: an alarm is told every time, once, and ends.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json
import unittest

import schedule_sim as sim
from tenner.agent import background
from tenner.agent.errors import LaneBusy
from tenner.schedule import alarm_commands, status
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
WARM = "The freezer is getting warm!"


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
    return asyncio.run(alarm_commands.command(board.service, args))


class Episodes(unittest.TestCase):
    def test_every_episode_is_told_once_and_ends_once(self):
        board = sim.Board(FREEZER)
        for degrees in (21, HOT, COOL, HOT, COOL, HOT):
            spell(board, degrees)
        end = "back to normal: room.temperature 27.8; 1 min, highest 35.2"
        self.assertEqual(texts(board), [WARM, end, WARM, end, WARM])

    def test_a_condition_without_reset_does_not_storm(self):
        board = sim.Board("- (every 5s; when room.temperature > 30; notify) Hot!\n")
        spell(board, HOT, 3600)
        self.assertEqual(texts(board), ["Hot!"])
        # Values that tremble round the number are one episode.
        for degrees in (29.9, 29.8, 30.1) * 20:
            spell(board, degrees, 5)
        self.assertEqual(texts(board), ["Hot!"])
        spell(board, 29)
        self.assertEqual(len(texts(board)), 2)

    def test_a_trigger_takes_nothing_from_the_real_alarm(self):
        board = sim.Board(FREEZER)
        board.step(True)
        self.assertEqual(texts(board), [])
        # By its line it is sent with the condition unmet, and is no episode.
        board.step((1,))
        board.pass_time(60)
        self.assertEqual((texts(board), alarm(board)), ([WARM], None))
        spell(board, HOT)
        self.assertEqual(texts(board), [WARM] * 2)

    def test_a_model_is_asked_once_an_episode(self):
        board = sim.Board(MODEL)
        board.reply = sim.Result("Open a window.")
        spell(board, HOT, 6 * 3600)
        self.assertEqual((len(board.turns), texts(board)), (1, ["Open a window."]))
        spell(board, 20, 600)
        self.assertEqual(len(texts(board)), 1)
        # The same answer is told again: it is another episode.
        spell(board, HOT, 600)
        self.assertEqual((len(board.turns), texts(board)), (2, ["Open a window."] * 2))

    def test_resolve_tells_the_end_of_a_model_s_alarm(self):
        board = sim.Board("- (every 1m; when room.temperature > 30; resolve) Too hot.\n")
        board.reply = sim.Result("Open a window.")
        spell(board, HOT, 600)
        spell(board, 20, 600)
        self.assertEqual((len(board.turns), len(board.sent)), (1, 2))
        self.assertTrue(texts(board)[1].startswith("back to normal: room.temperature 20; 1"))

    def test_an_alarm_that_lasts_repeats(self):
        board = sim.Board(SLOW.replace("notify", "notify; repeat 1h"))
        spell(board, HOT, 3 * 3600 + 100)
        self.assertEqual(texts(board)[0], WARM)
        self.assertEqual(len(texts(board)), 4)
        self.assertEqual(texts(board)[1], "still room.temperature 35.2 > 30; 1 h, highest 35.2")

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
            self.assertEqual(texts(board), ["Hot!"], trusted)
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
        board.units = {}
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
        self.assertEqual(texts(board), ["A leak: 65"])
        self.assertTrue(largest < 700, largest)

    def test_a_clock_that_is_set_back_makes_nothing_wait(self):
        board = sim.Board("- (every 1m; when room.temperature > 30 for 10m; notify) Hot!\n")
        spell(board, HOT, 480)
        board.clock.utc -= 86400
        board.boot()
        spell(board, HOT, 720)
        self.assertEqual(texts(board), ["Hot!"])
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
        self.assertEqual(texts(board), ["Moved."] * 2)

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
        self.assertEqual(lines[1], "01:00 " + WARM)
        self.assertEqual(
            lines[2], "01:10 back to normal: room.temperature 27.8; 10 min, highest 35.2"
        )
        self.assertEqual(lines[3], "01:20 " + WARM)
        self.assertEqual(lines[4], "Still active: room.temperature 35.2 > 30")
        self.assertEqual(board.sent[0][0] % 86400 // 60, 480)
        spell(board, COOL)
        self.assertEqual(len(texts(board)), 2)

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
        self.assertEqual((len(board.turns), texts(board)), (1, ["Open a window."]))

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
        self.assertEqual(board.sent, [(nexts[0], "Hot!")])

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
                "35.2); %s"
            )
            % (number, WARM),
        )
        self.assertTrue("waits for reset 28" in asyncio.run(status.heartbeat(board.service)))
        self.assertTrue("waits for reset 28" in asyncio.run(status.why(board.service)))
        found = json.loads(alarms(board, "json"))
        self.assertEqual((found["value"], found["line"], found["alarm"]), (HOT, 2, number))

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
        self.assertEqual(
            texts(board)[1:2], ["back to normal: room.temperature 27.8; 2 min, highest 35.2"]
        )
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
            ("why line 2", "still room.temperature 35.2 > 30"),
        ):
            answer = alarms(board, words)
            self.assertTrue(part in answer, answer)


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
        self.assertEqual(board.service.check(), "\n" + board.notices[0])
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
