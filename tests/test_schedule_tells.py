# tenner tests: an alarm and a reminder need no answer of a model.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json
import unittest

import schedule_sim as sim
from support import run, temp_folder
from tenner.agent import context
from tenner.agent.errors import LaneBusy, Preempted
from tenner.schedule.strip_ack import unusable

sim.quiet()

PUMP = "- (every 5s; when room.temperature > 30 reset -1) The pump room is wet: tell me.\n"
FACT = "room.temperature 31.5 °C (limit 30): The pump room is wet: tell me. (at 00:00; "
JOB = {
    "id": "basil",
    "schedule": {"kind": "every", "every_seconds": 600},
    "payload": {"kind": "agent_turn", "message": "Tell me to water the basil."},
}
BASIL = "Tell me to water the basil. (the model did not answer: "
# Replies that tell nothing, and why.
NOTHING = (
    ("", "it sent no text"),
    (" \n\t", "it sent no text"),
    ("\u200b", "it sent no text"),
    ("...", "it sent no text"),
    ("**", "it sent no text"),
    ("<think>It is hot.</think>", "it sent no text but its reasoning"),
    ("<thought>\nIt is hot.", "it sent no text but its reasoning"),
    ("HEARTBEAT_OK", "it answered that there was nothing to report"),
    ("heartbeat_ok", "it answered that there was nothing to report"),
    ("**HEARTBEAT_OK**.", "it answered that there was nothing to report"),
    ("Heartbeat OK", "it answered that there was nothing to report"),
    ("HEARTBEAT_OK\n\nAll is quiet.", "it answered that there was nothing to report"),
    ("HEARTBEAT\\_OK", "it answered that there was nothing to report"),
)
CALLS = (
    '<tool_call>\n{"name":"sensor","arguments":{"action":"read","name":"board"}}\n</tool_call>',
    "I look.\n<tool_call>\n<function=list_dir>\n</function>\n</tool_call>",
    "<function=list_dir>\n<parameter=path>\n.\n</parameter>\n</function>",
    '[TOOL_CALLS][{"name":"list_dir","arguments":{"path":"."}}]',
    '<minimax:tool_call>\n<invoke name="list_dir">\n</invoke>\n</minimax:tool_call>',
    '{"name": "list_dir", "parameters": {"path": "."}}',
    '```json\n{"name": "list_dir", "parameters": {"path": "."}}\n```',
    '[sensor(action="read")]',
    'sensor(action="read", name="board")',
    "```tool_code\nsensor.read()\n```",
    "<|python_tag|>sensor.read()",
)


def pump(reply=None, text=PUMP, **settings):
    board = sim.Board(text, **settings)
    board.readings["room"]["temperature"] = 31.5
    if reply is not None:
        board.reply = reply
    return board


def texts(board):
    return [one[1] for one in board.sent]


