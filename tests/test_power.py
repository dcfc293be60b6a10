# tenner tests: when a board may sleep, until when, and the state on flash by then.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

import schedule_sim as sim
from tenner.port.linux import port as linux
from tenner.runtime import power
from tenner.schedule import occurrences
from tenner.schedule.task import Task
from tenner.store.config import Config

sim.quiet()


def plan(busy=None, clock_waits=False, talk_s=0, awake_s=5, wakes=((1790, None),)):
    return power.plan(busy, clock_waits, talk_s, awake_s, wakes)


class Decision(unittest.TestCase):
    def test_it_sleeps_until_what_comes_first(self):
        self.assertEqual(plan(), (1790, "the next task"))
        self.assertEqual(plan(wakes=[(1790, None), (60, None), (None, None)])[0], 60)

    def test_not_while_something_runs_or_waits(self):
        self.assertEqual(plan(busy="a turn"), (None, "a turn"))

    def test_not_while_tasks_wait_for_the_clock(self):
        self.assertEqual(plan(clock_waits=True), (None, "the clock is not set"))

    def test_not_in_a_conversation(self):
        self.assertEqual(plan(talk_s=1), (None, "a conversation"))
        self.assertEqual(plan(talk_s=0)[0], 1790)
        self.assertEqual(plan(talk_s=-5)[0], 1790)

    def test_ten_seconds_at_least(self):
        self.assertEqual(plan(wakes=[(9, None)]), (None, "the next task is near"))
        self.assertEqual(plan(wakes=[(0, None)])[0], None)
        self.assertEqual(plan(wakes=[(10, None)])[0], 10)

    def test_a_day_at_most(self):
        self.assertEqual(plan(wakes=[(30 * 86400, None)])[0], 86400)
        self.assertEqual(plan(wakes=[(None, None)]), (86400, "no scheduled tasks"))

    def test_what_failed_is_tried_for_a_minute_and_then_less_often(self):
        for wakes in ([(20, "x")], [(None, "x")], [(1790, None), (20, "x")]):
            self.assertEqual(plan(awake_s=59, wakes=wakes), (None, "x"))
            self.assertEqual(plan(awake_s=60, wakes=wakes)[0], 600)
        self.assertEqual(plan(awake_s=60, wakes=[(3600, "x")])[0], 3600)
        self.assertEqual(plan(awake_s=60, wakes=[(60, None), (20, "x")])[0], 60)


class Jobs:
    """A service of the schedule without work."""

    area = "cron"
    file = "no such file"
    booted = True
    running_s = None
    every_s = None
    tasks = None
    wake_s = None

    def next_wake(self):
        return self.wake_s


class Telegram:
    status = "polling"
    digest = None


class Settings(unittest.TestCase):
    def test_linux_refuses_to_sleep(self):
        port = linux.Port(".")
        port.configure(Config({"power.mode": "on"}))
        with self.assertRaises(ValueError) as caught:
            port.configure(Config({"power.mode": "sleep"}))
        self.assertTrue("power.mode" in str(caught.exception))


class App:
    """The application as `power.decide` sees it, all of it quiet."""

    def __init__(self, text="- Check.\n"):
        self.board = sim.Board(text)
        self.board.step()
        self.heartbeat = self.board.service
        self.clock = self.board.clock
        self.config = {"power.awake_s": 120}
        self.workspace = "no such folder"
        self.cron = Jobs()
        self.made = ("heartbeat", "cron")
        self.outbox = Jobs()
        self.agent = self.lane = self.delivery = self
        self.holder = None
        self.inbox = []
        self.spawned = []
        self.charts = ()
        self.telegram = None
        self.sending = False
        self.heard_s = None

    def get(self, name):
        return getattr(self, name)

    def has(self, name):
        return name in self.made

    def busy(self):
        return self.holder


