# tenner tests: alarms that begin in one beat are told in one message, and each of them once.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import unittest

import schedule_sim as sim
from tenner.schedule import command as alarm_commands
from tenner.store.outbox_item import covers

sim.quiet()

LINE = "- (every 5s; when s%d.temperature > 30 reset 28; notify) Room %d is hot!\n"
HOT, COOL = 35.2, 27.8


def board_of(count, line=LINE, **settings):
    """A board with so many alarms, all of them clear."""
    names = range(1, count + 1)
    board = sim.Board("".join([line % (n, n) for n in names]), **settings)
    spell(board, COOL, names)
    return board


def spell(board, degrees, names, seconds=10):
    for n in names:
        board.readings["s%d" % n] = {"temperature": degrees}
    board.pass_time(seconds)


def texts(board):
    return [text for _, text in board.sent]


def ids(board):
    return [task.condition.alarm[0] for task in board.service.tasks if task.condition.alarm]


def numbers(mark):
    return mark[3:].split("+")


def command(board, words):
    return asyncio.run(alarm_commands.answer(board.service, words))


class Together(unittest.TestCase):
    def test_alarms_of_one_beat_are_one_message(self):
        board = board_of(3, name="kitchen")
        spell(board, HOT, (1, 3))
        (text,) = texts(board)
        lines = text.split("\n")
        self.assertEqual(lines[0], "kitchen: 2 alarms:")
        self.assertEqual(lines[1], "\u2022 Room 1 is hot! s1.temperature 35.2 \u00b0C (limit 30)")
        self.assertEqual(lines[2], "\u2022 Room 3 is hot! s3.temperature 35.2 \u00b0C (limit 30)")
        self.assertEqual(len(lines), 3)
        self.assertEqual(board.marks, ["al:%d+%d" % tuple(ids(board))])
        # Each ends for itself, at its own first message.
        board.service.confirm(board.marks[0], 9001)
        for id in ids(board):
            self.assertEqual(board.service.first("ae:%d" % id), 9001)
        spell(board, COOL, (3,))
        self.assertTrue(texts(board)[-1].startswith('kitchen: back to normal: "Room 3'))
        spell(board, COOL, (1,), 60)
        self.assertEqual(len(board.sent), 3)

    def test_one_alone_and_one_later_have_their_own(self):
        board = board_of(2)
        spell(board, HOT, (2,))
        spell(board, HOT, (1,))
        self.assertEqual([len(numbers(mark)) for mark in board.marks], [1, 1])
        self.assertTrue(texts(board)[0].startswith("Room 2 is hot!"))

    def test_a_message_has_six_at_most(self):
        board = board_of(8)
        spell(board, HOT, range(1, 9))
        self.assertEqual([len(numbers(mark)) for mark in board.marks], [6, 2])

    def test_one_with_a_chart_goes_alone(self):
        board = sim.Board(
            LINE % (1, 1) + (LINE % (2, 2)).replace("notify", "notify; chart") + LINE % (3, 3)
        )
        board.service.deliver, board.chart = board._deliver, lambda *_: True
        spell(board, HOT, (1, 2, 3))
        self.assertEqual([len(numbers(mark)) for mark in board.marks], [2, 1])

    def test_quiet_hours_hold_each(self):
        board = board_of(3, LINE.replace("5s", "10m"), heartbeat__active_hours="08:00-22:00")
        spell(board, HOT, (1, 2, 3), 1200)
        self.assertEqual(board.sent, [])
        board.pass_time(8 * 3600)
        self.assertEqual(len(board.sent), 1)
        for n in (1, 2, 3):
            self.assertEqual(texts(board)[0].count("00:05-now Room %d is hot! s" % n), 1)

    def test_a_power_cut_at_any_write_tells_each_once(self):
        for confirms in (False, True):
            for cut in range(14):
                board = board_of(4)
                board.confirms = confirms
                board.flash.cut_in = cut
                try:
                    spell(board, HOT, (1, 2, 3))
                except sim.PowerCut:
                    board.clock.pass_s(5)
                    board.boot()
                board.flash.cut_in = None
                # Another one begins before the first look.
                spell(board, HOT, (1, 2, 3, 4), 60)
                told = [number for mark in board.marks for number in numbers(mark)]
                if not confirms:
                    # The outbox of the test keeps its messages, as the real one does.
                    self.assertEqual(len(told), len(set(told)), (cut, board.marks))
                self.assertEqual(len(set(told)), 4, (cut, board.marks))

    def test_a_number_is_never_used_again(self):
        board = board_of(3)
        spell(board, HOT, (1, 2, 3))
        board.service.confirm(board.marks[0], 9001)
        used = ids(board)
        board.flash.saved.pop("heartbeat")
        board.boot()
        spell(board, COOL, (1, 2, 3))
        spell(board, HOT, (1,))
        self.assertTrue(ids(board)[0] > max(used), (used, ids(board)))

    def test_a_mark_covers_each_of_its_alarms(self):
        self.assertTrue(covers("al:12+13", "al:13") and covers("al:12+13", "al:12+13"))
        self.assertTrue(covers("al:12", "al:12") and covers("ab12", "ab12"))
        for mark, other in (
            ("al:12+13", "al:1"),
            ("al:12+13", "ae:12"),
            ("ae:12+13", "al:12"),
            (True, "al:12"),
            (False, "al:"),
            ("al:12", "al:12.1"),
        ):
            self.assertFalse(covers(mark, other), (mark, other))