class Alarms(unittest.TestCase):
    def test_whatever_says_nothing_the_board_tells_it_once(self):
        for reply, why in NOTHING:
            board = pump(sim.Result(reply))
            board.pass_time(30)
            self.assertEqual(texts(board), [FACT + "the model did not answer: %s)" % why], reply)
            board.boot()
            board.pass_time(900)
            self.assertEqual((len(board.sent), len(board.turns)), (1, 1), reply)
        for reply in CALLS:
            board = pump(sim.Result(reply))
            board.pass_time(30)
            why = "it wrote a tool call as text"
            self.assertEqual(texts(board), [FACT + "the model did not answer: %s)" % why], reply)

    def test_a_text_is_a_text(self):
        for reply in (
            "Open a window.",
            "31.5",
            "It is hot (very).",
            "31.5 °C: no HEARTBEAT_OK here.",
            "Wrap it in `<think>` and `</think>`.",
            "<b>Hot</b>",
            "<think>It is.</think>Hot.",
            "(open a window)",
            "热",
        ):
            self.assertEqual(unusable(reply, "31.5"), None, reply)
            board = pump(sim.Result(reply))
            board.pass_time(300)
            about = "" if "31.5" in reply else "\nroom.temperature 31.5 °C (limit 30)."
            self.assertEqual(texts(board), [reply + about])

    def test_a_failure_names_the_alarm_at_once_and_its_value(self):
        error = "HTTP 400: Unsupported parameter."
        for outage in (True, False):
            board = pump(sim.Result(error=error))
            board.reply.outage = outage
            board.pass_time(20)
            self.assertEqual(
                texts(board), [FACT + "the model did not answer: HTTP 400: Unsupported parameter)"]
            )
            board.pass_time(900)
            self.assertEqual((len(board.sent), len(board.turns)), (1, 1))

    def test_the_notice_of_failures_names_the_alarm(self):
        line = "- (every 5s; when s%d.temperature > 30) Hot.\n"
        board = sim.Board("".join([line % n for n in (1, 2, 3)]))
        board.readings.update({"s%d" % n: {"temperature": 20} for n in (1, 2, 3)})
        board.reply = sim.Result(error="HTTP 429.")
        for n in (1, 2, 3):
            board.readings["s%d" % n]["temperature"] = 35
            board.pass_time(119)
        self.assertEqual(len(board.sent), 3, texts(board))
        self.assertEqual(len(board.notices), 1)
        self.assertTrue("alarm s3.temperature 35 > 30" in board.notices[0], board.notices)

    def test_a_bug_in_a_turn_loses_no_alarm(self):
        board = pump(KeyError("x"))
        board.pass_time(20)
        self.assertEqual(len(board.sent), 1)
        self.assertTrue(texts(board)[0].startswith(FACT))

    def test_a_model_that_decides_has_no_choice_about_an_alarm(self):
        board = pump(sim.Result("Open a window."), "- Check.\n" + PUMP, heartbeat__mode="decide")
        board.pass_time(60)
        self.assertEqual(texts(board), ["Open a window.\nroom.temperature 31.5 °C (limit 30)."])

    def test_each_alarm_is_told_once(self):
        text = PUMP + PUMP.replace("pump", "boiler") + "- Check.\n"
        board = pump(sim.Result("HEARTBEAT_OK"), text)
        board.pass_time(900)
        (one,) = texts(board)
        self.assertTrue(one.startswith("2 alarms:\n") and "pump" in one and "boiler" in one, one)
        # A text is about one of them.
        board = pump(lambda prompt: sim.Result("Hot: " + prompt.split(" room")[0][-4:]), text)
        board.pass_time(120)
        self.assertEqual(len(board.sent), 2, texts(board))
        self.assertEqual({mark[:3] for mark in board.marks}, {"al:"})

    def test_a_text_about_another_task_does_not_hide_the_alarm(self):
        board = sim.Board("- Check.\n- (every 30m; when room.temperature > 30) Hot.\n")
        board.readings["room"]["temperature"] = 31.5
        board.reply = sim.Result("The door is open.")
        board.pass_time(1800)
        self.assertEqual(texts(board), ["The door is open.\nroom.temperature 31.5 °C (limit 30)."])

    def test_templates_and_joined_conditions(self):
        text = (
            "- (every 5s; when rack.temperature > 27 and rack.humidity outside 20..60) "
            "Rack: {rack.temperature:.2f}, {rack.load}.\n"
        )
        board = sim.Board(text)
        board.readings["rack"] = {"temperature": 28.25, "humidity": 66, "load": 3}
        board.pass_time(20)
        self.assertEqual(
            texts(board)[0].split(" (at")[0],
            "rack.temperature 28.25 °C (limit 27) and rack.humidity 66 % (limits 20 to 60): "
            "Rack: 28.25 °C, 3.",
        )

    def test_a_model_is_asked_with_values_in_place_of_templates(self):
        board = pump(sim.Result("Hot."), PUMP.replace("wet", "at {room.temperature:.1f} {now}"))
        board.pass_time(20)
        self.assertTrue("room is at 31.5 °C {now}: tell me." in board.turns[0][1], board.turns)

    def test_a_question_at_a_fixed_time_is_answered(self):
        board = sim.Board("- (daily 07:00; when room.temperature < 30) Water me.\n")
        board.pass_time(86400)
        self.assertEqual(len(board.sent), 1, texts(board))
        self.assertTrue(
            texts(board)[0].startswith("room.temperature 21.5 °C (limit 30): Water me")
        )

    def test_a_change_is_told(self):
        board = sim.Board("- (every 1m; when room.temperature changes by 2) Moved.\n")
        for degrees in (20, 23, 23, 26):
            board.readings["room"]["temperature"] = degrees
            board.pass_time(180)
        self.assertEqual(len(board.sent), 2, texts(board))
        self.assertTrue(
            texts(board)[1].startswith("room.temperature 26 °C: Moved."),
            texts(board),
        )

    def test_stopped_by_the_owner_is_no_answer(self):
        board = pump(sim.Result(error="Stopped, as you asked.", interrupted="stop"))
        board.pass_time(20)
        self.assertTrue("stopped by the owner" in texts(board)[0], texts(board))

    def test_quiet_hours_hold_what_the_board_tells(self):
        board = pump(
            sim.Result(""), PUMP.replace("5s", "5m"), heartbeat__active_hours="08:00-22:00"
        )
        board.pass_time(7 * 3600)
        self.assertEqual((board.sent, board.turns), ([], []))
        board.pass_time(2 * 3600)
        self.assertEqual((len(board.sent), len(board.turns)), (1, 1))


