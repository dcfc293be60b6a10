# tenner tests: lines without clauses are read before the parser, and off where memory is short.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import unittest

import schedule_sim as sim
from tenner import overlay
from tenner.schedule import heartbeat_parser, rules, status
from tenner.schedule.clauses import UNREAD

sim.quiet()
rules.log = lambda area, text: None

LINES = """# Heartbeat
Watch the house.
- (every 5m) Look.
- tell me when room.temperature > 30
- daily 07:30: Say good morning.
- Be kind.
"""


class Rules(unittest.TestCase):
    def test_a_line_in_words_becomes_the_rule_that_it_says(self):
        board = sim.Board(LINES)
        board.step()
        every = sorted(task.every_s for task in board.service.tasks if task.every_s)
        self.assertTrue(300 in every, every)
        conditions = [task.condition for task in board.service.tasks if task.condition]
        self.assertEqual(len(conditions), 1)
        self.assertEqual((conditions[0].name(), conditions[0].number), ("room.temperature", 30))

    def test_what_was_read_is_forgotten_with_the_file(self):
        board = sim.Board(LINES)
        board.step()
        first = board.service.ruled
        self.assertTrue(board.service.rules)
        board.write("- (every 5m) Look.\n")
        board.step()
        self.assertNotEqual(board.service.ruled, first)
        self.assertEqual(board.service.rules, {})

    def test_texts_are_read_a_few_at_a_time(self):
        known = None
        lines = [(n, "- tell me when room.temperature > %d" % n) for n in range(1, 31)]
        asked = {}
        sizes = []
        while rules.ask(lines, known, asked):
            sizes.append(len(asked[0]))
            rules.answer(known, asked)
        self.assertTrue(len(sizes) > 2 and max(sizes) < 12, sizes)
        self.assertEqual(len(rules.settled(asked)), 30)

    def test_an_answer_that_is_asked_for_again_is_the_same(self):
        lines = [(1, "- tell me when room.temperature > 30")]
        asked = {}
        rules.ask(lines, None, asked)
        rules.answer(None, asked)
        before = rules.settled(asked)
        # The step is called once more where memory was short.
        rules.answer(None, asked)
        self.assertEqual(rules.settled(asked), before)

    def test_without_memory_a_line_that_may_be_a_rule_is_off_with_a_sentence(self):
        board = sim.Board(LINES)
        service = board.service
        real = rules.find

        async def short(heartbeat):
            raise overlay.OutOfMemory("memory allocation failed")

        rules.find = short
        try:
            board.step()
        finally:
            rules.find = real
        self.assertEqual(service.rules, {UNREAD: ()})
        # Lines of the grammar work all the same.
        self.assertTrue(300 in [task.every_s for task in service.tasks])
        self.assertEqual([task for task in service.tasks if task.condition], [])
        asyncio.run(rules.do_without(service))
        off = [text for kind, _, text, _ in service.parsed if kind == heartbeat_parser.PROBLEM]
        self.assertEqual(len(off), 2, off)
        for text in off:
            self.assertTrue("too little memory to read this line" in text, text)

    def test_no_line_takes_the_memory_of_connections(self):
        board = sim.Board(LINES)
        board.service.app.port.shares_memory = True
        free = 46 * 1024 - 1
        board.service.app.port.memory = lambda: (free, 60000)
        board.step()
        self.assertEqual(board.service.rules, {UNREAD: ()})
        free += 1
        board.service.ruled = None
        board.write(LINES + "\n")
        board.step()
        self.assertFalse(UNREAD in board.service.rules, board.service.rules)

    def test_do_without_leaves_background_text_alone(self):
        board = sim.Board("# House\nThe boiler is from Junkers.\n- Be kind.\n")
        board.service.rules = None
        asyncio.run(rules.do_without(board.service))
        kinds = [item[0] for item in board.service.parsed]
        self.assertFalse(heartbeat_parser.PROBLEM in kinds, board.service.parsed)


