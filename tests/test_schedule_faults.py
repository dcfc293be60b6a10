# tenner tests: the faults that systems of this kind have, each by its name.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import unittest

import schedule_sim as sim
from agent_fakes import Reply, make_agent
from support import run, temp_folder
from tenner import log as tenner_log
from tenner.agent.errors import Preempted
from tenner.agent.turn import Turn

sim.quiet()

TANK = "- (every 10m; when tank.level < 20 reset 25; notify) Tank low: {tank.level}\n"
HALF_HOUR = 1800


class Faults(unittest.TestCase):
    def setUp(self):
        self._write = tenner_log.write
        tenner_log.write = lambda line: None

    def tearDown(self):
        tenner_log.write = self._write

    def test_it_fires_on_each_reboot(self):
        board = sim.Board("- Check.\n- (every 7m) Look.\n", case=self)
        board.pass_time(HALF_HOUR)
        before = len(board.turns)
        self.assertGreater(before, 1)
        for _ in range(20):
            board.clock.pass_s(3)
            board.boot()
            board.pass_time(3)
        self.assertEqual(len(board.turns), before)

    def test_it_never_fires_after_reboots(self):
        # Always off when a period begins, and never on for as long as an interval.
        board = sim.Board("- Check.\n", case=self)
        board.step()
        board.pass_time(board.service.next_wake() - 100)
        for beats in range(12):
            self.assertEqual(len(board.turns), beats)
            board.clock.pass_s(200)
            board.boot()
            board.pass_time(HALF_HOUR - 200)
        self.assertEqual(len(board.turns), 12)

    def test_it_never_fires_after_reboots_without_a_clock(self):
        board = sim.Board("- Check.\n", case=self, utc=946684800, trusted=False)
        for _ in range(10):
            board.pass_time(300)
            board.clock.utc = 946684800
            board.boot()
        self.assertEqual(len(board.turns), 7)

    def test_it_swallows_a_short_real_alert(self):
        for reply, told in (
            ("Fire! HEARTBEAT_OK", "Fire!"),
            ("HEARTBEAT_OK Fire!", "Fire!"),
            ("No.", "No."),
            ("**HEARTBEAT_OK**", None),
        ):
            board = sim.Board("- Check.\n", case=self)
            board.reply = sim.Result(reply)
            board.pass_time(HALF_HOUR)
            self.assertEqual([text for _, text in board.sent], [told] if told else [])

    def test_it_swallows_an_alert_because_of_a_reboot(self):
        # Low, then full again, then a reboot, then low: two alerts.
        board = sim.Board(TANK, case=self)
        for level in (10, 40, 11):
            board.readings["tank"] = {"level": level}
            board.pass_time(1200)
            board.boot()
        self.assertEqual(
            [text for _, text in board.sent],
            [
                "Tank low: 10 % (limit 20)",
                (
                    'back to normal: "Tank low: 10 %"; tank.level 40 % (limit 20); 20 min, '
                    "lowest 10 %"
                ),
                "Tank low: 11 % (limit 20)",
            ],
        )

    def test_it_never_sees_a_change_because_of_reboots(self):
        board = sim.Board(
            "- (every 10m; when room.temperature changes by 2; notify) Now {room.temperature}\n",
            case=self,
        )
        for degrees in (20, 20.9, 21.8, 22.7):
            board.readings["room"]["temperature"] = degrees
            board.pass_time(600)
            board.boot()
        self.assertEqual([text for _, text in board.sent], ["Now 22.7 °C"])

    def test_it_sends_error_texts_as_news(self):
        board = sim.Board("- Check.\n", case=self)
        board.reply = sim.Result("429 Too many requests", error="The model wants fewer requests.")
        board.pass_time(4 * HALF_HOUR)
        self.assertEqual(board.sent, [])
        self.assertEqual([line for line in board.lines() if line["r"] == "ran"], [])
        # The owner hears of it once, as a fault and not as an alert.
        self.assertEqual(len(board.notices), 1)
        self.assertTrue("The model wants fewer requests." in board.notices[0], board.notices)

    def test_it_lets_the_user_wait_minutes(self):
        order = []

        async def main():
            # A heartbeat whose model never answers.
            agent = make_agent(temp_folder(self), "hang", Reply("hello"))
            board = sim.Board("- Check.\n")
            board.pass_time(60)

            async def run_turn(text, kind, model=None):
                order.append("beat")
                return await agent.lane.background(kind, Turn(agent, kind, text))

            board.run_turn = run_turn
            board.clock.pass_s(HALF_HOUR)
            beat = asyncio.create_task(board.service.step())
            await agent.chain.started.wait()
            turn = Turn(agent, "person", "hi", "telegram", "7")
            # A limit only so that a failure is one.
            result = await asyncio.wait_for(agent.lane.person("telegram:7", turn), 20)
            order.append(result.text)
            action, reason = await beat
            order.append(action + ": " + reason)
            # It is queued again for its period, and runs there.
            board.clock.pass_s(30)
            await board.service.step()
            order.append([line["r"] for line in board.lines()])

        run(main())
        preempted = "retry: preempted by a user message"
        self.assertEqual(order, ["beat", "hello", preempted, "beat", ["ran"]])

    def test_it_pays_for_ticked_items(self):
        board = sim.Board("# Heartbeat\n- [x] Order seeds.\n- [X] (every 1m) Look.\n", case=self)
        board.pass_time(86400, longest_s=3600)
        self.assertEqual(board.turns, [])
        board = sim.Board("- [x] Order seeds.\n- Check.\n", case=self)
        board.pass_time(HALF_HOUR)
        self.assertEqual(len(board.turns), 1)
        self.assertEqual("seeds" in board.turns[0][1], False)

    def test_it_ignores_the_time_zone_it_stores(self):
        # Half past seven in Tokyo is the evening before in London.
        board = sim.Board("- (daily 07:30) Minimum.\n", case=self, tz="JST-9")
        board.pass_time(2 * 86400)
        seconds = [utc % 86400 for utc, prompt, _ in board.turns]
        self.assertEqual(seconds, [22 * 3600 + 1800] * 2)
        self.assertTrue("Time: Sunday 2026-11-22 07:30" in board.turns[0][1])
        board = sim.Board(
            "- Check.\n", case=self, tz="JST-9", heartbeat__active_hours="08:00-20:00"
        )
        board.pass_time(86400)
        hours = [(utc // 3600 + 9) % 24 for utc, _, _ in board.turns]
        self.assertEqual((len(hours), min(hours), max(hours)), (24, 8, 19))

    def test_it_keeps_its_state_in_memory_only(self):
        board = sim.Board("- Check.\n- (daily 07:30) Minimum.\n" + TANK, case=self)
        board.readings["tank"] = {"level": 10}
        board.reply = sim.Result("The door is open.")
        board.pass_time(8 * 3600)
        turns, sent = len(board.turns), len(board.sent)
        # Last runs, told texts, and the condition that has fired.
        board.boot()
        board.pass_time(60)
        self.assertEqual((len(board.turns), len(board.sent)), (turns, sent))
        # That a sensor is silent was reported, and failures in a row go on being counted.
        del board.readings["tank"]
        board.reply = Preempted(sim.Result())
        board.pass_time(600)
        board.reply = sim.Result(error="No answer.")
        told = len(board.notices)
        for _ in range(5):
            board.boot()
            board.pass_time(HALF_HOUR)
        self.assertEqual(len(board.notices), told + 1)
        self.assertTrue("failed 3 times" in board.notices[-1], board.notices)


if __name__ == "__main__":
    unittest.main()