class Patience(unittest.TestCase):
    def told_after(self, board, seconds=1200):
        """Return the seconds until the only text."""
        start = board.clock.utc
        board.pass_time(seconds)
        self.assertEqual(len(board.sent), 1, texts(board))
        return board.sent[0][0] - start

    def test_a_lane_that_stays_busy(self):
        for urgent, patience_s in (("", 120), ("; urgent", 20)):
            for reply in (LaneBusy("telegram:1"), Preempted(sim.Result())):
                board = pump(reply, PUMP.replace("-1", "-1" + urgent))
                board.idle = 0
                after_s = self.told_after(board)
                self.assertTrue(patience_s <= after_s <= patience_s + 10, after_s)
                self.assertTrue("no model was asked" in texts(board)[0], texts(board))

    def test_a_busy_lane_that_is_known(self):
        board = pump()
        board.lane_holder = "telegram:1"
        self.assertTrue(120 <= self.told_after(board) <= 130)
        self.assertTrue("busy (telegram:1)" in texts(board)[0], texts(board))

    def test_a_look_every_hour_has_the_same_patience(self):
        board = pump(LaneBusy("telegram:1"), PUMP.replace("5s", "1h"))
        board.pass_time(3600)
        board.pass_time(125, longest_s=3600)
        self.assertEqual(len(board.sent), 1)

    def test_a_spent_budget(self):
        board = pump()
        board.left_tokens = 0
        self.assertTrue(self.told_after(board) <= 10)
        self.assertTrue("daily token budget spent" in texts(board)[0], texts(board))

    def test_a_provider_that_is_given_a_rest(self):
        board = pump()
        board.service.not_before_s = 3600
        self.assertTrue(120 <= self.told_after(board) <= 130)

    def test_an_outage_of_the_network(self):
        board = pump()
        board.net = "wifi"
        board.pass_time(900)
        self.assertEqual(board.sent, [])
        board.net = True
        board.pass_time(40)
        self.assertEqual((len(board.sent), board.turns), (1, []))

    def test_reboots_add_no_patience(self):
        board = pump(LaneBusy("telegram:1"))
        start = board.clock.utc
        for _ in range(8):
            board.pass_time(25)
            board.clock.pass_s(2)
            board.boot()
        self.assertEqual(len(board.sent), 1)
        self.assertTrue(120 <= board.sent[0][0] - start <= 160, board.sent[0][0] - start)

    def test_a_clock_that_moves_uses_up_no_patience(self):
        for moved_s in (100, -100, 7200):
            text = PUMP.replace("5s", "1m")
            board = pump(sim.Result("Open a window."), text, heartbeat__active_hours="08:00-22:00")
            board.pass_time(600)
            board.clock.utc += moved_s
            board.pass_time(600)
            board.boot()
            board.pass_time(60)
            board.clock.pass_s(8 * 3600)
            board.pass_time(120)
            text = "Open a window.\nroom.temperature 31.5 °C (limit 30)."
            self.assertEqual(texts(board), [text], moved_s)

    def test_a_power_cut_at_any_write_tells_it_once(self):
        for reply in (sim.Result(""), sim.Result(error="HTTP 400."), LaneBusy("telegram:1")):
            for cut in range(14):
                board = pump(reply)
                last = None
                board.flash.cut_in = cut
                for _ in range(3):
                    try:
                        board.pass_time(150)
                    except sim.PowerCut:
                        # The message may be in the outbox already, which knows its mark.
                        last = len(board.sent)
                        board.waiting = list(board.marks)
                        board.clock.pass_s(5)
                        board.boot()
                self.assertEqual(len(board.sent), 1, (cut, last, texts(board)))

    def test_a_hung_turn_is_told_while_it_runs_and_its_text_is_added(self):
        for late, count in (("Open a window.", 2), ("", 1), ("HEARTBEAT_OK", 1)):
            board = pump(None, "- (every 1h; when room.temperature > 30 reset 20) Hot.\n")

            async def main(board=board, late=late, count=count):
                enough = asyncio.Event()

                async def run_turn(text, kind, model):
                    board.turns.append(text)
                    await enough.wait()
                    return sim.Result(late)

                board.run_turn = run_turn
                while not board.turns:
                    board.clock.pass_s(60)
                    await board.service.step(False, True)
                    await asyncio.sleep(0)
                begun = board.clock.mono
                while not board.sent:
                    await board.service.step(False, True)
                    await asyncio.sleep(0)
                    board.clock.pass_s(1)
                self.assertTrue(115 <= board.clock.mono - begun <= 125)
                enough.set()
                for _ in range(50):
                    board.clock.pass_s(60)
                    await board.service.step(False, True)
                    await asyncio.sleep(0)

            run(main())
            self.assertTrue("no answer in 120 s" in texts(board)[0], texts(board))
            self.assertEqual((len(board.sent), len(board.turns)), (count, 1), texts(board))
            if count == 2:
                self.assertTrue(texts(board)[1].endswith("Open a window."), texts(board))
                self.assertTrue("room.temperature > 30" in texts(board)[1], texts(board))

    def test_a_chip_ends_the_turn_that_has_its_memory(self):
        board = pump()
        board.small = True
        limits = []
        inner = board.service.run_turn

        async def run_turn(request):
            limits.append(request.limit_s)
            return await inner(request)

        board.service.run_turn = run_turn
        board.pass_time(20)
        self.assertTrue(110 <= limits[0] <= 120, limits)


