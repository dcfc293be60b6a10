# tenner tests: reports of failures, and an answer for which there was no memory at first.
import unittest

from support import run, temp_folder
from tenner import failures, log, log_exception, services
from tenner.agent.message_queue import Message
from tenner.port.compat import ticks_add, ticks_ms


class App:
    """Raises the planned errors, then answers."""

    def __init__(self, *plan):
        self.plan = list(plan)
        self.delivered = []
        self.agent = self
        self.lane = None

    async def command(self, message):
        if self.plan:
            raise self.plan.pop(0)
        self.reply(message, "not due")

    def reply(self, message, text, failed=False):
        self.delivered.append(text)


def raised(error):
    """The error with a traceback of two functions."""

    def inner():
        raise error

    try:
        inner()
    except Exception as caught:
        return caught


class TestServices(unittest.TestCase):
    def test_one_that_fails_again_and_again_is_told_once_and_shown(self):
        told = []
        state = temp_folder(self)

        class Owner:
            app = agent = None
            workspace = state + "/workspace"

            def notify(self, text):
                told.append(text)

        owner = Owner()
        owner.agent = owner
        owner.state = state
        calls = []
        failures.known.clear()

        async def fails():
            calls.append(1)
            if len(calls) > 6:
                return
            raise ValueError("a wrong value")

        async def no_wait(seconds):
            pass

        self.addCleanup(setattr, log, "write", log.write)
        log.write = lambda line: None
        self.addCleanup(setattr, services.asyncio, "sleep", services.asyncio.sleep)
        self.addCleanup(services.look_after, None)
        self.addCleanup(failures.known.clear)
        services.asyncio.sleep = no_wait
        services.look_after(owner)
        run(services.supervise("page", fails))
        self.assertEqual(len(told), 1, told)
        self.assertTrue("My service page fails again and again (ValueError: a wrong" in told[0])
        found = failures.sentences()
        self.assertEqual(len(found), 1, found)
        sentence = found[0]
        self.assertTrue(sentence.startswith("page, 6 times in a row, last "), sentence)
        self.assertTrue(sentence.endswith(" s ago: ValueError: a wrong value"), sentence)
        # One that cannot even be told ends nothing.
        failures.known.clear()
        calls.clear()
        owner.notify = None
        run(services.supervise("page", fails))
        self.assertEqual(len(calls), 7)


class TestFailures(unittest.TestCase):
    def setUp(self):
        self.lines = []
        self.addCleanup(setattr, log, "write", log.write)
        log.write = self.lines.append

    def test_a_bug_is_logged_with_its_traceback(self):
        self.assertEqual(
            log_exception.log_exception("a turn failed", raised(ValueError("x"))), "ValueError: x"
        )
        self.assertTrue("Traceback" in self.lines[1], self.lines)
        self.assertTrue(len(self.lines) >= 5, self.lines)

    def test_where_memory_was_short_only_the_place_is(self):
        log_exception.log_exception("a turn failed", raised(MemoryError("none")))
        self.assertEqual(len(self.lines), 2, self.lines)
        self.assertTrue("a turn failed: MemoryError: none" in self.lines[0])
        self.assertTrue("in inner" in self.lines[1])

    def test_asyncio_reports_with_an_exception_and_without(self):
        services.unhandled(None, {"message": "it ended", "exception": ValueError("x")})
        services.unhandled(None, {"message": "it is destroyed"})
        failed = [line for line in self.lines if "a task failed" in line]
        self.assertEqual(len(failed), 2, self.lines)
        self.assertTrue(failed[0].endswith("a task failed: ValueError: x"), failed)
        self.assertTrue(failed[1].endswith("a task failed: Exception: it is destroyed"), failed)

    def test_a_service_that_fails_again_and_again_waits_longer(self):
        waits = [0]
        for _ in range(11):
            waits.append(services._failed("poll", ValueError("x"), ticks_ms(), waits[-1]))
        self.assertEqual(waits[1:], [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
        self.assertTrue(self.lines[-1].endswith("poll restarts in 300 s"), self.lines[-1])
        # It ran for eleven minutes.
        begun = ticks_add(ticks_ms(), -660000)
        self.assertEqual(services._failed("poll", ValueError("x"), begun, 300), 1)

    def test_a_person_gets_an_answer_also_when_the_fault_is_ours(self):
        app = App(ValueError("a bug"))
        run(services._serve(app, Message("console", "owner", "/why")))
        self.assertEqual(len(app.delivered), 1)
        self.assertTrue("ValueError: a bug" in app.delivered[0], app.delivered)

    def test_an_answer_that_did_not_fit_is_given_once_there_is_memory(self):
        app = App(MemoryError("none"))
        run(services._serve(app, Message("console", "owner", "/why")))
        self.assertEqual(app.delivered, ["not due"])


if __name__ == "__main__":
    unittest.main()
