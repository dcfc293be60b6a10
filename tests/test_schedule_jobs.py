# tenner tests: the jobs of CRON.json.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import unittest

import schedule_sim as sim
from support import run, temp_folder
from tenner.agent.errors import LaneBusy, Preempted
from tenner.schedule import command, cron_jobs, outcome
from tenner.schedule.due import five_fields
from tenner.schedule.task import Run, Task
from tenner.store.posix_tz import Zone
from tenner.tools import ToolError
from tenner.tools import cron as tool

sim.quiet()
START = sim.START  # midnight, a Saturday


def job(job_id, schedule, kind="agent_turn", **more):
    entry = {"id": job_id, "schedule": schedule, "payload": {"kind": kind, "message": "Do it."}}
    for name in more:
        entry[name] = more[name]
    return entry


EVERY = {"kind": "every", "every_seconds": 600}
DAILY = {"kind": "cron", "expr": "30 7 * * *"}


class Board(sim.Board):
    """A board with a CRON.json of these entries."""

    def __init__(self, case, entries, utc=START, trusted=True):
        text = None if entries is None else json.dumps({"jobs": entries})
        sim.Board.__init__(self, text, utc, trusted, case=case, cron=True)
        self.reply = sim.Result("Done.")
        self.turn_s = 2

    def entries(self):
        with open(self.workspace + "/CRON.json") as f:
            return json.loads(f.read())["jobs"]

    def pass_time(self, seconds):
        sim.Board.pass_time(self, seconds, 3600)


