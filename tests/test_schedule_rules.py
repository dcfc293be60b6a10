# tenner tests: lines without clauses are read before the parser, and off where memory is short.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import unittest

import schedule_sim as sim
from tenner import overlay
from tenner.schedule import heartbeat_parser, rules
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

    def test_do_without_leaves_background_text_alone(self):
        board = sim.Board("# House\nThe boiler is from Junkers.\n- Be kind.\n")
        board.service.rules = None
        asyncio.run(rules.do_without(board.service))
        kinds = [item[0] for item in board.service.parsed]
        self.assertFalse(heartbeat_parser.PROBLEM in kinds, board.service.parsed)


if __name__ == "__main__":
    unittest.main()