class Jobs(unittest.TestCase):
    def board(self, reply=None, entry=JOB, **settings):
        board = sim.Board(
            json.dumps({"jobs": [entry]}), folder=temp_folder(self), cron=True, **settings
        )
        if reply is not None:
            board.reply = reply
        return board

    def told(self, board):
        return [text for text, _, _ in board.sent]

    def test_a_reminder_is_sent_whatever_the_model_says(self):
        for reply, why in NOTHING:
            board = self.board(sim.Result(reply))
            board.pass_time(610)
            self.assertEqual(self.told(board), [BASIL + why + ")"], reply)
            self.assertEqual(board.results(), ["ran"])
        board = self.board(sim.Result(CALLS[0]))
        board.pass_time(610)
        self.assertEqual(self.told(board), [BASIL + "it wrote a tool call as text)"])
        board = self.board(sim.Result("Water it!"))
        board.pass_time(610)
        self.assertEqual(self.told(board), ["Water it!"])

    def test_a_job_that_may_be_silent_says_so(self):
        payload = dict(JOB["payload"], message="Look. If all is well: HEARTBEAT_OK")
        entry = dict(JOB, payload=payload)
        board = self.board(sim.Result("HEARTBEAT_OK"), entry)
        board.pass_time(1300)
        self.assertEqual(board.sent, [])

    def test_failures_and_outages_send_it_once(self):
        for outage in (False, True):
            entry = dict(JOB, schedule={"kind": "at", "at": sim.START + 60})
            board = self.board(sim.Result(error="HTTP 400."), entry)
            board.reply.outage = outage
            board.pass_time(400)
            self.assertEqual(self.told(board), [BASIL + "HTTP 400)"])
            board.boot()
            board.pass_time(3600)
            self.assertEqual(len(board.sent), 1)

    def test_the_notice_names_the_job(self):
        board = self.board(sim.Result(error="HTTP 500."))
        board.reply.outage = True
        board.pass_time(1800)
        self.assertTrue("the job basil" in board.notices[0], board.notices)

    def test_a_busy_lane_and_a_spent_budget(self):
        board = self.board()
        board.lane_holder = "telegram:1"
        board.pass_time(600)
        self.assertEqual(board.sent, [])
        board.pass_time(135)
        self.assertEqual(
            self.told(board), [BASIL + "no model was asked, busy (telegram:1))"], board.lines()
        )
        board.boot()
        board.pass_time(400)
        self.assertEqual(len(board.sent), 1)
        board = self.board()
        board.left_tokens = 0
        board.pass_time(601)
        self.assertEqual(len(board.sent), 1)
        self.assertTrue("daily token budget spent" in self.told(board)[0])
        self.assertEqual(board.results(), ["skipped"])

    def test_a_hung_turn(self):
        board = self.board()

        async def main():
            enough = asyncio.Event()

            async def run_turn(text, kind, model):
                board.turns.append(text)
                await enough.wait()
                return sim.Result("")

            board.run_turn = run_turn
            while not board.turns:
                board.clock.pass_s(30)
                await board.service.step(False, True)
                await asyncio.sleep(0)
            for _ in range(130):
                board.clock.pass_s(1)
                await board.service.step(False, True)
                await asyncio.sleep(0)
            self.assertEqual(len(board.sent), 1, self.told(board))
            enough.set()
            for _ in range(30):
                board.clock.pass_s(5)
                await board.service.step(False, True)
                await asyncio.sleep(0)

        run(main())
        self.assertEqual(len(board.sent), 1, self.told(board))
        self.assertTrue("no answer in 12" in self.told(board)[0], self.told(board))


class Prompt(unittest.TestCase):
    def test_an_alarm_is_offered_no_silence(self):
        class Agent:
            workspace = "/nowhere"
            config = sim.Board("")

        class Turn:
            kind = "heartbeat"
            system = file_limit = None
            notes = ()
            owes = True

        told = b"".join(context._system(Agent, Turn)).decode()
        self.assertTrue("HEARTBEAT_OK" not in told and "message for the owner" in told)
        Turn.owes = False
        self.assertTrue(b"HEARTBEAT_OK" in b"".join(context._system(Agent, Turn)))


if __name__ == "__main__":
    unittest.main()
