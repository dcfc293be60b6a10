# tenner tests: reports of failures, and an answer for which there was no memory at first.
import asyncio
import unittest

from support import cancelled, run, temp_folder
from tenner import log
from tenner.agent import health
from tenner.agent.message_queue import Message
from tenner.port.compat import ticks_add, ticks_ms
from tenner.runtime import services


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

    def reply(self, message, text, failed=False, lines=()):
        self.delivered.append(text)


def raised(error):
    """The error with a traceback of two functions."""

    def inner():
        raise error

    try:
        inner()
    except Exception as caught:
        return caught


class Ended(Exception):
    pass


class Timed:
    """An application whose clocks pass while it sleeps; `jumps` are (at, by) in seconds, and `ask`
    says whether the time server answers."""

    def __init__(self, jumps, ask, end_s):
        self.jumps = list(jumps)
        self.ask = ask
        self.end_s = end_s
        self.mono = 0
        self.wrong_s = 0
        self.asked = []
        self.synced = False
        self.connected = self.config = self.port = self.clock = self

    async def wait(self):
        pass

    def get(self, name):
        return "ntp.example" if name == "time.ntp_host" else self

    def poke(self):
        pass

    def network_up(self):
        return True

    def now_text(self):
        return "now"

    def now(self):
        return 1800000000 + self.mono + self.wrong_s

    def mono_s(self):
        return self.mono

    async def sync(self, host):
        self.asked.append(self.mono)
        answers = self.ask(self.mono)
        if answers:
            self.wrong_s = 0
        return answers

    async def sleep(self, seconds):
        if self.mono > self.end_s:
            raise Ended
        self.mono += seconds
        while self.jumps and self.jumps[0][0] <= self.mono:
            self.wrong_s += self.jumps.pop(0)[1]


class Network(unittest.TestCase):
    def asked(self, jumps, ask=lambda s: True, end_s=86000):
        """The times at which the time server is asked."""
        app = Timed(jumps, ask, end_s)
        self.addCleanup(setattr, log, "write", log.write)
        log.write = lambda line: None
        self.addCleanup(setattr, services.asyncio, "sleep", services.asyncio.sleep)
        services.asyncio.sleep = app.sleep
        try:
            run(services.network(app))
        except Ended:
            return app.asked

    def test_every_six_hours(self):
        self.assertEqual(self.asked(()), [0, 21600, 43200, 64800])
        # Until the first answer, soon again and again.
        self.assertEqual(self.asked((), lambda s: s > 40, 100), [0, 10, 20, 30, 40, 50])

    def test_soon_after_a_jump(self):
        for by_s in (-7200, -31, 31, 86400):
            self.assertEqual(self.asked([(1000, by_s)], end_s=30000), [0, 1020, 22620], by_s)
        # A clock that is a little off waits.
        self.assertEqual(self.asked([(1000, 25)], end_s=30000), [0, 21600])

    def test_neither_jumps_nor_a_broken_server_make_it_ask_in_a_loop(self):
        day = self.asked([(second, 90) for second in range(30, 86400, 30)])
        self.assertTrue(len(day) < 40, day)
        self.assertEqual(day[:7], [0, 60, 120, 180, 300, 480, 840])
        # It answered once, and not after the jump.
        day = self.asked([(1000, 90)], lambda s: s < 1000)
        self.assertTrue(len(day) < 40, day)
        self.assertEqual(day[:5], [0, 1020, 1040, 1080, 1160])
        # When it answers again, the old way holds.
        day = self.asked([(1000, 90), (40000, 90)], lambda s: not 1000 < s < 8000)
        later = [second for second in day if second > 8000]
        self.assertTrue(later[0] < 11600 and later[1] == later[0] + 21600, later)


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
        health.known.clear()

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
        self.addCleanup(health.known.clear)
        services.asyncio.sleep = no_wait
        services.look_after(owner)
        run(services.supervise("page", fails))
        self.assertEqual(len(told), 1, told)
        self.assertTrue("My service page fails again and again (ValueError: a wrong" in told[0])
        found = health.sentences()
        self.assertEqual(len(found), 1, found)
        sentence = found[0]
        self.assertTrue(sentence.startswith("page, 6 times in a row, last "), sentence)
        self.assertTrue(sentence.endswith(" s ago: ValueError: a wrong value"), sentence)
        # One that cannot even be told ends nothing.
        health.known.clear()
        calls.clear()
        owner.notify = None
        run(services.supervise("page", fails))
        self.assertEqual(len(calls), 7)

    def test_one_that_is_cancelled_from_elsewhere_starts_again(self):
        calls = []
        me = []

        class Quiet:
            state = workspace = temp_folder(self)

        async def forever():
            calls.append(1)
            if len(calls) < 3:
                # It waits for a task that is cancelled.
                other = asyncio.create_task(asyncio.sleep(60))
                asyncio.create_task(cancelled(other))
                await other
            if len(calls) < 4:
                asyncio.create_task(strike())
            await asyncio.sleep(60)

        async def strike():
            me[0].cancel()

        async def main():
            me.append(asyncio.create_task(services.supervise("page", forever)))
            for _ in range(1000):
                await real_sleep(0)
                if len(calls) == 4:
                    break
            self.assertEqual(len(calls), 4)
            self.assertTrue(health.sentences()[0].endswith("CancelledError"), health.sentences())
            # At the end of the agent it ends.
            services.look_after(None)
            self.assertTrue(await cancelled(me[0]))

        async def no_wait(seconds):
            await real_sleep(60 if seconds == 60 else 0)

        real_sleep = asyncio.sleep
        self.addCleanup(setattr, log, "write", log.write)
        log.write = lambda line: None
        self.addCleanup(setattr, services.asyncio, "sleep", real_sleep)
        self.addCleanup(services.look_after, None)
        self.addCleanup(health.known.clear)
        health.known.clear()
        services.asyncio.sleep = no_wait
        services.look_after(Quiet)
        run(main())

    def test_a_heap_without_room_for_the_report_ends_neither_service_nor_agent(self):
        calls = []

        async def fails():
            calls.append(1)
            if len(calls) < 4:
                raise ValueError("a wrong value")

        def full(*args):
            raise MemoryError("memory allocation failed")

        async def no_wait(seconds):
            pass

        async def no_room(name, work, *args):
            raise services.overlay.OutOfMemory("no room")

        self.addCleanup(setattr, services, "log_exception", services.log_exception)
        self.addCleanup(setattr, services.asyncio, "sleep", services.asyncio.sleep)
        self.addCleanup(setattr, services.overlay, "run", services.overlay.run)
        self.addCleanup(services.look_after, None)
        self.addCleanup(health.known.clear)
        health.known.clear()
        services.asyncio.sleep = no_wait
        services.log_exception = full
        services.overlay.run = no_room
        services.look_after(App())
        run(services.supervise("page", fails))
        self.assertEqual(len(calls), 4)
        self.assertEqual(health.known["page"][::2], [3, "MemoryError"])
        services.unhandled(None, {"message": "it ended", "exception": ValueError("x")})

    def test_a_person_is_answered_by_a_heap_without_room_for_the_log(self):
        def full(*args):
            raise MemoryError("memory allocation failed")

        self.addCleanup(setattr, services, "log_exception", services.log_exception)
        services.log_exception = full
        app = App(ValueError("a wrong value"))
        run(services._serve(app, Message("console", 0, "/status", "me")))
        self.assertEqual(
            app.delivered, ["Something in me failed (MemoryError). The log has the details."]
        )


