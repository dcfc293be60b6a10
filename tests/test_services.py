# tenner tests: what is said of failures, and an answer for which there was no memory at first.
import unittest

from support import run
from tenner import log, services, trouble
from tenner.agent.bus import Message


class App:
    telegram = heard_s = None

    def __init__(self, *plan):
        self.plan = list(plan)
        self.delivered = []
        self.rests = 0
        self.clock = self

    def mono_s(self):
        return 7

    async def rest(self):
        self.rests += 1

    def deliver(self, channel, chat, text, id=None, reply_to=None):
        error = self.plan.pop(0) if self.plan else None
        if error:
            raise error
        self.delivered.append((channel, chat, text))


def raised(error):
    """The error with a traceback of two functions."""

    def inner():
        raise error

    try:
        inner()
    except Exception as caught:
        return caught


class TestFailures(unittest.TestCase):
    def setUp(self):
        self.lines = []
        self.addCleanup(setattr, log, "write", log.write)
        log.write = self.lines.append

    def test_a_bug_is_logged_with_its_traceback(self):
        self.assertEqual(trouble.tell("a turn failed", raised(ValueError("x"))), "ValueError: x")
        self.assertTrue("Traceback" in self.lines[1], self.lines)
        self.assertTrue(len(self.lines) >= 5, self.lines)

    def test_where_memory_was_short_only_the_place_is(self):
        trouble.tell("a turn failed", raised(MemoryError("none")))
        self.assertEqual(len(self.lines), 2, self.lines)
        self.assertTrue("a turn failed: MemoryError: none" in self.lines[0])
        self.assertTrue("in inner" in self.lines[1])

    def test_an_answer_without_memory_is_given_once_there_is_some(self):
        async def answer(message):
            return "21 degrees"

        for errors, expected in ((0, 1), (1, 1)):
            app = App(*[MemoryError("none")] * errors)
            run(services._answer(app, Message("console", "owner", "How warm?"), answer))
            self.assertEqual(app.delivered, [("console", "owner", "21 degrees")] * expected)
        with self.assertRaises(MemoryError):
            app = App(MemoryError("none"), MemoryError("none"))
            run(services._answer(app, Message("console", "owner", "How warm?"), answer))


if __name__ == "__main__":
    unittest.main()