class Schedules(unittest.TestCase):
    def test_every_without_anchor_counts_from_its_first_sight(self):
        board = Board(self, [job("a", EVERY)], START + 7)
        board.pass_time(3600)
        self.assertEqual(
            [turn[0] for turn in board.turns], [START + 7 + 600 * n for n in range(1, 7)]
        )
        self.assertEqual(board.results(), ["ran"] * 6)
        self.assertEqual(board.sent[0], ("Done.", None, None))

    def test_every_with_anchor_stays_on_its_grid(self):
        schedule = {"kind": "every", "every_seconds": 600, "anchor": "2020-01-01T00:01:00Z"}
        board = Board(self, [job("a", schedule)], START + 7)
        board.pass_time(1300)
        board.clock.pass_s(1000)
        board.boot()
        board.pass_time(1300)
        self.assertEqual({line["due"] % 600 for line in board.lines()}, {60})

    def test_cron_and_its_own_zone(self):
        schedule = {"kind": "cron", "expr": "0 9 * * *", "tz": "CET-1CEST,M3.5.0,M10.5.0/3"}
        board = Board(self, [job("a", schedule), job("b", DAILY, "message")])
        board.pass_time(2 * 86400)
        self.assertEqual([utc % 86400 // 3600 for utc, _, _ in board.turns], [8, 8])
        self.assertEqual(board.sent.count(("Do it.", None, None)), 2)

    def test_a_zone_has_the_name_of_a_place(self):
        schedule = {"kind": "cron", "expr": "0 9 * * *"}
        zones = ("Asia/Shanghai", "Mars/Olympus", 8, None)
        board = Board(
            self,
            [job("in %s" % tz, dict(schedule, tz=tz), "message") for tz in zones],
        )  # fmt: skip
        board.pass_time(86400)
        # 09:00 in Shanghai, and on the owner's own clock.
        self.assertEqual([line["due"] - START for line in board.lines()], [3600, 32400])
        problem = 'CRON.json entry %d: "%s" is no time zone; write CET-1CEST,M3.5.0,M10.5.0/3'
        for index, tz in ((2, "Mars/Olympus"), (3, "8")):
            self.assertIn(problem % (index, tz), str(board.notices))

    def test_a_clock_that_is_wrong_for_seconds_ends_no_job(self):
        at = START + 3 * 86400
        once = {"kind": "at", "at": at}
        for wrong in (2147483700, 946684800 + 60, START + 5 * 86400, START - 40 * 86400):
            board = Board(
                self,
                [job("a", once, "message"), job("skips", once, "message", missed="skip"),
                 job("daily", DAILY, "message", missed="skip")],
            )  # fmt: skip
            board.pass_time(3600)
            right = board.clock.utc
            board.clock.utc = wrong
            board.clock.trusted = wrong > 1735689600
            board.pass_time(20)
            board.clock.utc = right + 20
            board.clock.trusted = True
            board.pass_time(4 * 86400)
            lines = [line for line in board.lines() if line["job"] in ("a", "skips")]
            self.assertEqual([(line["r"], line["due"]) for line in lines], [("ran", at)] * 2)
            self.assertEqual(board.notices, [])
            days = [line for line in board.lines() if (line["job"], line["r"]) == ("daily", "ran")]
            self.assertEqual(len(days), 4)

    def test_a_job_that_a_wrong_clock_has_ended_comes_at_its_time(self):
        at = START + 3 * 86400
        board = Board(self, [job("a", {"kind": "at", "at": at}, "message")])
        board.pass_time(3600)
        board.clock.utc += 9 * 366 * 86400
        board.pass_time(600)
        self.assertEqual(board.results(), ["skipped"])
        board.boot()
        board.clock.utc = START + 7200
        board.pass_time(4 * 86400)
        self.assertEqual(board.results(), ["skipped", "ran"])
        self.assertEqual(board.lines()[-1]["due"], at)

    def test_names_of_intervals_as_in_the_heartbeat(self):
        for expr, after_s in (("@daily", 86400), ("@HOURLY", 3600)):
            schedule = {"kind": "cron", "expr": expr}
            board = Board(self, [job("a", schedule, "message")])
            board.pass_time(86400 + 3600)
            self.assertEqual(board.lines()[0]["due"], START + after_s)
        self.assertEqual(five_fields("@monthly"), "0 0 1 * *")
        board = Board(self, [job("a", {"kind": "cron", "expr": "@reboot"})])
        board.pass_time(10)
        self.assertIn("five fields", str(board.notices))

    def test_a_one_shot_runs_once_and_is_kept_for_a_day(self):
        board = Board(self, [job("a", {"kind": "at", "at": "2026-11-21T08:00"}), job("b", DAILY)])
        board.pass_time(12 * 3600)
        self.assertEqual(len([1 for turn in board.turns if '"a"' in turn[1]]), 1)
        self.assertTrue("a (at 2026-11-21 08:00): off: done" in list(board.service.lines()))
        board.boot()
        board.pass_time(86400)
        self.assertEqual([entry["id"] for entry in board.entries()], ["b"])
        self.assertEqual(len([1 for turn in board.turns if '"a"' in turn[1]]), 1)

    def test_due_jobs_are_collected_before_any_runs(self):
        board = Board(self, [job("a", DAILY), job("b", DAILY), job("c", DAILY)])
        board.pass_time(86400)
        self.assertEqual([line["job"] for line in board.lines()], ["a", "b", "c"])
        self.assertEqual(len({line["due"] for line in board.lines()}), 1)

    def test_an_unset_clock_holds_the_wall_clock(self):
        board = Board(self, [job("a", DAILY), job("b", EVERY)], 946684800, False)
        board.pass_time(1300)
        self.assertEqual([line["job"] for line in board.lines()], ["b", "b"])
        board.clock.utc, board.clock.trusted = START, True
        before = len(board.turns)
        board.step()
        self.assertEqual(len(board.turns), before)

    def test_the_result_goes_where_the_job_says(self):
        entry = job("a", EVERY)
        entry["payload"]["channel"] = "telegram"
        entry["payload"]["chat"] = "99"
        entry["payload"]["model"] = "small"
        board = Board(self, [entry])
        board.pass_time(601)
        self.assertEqual(board.sent, [("Done.", "telegram", "99")])
        self.assertEqual(board.turns[0][2], "small")
        self.assertTrue(board.turns[0][1].startswith('The job "a" is due:\nDo it.\n\nTime: '))


class Missed(unittest.TestCase):
    def away(self, **more):
        board = Board(self, [job("a", EVERY, **more)])
        board.pass_time(601)
        board.clock.pass_s(86400)
        board.boot()
        board.pass_time(10)
        return board

    def test_once_and_never_a_burst(self):
        self.assertEqual(self.away().results(), ["ran", "ran"])

    def test_a_missed_run_is_skipped(self):
        board = self.away(missed="skip")
        self.assertEqual(board.results(), ["ran", "skipped"])
        board.pass_time(601)
        self.assertEqual(board.results(), ["ran", "skipped", "ran"])

    def test_a_one_shot_missed_while_off(self):
        at = {"kind": "at", "at": START + 60}
        for missed, turns, notices in (("once", 1, 0), ("skip", 0, 1)):
            board = Board(self, [job("a", at, missed=missed)])
            board.step()
            board.clock.pass_s(86400)
            board.boot()
            board.pass_time(60)
            self.assertEqual((len(board.turns), len(board.notices)), (turns, notices))
            self.assertEqual(len(board.lines()), 1)

    def test_an_interrupted_run_is_logged_and_follows_missed(self):
        for missed, results in (
            ("once", ["interrupted", "ran"]),
            ("skip", ["interrupted"]),
        ):
            board = Board(self, [job("a", EVERY, missed=missed)])
            board.reply = sim.PowerCut()
            with self.assertRaises(sim.PowerCut):
                board.pass_time(601)
            board.reply = sim.Result("Done.")
            board.boot()
            board.pass_time(30)
            self.assertEqual(board.results(), results)

    def test_a_job_that_brings_the_board_down_is_switched_off(self):
        board = Board(self, [job("a", EVERY)])
        board.reply = sim.PowerCut()
        for _ in range(8):
            try:
                board.pass_time(700)
            except sim.PowerCut:
                board.clock.pass_s(5)
                board.boot()
        self.assertEqual(board.results(), ["interrupted"] * 5)
        self.assertEqual(len(board.notices), 1)

    def test_a_clock_that_leaps(self):
        board = Board(self, [job("a", EVERY), job("b", DAILY)])
        board.pass_time(60)
        board.clock.utc += 10 * 86400
        board.pass_time(30)
        self.assertEqual([line["job"] for line in board.lines()], ["b"])
        board.clock.utc -= 10 * 86400
        board.pass_time(601)
        self.assertEqual([line["job"] for line in board.lines()], ["b", "a"])


class Failures(unittest.TestCase):
    def test_lane_network_and_person(self):
        board = Board(self, [job("a", EVERY)])
        board.lane_holder = "telegram:1"
        board.pass_time(700)
        board.lane_holder, board.net = None, "wifi"
        board.pass_time(100)
        board.net, board.reply = True, Preempted(sim.Result())
        board.pass_time(31)
        board.reply = LaneBusy("console")
        board.pass_time(31)
        self.assertEqual(board.lines(), [])
        board.reply = sim.Result("Done.")
        board.pass_time(31)
        self.assertEqual(board.results(), ["ran"])

    def test_an_occurrence_that_never_got_its_turn_has_a_line(self):
        board = Board(self, [job("a", EVERY)])
        board.lane_holder = "telegram:1"
        board.pass_time(1850)
        self.assertEqual([line["due"] - START for line in board.lines()], [600, 1200])
        self.assertEqual(board.lines()[0]["why"], "busy (telegram:1)")

    def test_a_spent_budget_skips_a_job_that_asks_a_model(self):
        board = Board(self, [job("a", EVERY), job("b", EVERY, "message")])
        board.left_tokens = 0
        board.pass_time(601)
        self.assertEqual(board.results(), ["skipped", "ran"])
        self.assertEqual(board.lines()[0]["why"], "daily token budget spent (20000)")

    def test_five_failures_switch_a_job_off(self):
        board = Board(self, [job("a", EVERY)])
        board.reply = sim.Result(error="No model answers")
        board.pass_time(7200)
        self.assertEqual(board.results(), ["failed"] * 5)
        self.assertEqual(len(board.notices), 1)
        self.assertTrue("No model answers" in board.notices[0])
        board.boot()
        board.pass_time(3600)
        self.assertEqual(len(board.turns), 5)
        board.reply = sim.Result("Done.")
        board.service.enable("a")
        board.pass_time(601)
        self.assertEqual(len(board.turns), 6)

    def test_an_outage_of_the_provider_never_counts_against_a_job(self):
        board = Board(self, [job("a", EVERY)])
        board.reply = sim.Result(error="I could not get an answer: HTTP 500.")
        board.reply.outage = True
        board.pass_time(3 * 3600)
        self.assertEqual([told for told in board.notices if "is off now" in told], [])
        self.assertEqual(len(board.notices), 1)
        self.assertTrue("running of jobs has failed 3 times" in board.notices[0], board.notices)
        board.reply = sim.Result("Done.")
        board.pass_time(3601)
        self.assertEqual(board.results()[-1], "ran")
        self.assertTrue("works again" in board.notices[1], board.notices)

    def test_what_is_late_says_so_and_what_is_too_old_is_reported(self):
        old = job("old", {"kind": "at", "at": START - 8 * 86400}, "message")
        late = job("late", {"kind": "at", "at": START - 2 * 86400}, "message")
        board = Board(self, [old, late])
        board.pass_time(60)
        self.assertEqual(
            board.sent, [("(late: this was due on 2026-11-19 00:00) Do it.", None, None)]
        )
        self.assertEqual(len(board.notices), 1)
        self.assertTrue("over a week ago" in board.notices[0], board.notices)

    def test_what_was_due_before_the_clock_was_set_is_not_late(self):
        board = Board(self, [])
        task = Task()
        task.due = START - 2 * 86400
        task.run = Run(task, START, True)
        self.assertIn("2026-11-19", outcome._late(board.service, task))
        # The first second of an ESP32's clock.
        task.due = 946684800
        task.run = Run(task, START, True)
        self.assertEqual(outcome._late(board.service, task), "")

    def test_a_one_shot_that_fails_is_tried_again(self):
        board = Board(self, [job("a", {"kind": "at", "at": START + 60})])
        board.reply = OSError(5)
        board.pass_time(200)
        self.assertEqual((len(board.turns), board.lines()), (3, []))
        board.reply = sim.Result("Done.")
        board.pass_time(400)
        self.assertEqual(board.results(), ["ran"])


class TheFile(unittest.TestCase):
    def test_good_jobs_run_and_bad_ones_are_told_once(self):
        board = Board(
            self,
            [
                job("good", EVERY),
                job("", EVERY),
                job("a", {"kind": "cron", "expr": "99 * * * *"}),
                job("b", {"kind": "at", "at": "tomorrow"}),
                job("good", EVERY),
                7,
                job("last", EVERY),
            ],
        )
        board.pass_time(601)
        board.pass_time(60)
        self.assertEqual([job.key for job in board.service.tasks], ["good", "last"])
        self.assertEqual(len(board.notices), 1)
        for word in ('entry 2: it needs an "id"', "entry 3: cron", "entry 4:", "twice", "entry 6"):
            self.assertTrue(word in board.notices[0], board.notices[0])
        # A job that cannot run stays in the file unchanged.
        before = board.entries()
        board.service.remove("last")
        self.assertEqual(board.entries(), before[:-1])

    def test_a_wake_is_spared_while_nothing_is_due_and_nothing_has_changed(self):
        board = Board(self, [job("a", EVERY)])
        self.assertEqual(board.service._nothing_new(), False)
        board.step()
        spared = board.service._nothing_new
        self.assertEqual([spared(), spared()], [True, True])
        board.write('{"jobs": []}')
        self.assertEqual(spared(), False)
        board.write(json.dumps({"jobs": [job("a", EVERY)]}))
        board.step()
        board.clock.pass_s(600)
        self.assertEqual(spared(), False)

    def test_a_torn_file_keeps_what_stands_before(self):
        payload = '"payload": {"kind": "message", "message": "Do it."}'
        whole = '{"jobs": [%s,\n{"id": "b", "schedule": {"kind": "at", "at": %d}, %s}]}' % (
            json.dumps(job("a", EVERY)),
            START + 60,
            payload,
        )
        board = Board(self, None)
        board.write(whole)
        board.pass_time(90)
        self.assertEqual(len(board.sent), 1)
        board.write(whole[: whole.index('"b"') + 9])
        board.pass_time(10)
        self.assertEqual([job.key for job in board.service.tasks], ["a"])
        self.assertTrue("cannot be read to its end" in board.notices[0])
        # Put right again: the one-shot that has run does not run again.
        board.write(whole)
        board.pass_time(10)
        self.assertEqual(len(board.sent), 1)

    def test_every_prefix_can_be_read(self):
        whole = json.dumps({"jobs": [job("a", EVERY), job("b", DAILY)], "x": [1, {"y": 2}]})
        path = temp_folder(self) + "/CRON.json"
        for end in range(len(whole) + 1):
            with open(path, "w") as f:
                f.write(whole[:end])
            found = []
            try:
                for _, entry in cron_jobs.read(path):
                    found.append(entry["id"])
            except ValueError:
                pass  # torn, as it is here
            self.assertEqual(found, ["a", "b"][: len(found)])
        self.assertEqual(found, ["a", "b"])

    def test_an_edit_restarts_a_job(self):
        board = Board(self, [job("a", EVERY)])
        board.pass_time(300)
        other = {"kind": "every", "every_seconds": 900}
        board.write(json.dumps({"jobs": [job("a", other)]}))
        board.pass_time(899)
        self.assertEqual(board.turns, [])
        board.pass_time(2)
        self.assertEqual(len(board.turns), 1)
        board.write(json.dumps({"jobs": [job("a", other, enabled=False)]}))
        board.pass_time(3600)
        self.assertEqual(len(board.turns), 1)


class Turn:
    def __init__(self, kind="person", channel="telegram", chat="7"):
        self.kind = kind
        self.channel = channel
        self.chat = chat


class ToolContext:
    def __init__(self, board, kind="person"):
        self.turn = Turn(kind)
        self._board = board

    async def jobs(self):
        return self._board.service


class TheCommand(unittest.TestCase):
    def show(self, board):
        board.settings["cron"] = board.service
        return command.command(board, "cron", "", "console", "owner")

    def test_its_times_have_their_zone(self):
        abroad = dict(DAILY, tz="Asia/Shanghai")
        board = Board(self, [job("a", DAILY), job("b", abroad), job("c", EVERY, enabled=False)])
        board.zone = Zone("IST-5:30")
        lines = [
            "a (cron 30 7 * * *): next 2026-11-21 07:30",
            "b (cron 30 7 * * * in Asia/Shanghai): next 2026-11-22 05:00",
            "c (every 600 s): disabled",
        ]
        self.assertEqual(self.show(board).split("\n"), lines + ["times are UTC+05:30"])
        # The model knows the zone from its prompt.
        self.assertEqual(list(board.service.lines()), lines)
        board.clock.trusted = False
        self.assertFalse("UTC" in self.show(board))

    def test_no_jobs(self):
        for entries in (None, []):
            board = Board(self, entries)
            self.assertEqual(self.show(board), "No jobs. Ask for one, or write CRON.json.")


class TheTool(unittest.TestCase):
    def call(self, board, **args):
        ctx = ToolContext(board)
        tool.check(args, ctx)
        return run(tool.run(args, ctx))

    def test_add_list_remove(self):
        board = Board(self, None)
        board.step()
        self.assertEqual(self.call(board, action="list"), "no jobs")
        text = self.call(board, action="add", id="plants", message="Look.", cron="0 8 * * *")
        self.assertEqual(
            text,
            "plants: cron 0 8 * * *, next 2026-11-21 08:00, 2026-11-22 08:00, 2026-11-23 08:00",
        )
        self.call(board, action="add", id="tea", message="Tea!", kind="message", every_seconds=900)
        self.assertEqual(board.entries()[1]["payload"]["chat"], "7")
        self.assertEqual(
            self.call(board, action="disable", id="tea"), "tea (every 900 s): disabled"
        )
        self.assertTrue("next" in self.call(board, action="enable", id="tea"))
        self.assertEqual(self.call(board, action="remove", id="tea"), "removed tea")
        board.pass_time(9 * 3600)
        self.assertEqual(len(board.turns), 1)

    def test_a_list_reads_the_file_and_changes_nothing(self):
        entries = [job("a", EVERY), "no job", job("a", DAILY), job("b", DAILY)]
        board = Board(self, entries)
        expected = [
            "a (every 600 s): next 2026-11-21 00:10",
            "b (cron 30 7 * * *): next 2026-11-21 07:30",
        ]
        self.assertEqual(self.call(board, action="list").split("\n"), expected)
        self.assertEqual((board.service.booted, board.service.tasks), (False, None))
        board.step()
        self.assertEqual(self.call(board, action="list").split("\n"), expected)
        text = json.dumps({"jobs": entries})
        for end, lines in ((text[:-1], expected), ("{", [])):
            with open(board.workspace + "/CRON.json", "w") as f:
                f.write(end)
            shown = self.call(board, action="list").split("\n")
            self.assertEqual(shown[:-1], lines)
            self.assertEqual(shown[-1], "CRON.json cannot be read to its end: it ends too early")

    def test_a_new_job_runs_after_the_next_look(self):
        board = Board(self, [job("a", EVERY)])
        board.step()
        text = self.call(board, action="add", id="tea", message="Tea!", every_seconds=900)
        self.assertEqual(text, "tea: every 900 s")
        # The service reads it when the memory is free.
        self.assertEqual([one.key for one in board.service.tasks], ["a"])
        board.step()
        self.assertEqual([one.key for one in board.service.tasks], ["a", "tea"])
        board.pass_time(901)
        self.assertEqual([turn[0] for turn in board.turns], [START + 600, START + 900])

    def test_a_job_that_is_added_again_is_no_longer_off(self):
        board = Board(self, [job("a", EVERY)])
        board.step()
        (old,) = board.service.tasks
        old.off_since, old.why, old.failures = START, "failed", 5
        self.assertTrue("off: failed" in self.call(board, action="list"))
        self.call(board, action="add", id="a", message="Look.", every_seconds=600)
        self.assertTrue("next" in self.call(board, action="list"))

    def test_a_time_of_day_waits_for_the_clock(self):
        board = Board(self, None, trusted=False)
        text = self.call(board, action="add", id="plants", message="Look.", cron="0 8 * * *")
        self.assertEqual(text, "plants: cron 0 8 * * *, once the clock is set")

    def test_there_is_room_for_64_jobs(self):
        board = Board(self, [job("j%d" % number, EVERY) for number in range(64)])
        try:
            self.call(board, action="add", id="tea", message="Tea!", every_seconds=900)
        except ToolError as error:
            self.assertTrue("there are 64 jobs already" in str(error), str(error))
        else:
            self.fail("no error")
        self.call(board, action="add", id="j5", message="Tea!", every_seconds=900)
        self.assertEqual(len(board.entries()), 64)

    def test_what_is_wrong_is_said(self):
        board = Board(self, None)
        for args, word in (
            ({"action": "add", "id": "a", "message": "x"}, "one of cron"),
            (
                {"action": "add", "id": "a", "message": "x", "every_seconds": 9, "cron": "@daily"},
                "one of cron",
            ),
            ({"action": "add", "id": "a", "message": "x", "cron": "99 * * * *"}, "minute"),
            ({"action": "add", "id": "a", "message": "x", "at": "2020-01-01T00:00"}, "over"),
            ({"action": "add", "id": "a", "message": "x", "at": "soon"}, "2036-11-21T08:30"),
            ({"action": "remove", "id": "a"}, "jobs: none"),
        ):
            try:
                self.call(board, **args)
            except ToolError as error:
                self.assertTrue(word in str(error), str(error))
            else:
                self.fail("no error")

    def test_the_schedule_does_not_change_itself(self):
        self.assertEqual(tool.TURNS, "person")


if __name__ == "__main__":
    unittest.main()