class TestHangs(unittest.TestCase):
    def setUp(self):
        self.at_ms = 1000
        self.addCleanup(setattr, health, "ticks_ms", health.ticks_ms)
        self.addCleanup(self.forget)
        self.addCleanup(health.known.clear)
        health.ticks_ms = lambda: self.at_ms
        self.forget()
        health.known.clear()

    def forget(self):
        health.watch()

    def test_a_service_hangs_when_its_round_is_late_by_more_than_a_turn(self):
        health.finished("heartbeat", 5)
        health.finished("readings", 3600)
        health.finished("delivery", None)  # with nothing to send
        self.at_ms += 900000
        self.assertEqual(health.sentences(), [])
        self.at_ms += 20000
        self.assertEqual(health.sentences(), ["heartbeat hangs: its last round was 15 min ago"])
        health.finished("heartbeat", 5)
        self.assertEqual(health.sentences(), [])

    def test_programs_get_the_state_of_each_service(self):
        before = list(health.names)

        def restore():
            health.names[:] = before

        self.addCleanup(restore)
        health.names[:] = ["page", "heartbeat", "delivery"]
        health.finished("heartbeat", 5)
        health.note("page", "ValueError: a wrong value")
        self.at_ms += 4000
        found = health.services()
        states = [(one["name"], one["state"], one["last_error_age_s"]) for one in found]
        expected = [("delivery", "running", None), ("heartbeat", "running", None)]
        self.assertEqual(states, expected + [("page", "failing", 4)])
        self.assertEqual(found[2]["last_error"], "ValueError: a wrong value")
        self.at_ms += 1000000
        states = [one["state"] for one in health.services()]
        self.assertEqual(states, ["running", "hanging", "running"])
        self.assertEqual(health.services()[2]["last_error"], "ValueError: a wrong value")

    def test_the_owner_hears_of_it_once_until_it_goes_on(self):
        told = []

        class Owner:
            def notify(self, text):
                told.append(text)

        owner = Owner()
        owner.agent = owner
        looks = []

        async def minute(seconds):
            looks.append(seconds)
            self.at_ms += 1000 * seconds
            if len(looks) == 40:
                health.finished("heartbeat", 5)
            if len(looks) == 80:
                raise OSError("the end")

        self.addCleanup(setattr, services.asyncio, "sleep", services.asyncio.sleep)
        services.asyncio.sleep = minute
        health.watch()
        health.finished("heartbeat", 5)
        self.addCleanup(setattr, health, "watch", health.watch)
        health.watch = lambda: None
        try:
            run(services.watch(owner))
        except OSError:
            pass
        self.assertEqual(len(told), 2, told)
        start = "My service heartbeat hangs: its last round was 16 min ago."
        self.assertTrue(told[0].startswith(start), told)


class TestFailures(unittest.TestCase):
    def setUp(self):
        self.lines = []
        self.addCleanup(setattr, log, "write", log.write)
        log.write = self.lines.append

    def test_a_bug_is_logged_with_its_traceback(self):
        self.assertEqual(
            log.log_exception("a turn failed", raised(ValueError("x"))), "ValueError: x"
        )
        self.assertTrue("Traceback" in self.lines[1], self.lines)
        self.assertTrue(len(self.lines) >= 5, self.lines)

    def test_where_memory_was_short_only_the_place_is(self):
        log.log_exception("a turn failed", raised(MemoryError("none")))
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