class Told(unittest.TestCase):
    """The answer to a model that has written lines."""

    def told(self, before, after):
        board = sim.Board(before)
        board.step()
        marks = asyncio.run(board.service.marks())
        board.write(after)
        return asyncio.run(board.service.understood(marks)), board

    def test_a_changed_line_is_told_and_an_unchanged_one_is_not(self):
        said, board = self.told(LINES, LINES + "- (when room.temperature > 31; notify) Hot\n")
        self.assertTrue("\nline 7: alarm. Looks at room.temperature every minute; " in said, said)
        self.assertEqual(said.count("\nline "), 1)
        # The beat reads it as before.
        board.step()
        self.assertEqual(len([task for task in board.service.tasks if task.condition]), 2)

    def test_a_line_in_words_is_told_as_the_rule_that_it_becomes(self):
        said, _ = self.told("", "• if room.temperature is above 30: tell me\n")
        self.assertTrue("\nline 1: alarm. " in said and "tells you above 30" in said, said)

    def test_a_line_that_is_off_says_why(self):
        said, _ = self.told(LINES, LINES.replace("(every 5m)", "(evry 5m)"))
        self.assertTrue('\nline 3: off: "evry 5m": ' in said, said)

    def test_the_rest_of_an_item_is_told_with_it(self):
        lines = "- (daily 07:30) Report\n  the night%s.\n"
        said, _ = self.told(lines % "", lines % " and the day")
        self.assertTrue("\nline 1: daily at 07:30, asks the model: 1 call a day." in said, said)

    def test_the_answer_is_bounded(self):
        lines = "".join(["- (when room.temperature > %d; notify) x\n" % n for n in range(60)])
        said, _ = self.told("", lines)
        self.assertTrue(len(said) < 1100 and "more; /heartbeat shows them" in said, said)

    def test_without_memory_it_is_told_at_the_next_beat(self):
        real = rules.find

        async def short(heartbeat):
            raise MemoryError

        board = sim.Board(LINES)
        rules.find = short
        try:
            said = asyncio.run(board.service.understood([]))
        finally:
            rules.find = real
        self.assertTrue("at its next beat" in said, said)


class Once(unittest.TestCase):
    """A line for one time."""

    def test_it_runs_once_and_is_done(self):
        board = sim.Board("- tomorrow 08:00: Call mum.\n- (in 10 minutes; notify) Oven\n")
        board.pass_time(3600, longest_s=600)
        self.assertEqual([text for _, text in board.sent], ["Oven"])
        self.assertEqual(board.turns, [])
        board.pass_time(3 * 86400, longest_s=3600)
        self.assertEqual(len(board.turns), 1)
        self.assertTrue("Call mum." in board.turns[0][1])
        self.assertEqual(board.turns[0][0] - sim.START, 32 * 3600)
        report = asyncio.run(status.heartbeat(board.service))
        self.assertTrue("line 1: once, tomorrow at 08:00" in report, report)
        self.assertTrue("done at 2026-11-22 08:00" in report, report)

    def test_a_reboot_neither_forgets_nor_repeats_it(self):
        board = sim.Board("- (in 2 hours; notify) Oven\n")
        board.pass_time(3600, longest_s=600)
        board.boot()
        board.pass_time(3000, longest_s=600)
        self.assertEqual(board.sent, [])
        board.pass_time(1800, longest_s=600)
        self.assertEqual([at - sim.START for at, _ in board.sent], [7200])
        for _ in range(3):
            board.boot()
            board.pass_time(86400, longest_s=3600)
        self.assertEqual(len(board.sent), 1)

    def test_a_power_cut_at_any_write_neither_loses_nor_repeats_it(self):
        for cut in range(12):
            board = sim.Board("- (in 10 minutes; notify) Oven\n")
            board.flash.cut_in = cut
            for _ in range(4):
                try:
                    board.pass_time(900, longest_s=300)
                except sim.PowerCut:
                    board.boot()
            board.flash.cut_in = None
            board.pass_time(3600, longest_s=600)
            lines = [line for line in board.lines() if line.get("n") == 1 or line.get("r")]
            told = [line["r"] for line in lines]
            self.assertTrue(len(board.sent) == 1 or "interrupted" in told, (cut, board.sent, told))
            self.assertTrue(len(board.sent) < 2, (cut, board.sent))

    def test_without_a_clock_it_waits_for_one(self):
        board = sim.Board("- (in 10 minutes; notify) Oven\n", trusted=False)
        board.pass_time(3600, longest_s=600)
        self.assertEqual(board.sent, [])
        board.clock.trusted = True
        board.pass_time(1200, longest_s=60)
        self.assertEqual(len(board.sent), 1)

    def test_quiet_hours_do_not_swallow_it(self):
        night = {"heartbeat__active_hours": "08:00-22:00"}
        board = sim.Board("- today 23:30: Look at the door.\n", **night)
        board.pass_time(86400, longest_s=600)
        self.assertEqual([at - sim.START for at, _, _ in board.turns], [23 * 3600 + 1800])

    def test_an_edit_of_another_line_leaves_it(self):
        board = sim.Board("- (in 2 hours; notify) Oven\n")
        board.pass_time(3600, longest_s=600)
        board.write("- (every 6h) Look.\n- (in 2 hours; notify) Oven\n")
        board.pass_time(7200, longest_s=600)
        self.assertEqual([at - sim.START for at, text in board.sent if text == "Oven"], [7200])