class Looking(unittest.TestCase):
    def test_an_idle_board_sleeps_until_the_next_beat(self):
        app = App()
        self.assertEqual(power.decide(app), (app.heartbeat.next_wake(), "the next task"))

    def test_jobs_wake_it_too(self):
        app = App()
        app.cron.wake_s = 15
        self.assertEqual(power.decide(app)[0], 15)

    def test_whatever_is_going_on_keeps_it_awake(self):
        for name, value, why in (
            ("holder", "telegram:1", "a turn"),
            ("spawned", ["research"], "a background task"),
            ("charts", (["room", 3600],), "a chart"),
            ("inbox", ["hello"], "a message"),
            ("heard_s", 0, "a conversation"),
        ):
            app = App()
            self.assertTrue(power.decide(app)[0])
            setattr(app, name, value)
            self.assertEqual(power.decide(app), (None, why))
        for name in ("heartbeat", "cron"):
            app = App()
            service = app.get(name)
            service.running_s = 1
            self.assertEqual(power.decide(app), (None, "a turn"))
            service.running_s = None
            service.booted = False
            self.assertEqual(power.decide(app), (None, "starting"))

    def test_a_conversation_is_over_after_two_minutes(self):
        app = App()
        app.heard_s = app.clock.mono
        app.clock.pass_s(119)
        self.assertEqual(power.decide(app), (None, "a conversation"))
        app.clock.pass_s(1)
        self.assertTrue(power.decide(app)[0])

    def test_a_service_that_fails_is_no_reason_to_sleep_for_a_day(self):
        app = App()
        app.heartbeat.file = __file__
        app.heartbeat.wake_at_s = None
        self.assertEqual(power.decide(app), (None, "heartbeat restarts"))
        app.clock.pass_s(60)
        self.assertEqual(power.decide(app)[0], 600)
        app.heartbeat.every_s = 0
        self.assertEqual(power.decide(app)[0], 86400)

    def test_an_unset_clock_keeps_it_awake_for_its_tasks_only(self):
        app = App()
        app.clock.trusted = False
        self.assertEqual(power.decide(app), (None, "the clock is not set"))
        app.heartbeat.tasks = None
        app.heartbeat.wake_at_s = None
        self.assertEqual(power.decide(app)[0], 86400)
        app.cron.tasks = [Task()]
        self.assertEqual(power.decide(app), (None, "the clock is not set"))

    def test_the_outbox(self):
        app = App()
        app.sending = True
        app.outbox.wake_s = 0
        self.assertEqual(power.decide(app), (None, "a message on its way"))
        app.outbox.wake_s = 120
        self.assertEqual(power.decide(app), (None, "a message is tried again"))
        app.clock.pass_s(60)
        self.assertEqual(power.decide(app)[0], 600)
        app.cron.wake_s = 30
        self.assertEqual(power.decide(app)[0], 30)

    def test_whoever_wrote_meanwhile_is_heard_first(self):
        app = App()
        app.telegram = Telegram()
        self.assertTrue(power.decide(app)[0])
        app.telegram.status = "starting"
        self.assertEqual(power.decide(app), (None, "Telegram is asked for messages"))
        app.telegram.status = "polling"
        app.telegram.digest = "hello"
        self.assertEqual(power.decide(app), (None, "a message"))

    def test_a_count_that_is_in_memory_only(self):
        app = App("- (every 1m; when room.temperature > 30 for 3m reset 25) Hot.\n")
        board = app.board
        self.assertTrue(power.decide(app)[0])
        board.readings["room"]["temperature"] = 31
        board.pass_time(60)
        self.assertEqual(power.decide(app), (None, "a condition is met"))
        board.pass_time(240)
        self.assertEqual(len(board.turns), 1)
        self.assertTrue(power.decide(app)[0])


class OnFlash(unittest.TestCase):
    """A sleep is a boot: memory is lost."""

    def sleep(self, board):
        app = App()
        app.board, app.heartbeat, app.clock = board, board.service, board.clock
        app.made = ("heartbeat",)
        seconds = None
        while seconds is None:
            board.pass_time(5)
            seconds, _ = power.decide(app)
        sim.drive(occurrences.write_down(app))
        board.clock.pass_s(seconds)
        board.boot()
        board.step()

    def test_no_line_is_lost_and_nothing_runs_twice(self):
        conditions = "- (every 20m; when room.temperature > 30) Hot.\n" * 2
        board = sim.Board(conditions + "- Check.\n")
        board.step()
        for _ in range(60):
            self.sleep(board)
        dues = [(line["k"], line["due"]) for line in board.lines()]
        self.assertEqual(len(dues), len(set(dues)))
        by_key = {}
        for key, due in dues:
            by_key.setdefault(key, []).append(due)
        self.assertEqual(len(by_key), 3)
        for found in by_key.values():
            steps = {b - a for a, b in zip(found, found[1:])}
            self.assertEqual(len(steps), 1, steps)

    def test_a_full_flash_holds_no_sleep_back(self):
        app = App("- (every 1m; when room.temperature > 30) Hot.\n")
        app.made = ("heartbeat",)
        board = app.board
        board.step()
        board.service.held = ['{"k": "a"}']
        board.flash.is_full = True
        sim.drive(occurrences.write_down(app))
        self.assertEqual(len(board.service.held), 1)
        self.assertEqual(len([text for text in board.notices if "cannot write" in text]), 1)

    def test_an_occurrence_that_waits_has_its_line(self):
        board = sim.Board("- Check.\n- (every 5m) Look.\n")
        board.step()
        board.net = "wifi"
        board.pass_time(1800)
        waiting = [(task.name(), task.pending.due) for task in board.service.tasks]
        self.sleep(board)
        board.net = True
        board.pass_time(60)
        dues = [(line["k"], line["due"]) for line in board.lines()]
        self.assertEqual(len(dues), len(set(dues)))
        self.assertTrue(set(waiting) <= set(dues))


if __name__ == "__main__":
    unittest.main()