class Buttons(unittest.TestCase):
    def setUp(self):
        self.marked = []
        self.board = board_of(4)
        self.board.telegram = self
        spell(self.board, HOT, (1, 2, 3))
        self.board.service.confirm(self.board.marks[0], 9001)
        self.all = self.board.marks[0][3:]

    def mark(self, *args):
        self.marked.append(args)

    def test_one_press_acknowledges_all_of_the_message(self):
        told = command(self.board, "ack %s by Ann" % self.all)
        self.assertTrue(told.startswith('Acknowledged: "Room 1 is hot!"; s1.temperature'), told)
        self.assertTrue("Room 2" in told and "Room 3" in told and "Still active" not in told)
        self.assertEqual(
            self.marked[-1],
            (9001, self.all, ["mute", "why"], "\u2713 acknowledged 00:00 by Ann"),
        )
        self.assertEqual(len(self.marked), 1)
        self.assertEqual(len(command(self.board, "why " + self.all).split("\n\n")), 3)

    def test_one_of_them_is_counted(self):
        command(self.board, "ack " + numbers("al:" + self.all)[1])
        self.assertEqual(
            self.marked,
            [(9001, self.all, ["ack", "mute", "why"], "\u2713 1 of 3 acknowledged")],
        )
        # Those that are over have no button any more.
        spell(self.board, COOL, (1,))
        self.marked.clear()
        command(self.board, "mute %s 2h" % self.all)
        self.assertEqual(
            self.marked[-1][1:],
            ("+".join(self.all.split("+")[1:]), ["ack", "unmute", "why"], "muted until 02:00"),
        )

    def test_all_is_a_word(self):
        spell(self.board, HOT, (4,))
        self.assertTrue(
            command(self.board, "ack all").startswith("Acknowledged: 4 alarms. I will")
        )
        self.assertTrue(command(self.board, "mute all 2h").startswith("Muted for 2 h: 4 alarms."))
        spell(self.board, COOL, (1, 2, 3, 4), 60)
        self.assertEqual(
            command(self.board, "ack all"),
            "No alarm is active now; /alarms shows all of them.",
        )
        sent = len(self.board.sent)
        spell(self.board, HOT, (1, 2), 60)
        self.assertEqual(len(self.board.sent), sent)
        self.assertTrue(command(self.board, "unmute all").startswith("Not muted any more: 4"))
        self.board.pass_time(60)
        self.assertEqual(len(numbers(self.board.marks[-1])), 2)
        self.assertTrue(command(self.board, "mute all soon").startswith('"soon" is no duration'))


if __name__ == "__main__":
    unittest.main()