class Report(unittest.TestCase):
    """/heartbeat"""

    def report(self, text, **settings):
        self.board = sim.Board(text, **settings)
        self.board.step()
        return asyncio.run(status.heartbeat(self.board.service)).split("\n")

    def test_each_line_has_its_kind_and_sentence(self):
        lines = self.report(
            "Notes.\nMore notes.\n\n- (every 5m) Look.\n- (evry 5m) Look.\n"
            "- [x] Old.\n- Be kind.\n"
        )
        text = "\n".join(lines)
        for part in (
            "lines 1 to 2: background, runs nothing.",
            "line 4: every 5 min, asks the model: 288 calls a day.\n  Look.; next in ",
            'line 5: off: "evry 5m": ',
            "line 6: done: costs nothing.",
            "line 7: asks the model at every beat: 48 calls a day",
        ):
            self.assertTrue(part in text, (part, text))

    def test_prose_without_a_list_says_what_it_costs(self):
        text = "\n".join(self.report("Look after the house.\n"))
        self.assertTrue("asks the model at every beat: 48 calls a day" in text, text)

    def test_an_alarm_that_cannot_be_read_is_not_clear(self):
        self.board = sim.Board("- (when room.temperature > 30; notify) Hot\n")
        report = asyncio.run(status.heartbeat(self.board.service))
        self.assertTrue("not read yet" in report and "clear" not in report, report)
        self.board.readings["room"] = "no answer"
        self.board.pass_time(600)
        report = asyncio.run(status.heartbeat(self.board.service))
        self.assertTrue("clear" not in report, report)
        self.board.readings["room"] = {"temperature": 20}
        self.board.pass_time(600)
        report = asyncio.run(status.heartbeat(self.board.service))
        self.assertTrue("room.temperature > 30 (now 20): clear" in report, report)

    def test_a_line_in_words_is_read_before_it_is_shown(self):
        self.report("- (every 5m) Look.\n")
        self.board.write("- if room.temperature is above 30: tell me\n")
        report = asyncio.run(status.heartbeat(self.board.service))
        self.assertTrue("line 1: alarm. " in report, report)
        self.assertEqual(len([1 for task in self.board.service.tasks if task.condition]), 1)


if __name__ == "__main__":
    unittest.main()
