# The outbox: order, retries, room, power cuts at every byte, and messages that may have been sent.
import json
import unittest

from support import temp_folder
from tenner.store import files, outbox
from tenner.store.outbox import Outbox
from tenner.store.two_slot import TwoSlots

DAY = 86400


class FakeClock:
    def __init__(self, now=1800000000, trusted=True):
        self.unix = now
        self.mono = 0
        self.trusted = trusted

    def now(self):
        return self.unix

    def mono_s(self):
        return self.mono

    def sleep(self, seconds):
        self.unix += seconds
        self.mono += seconds


class OutboxCase(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.clock = FakeClock()
        self.box = Outbox(self.folder, self.clock)

    def reboot(self):
        self.clock.mono = 0
        self.box = Outbox(self.folder, self.clock)
        return self.box

    def lines(self, name="outbox.jsonl"):
        with open(self.folder + "/" + name) as file:
            return [json.loads(line) for line in file]

    def due_text(self):
        item = self.box.next_due()
        return item.text if item else None

    def begin(self):
        """Return the due message, with its first bytes on the way."""
        item = self.box.next_due()
        self.box.mark_sending(item.id)
        return item

    def texts(self):
        """Everything that waits, in order, taken out one by one."""
        found = []
        while True:
            item = self.box.next_due()
            if item is None:
                return found
            found.append(item.text)
            self.box.confirm(item.id)


def no_memory(*args):
    raise MemoryError("none")


def no_space(*args):
    raise OSError(28)


class TestNoMemory(OutboxCase):
    """A step that fails for want of memory is repeated, and nothing is sent twice."""

    def test_a_message_that_cannot_be_kept_is_not_there(self):
        append = self.box.log.append
        self.box.log.append = no_memory
        with self.assertRaises(MemoryError):
            self.box.add("telegram", "1", "hello", id="a")
        self.assertEqual((len(self.box), self.box.next_due()), (0, None))
        self.box.log.append = append
        self.box.add("telegram", "1", "hello", id="a")
        self.assertEqual(self.texts(), ["hello"])
        self.assertEqual(len(self.reboot()), 0)

    def test_a_message_that_arrived_waits_until_that_is_written(self):
        self.box.add("telegram", "1", "hello", id="a")
        item = self.begin()
        append = self.box.log.append
        self.box.log.append = no_memory
        self.box.has_arrived(item)
        with self.assertRaises(MemoryError):
            self.box.confirm("a")
        self.assertEqual(self.box.next_due(), None)
        self.box.log.append = append
        self.clock.sleep(5)
        self.assertTrue(self.box.next_due().arrived)
        self.box.confirm("a")
        self.assertEqual(len(self.reboot()), 0)

    def test_a_line_that_came_twice_is_one_message(self):
        self.box.add("telegram", "1", "hello", id="a")
        with open(self.box.path, "rb") as file:
            line = file.read()
        with open(self.box.path, "ab") as file:
            file.write(line)
        self.reboot()
        self.assertEqual(self.texts(), ["hello"])
        self.assertEqual(len(self.reboot()), 0)


class TestOrdinary(OutboxCase):
    def test_a_message_costs_two_appends(self):
        id = self.box.add("telegram", "1", "hello")
        self.assertEqual(len(self.lines()), 1)
        item = self.box.next_due()
        self.assertEqual((item.id, item.channel, item.chat), (id, "telegram", "1"))
        self.assertEqual(len(self.lines()), 1)
        self.box.confirm(id)
        self.assertEqual(len(self.lines()), 2)
        self.assertEqual(self.box.next_due(), None)
        self.assertEqual(self.box.next_wake(), None)

    def test_text_comes_back_as_it_was(self):
        text = 'line\nquote " back \\ tab\t \u00e9 \u6c49 \U0001f600 \x01 ]'
        self.box.add("telegram", "1", text, alert=True, id="a-1", reply_to=77)
        item = self.reboot().next_due()
        self.assertEqual((item.text, item.id, item.alert, item.reply_to), (text, "a-1", True, 77))

    def test_order_is_kept_in_a_chat_and_chats_do_not_wait_for_each_other(self):
        for chat, text in (("1", "a"), ("1", "b"), ("2", "c"), ("1", "d")):
            self.box.add("telegram", chat, text)
        first = self.box.next_due()
        self.assertEqual(first.text, "a")
        self.box.failed(first.id)
        self.assertEqual(self.texts(), ["c"])
        self.clock.sleep(5)
        self.assertEqual(self.texts(), ["a", "b", "d"])

    def test_an_id_seen_before_adds_nothing(self):
        self.box.add("telegram", "1", "x", id="beat-7")
        self.box.add("telegram", "1", "x", id="beat-7")
        self.assertEqual(self.texts(), ["x"])
        self.box.add("telegram", "1", "x", id="beat-7")
        self.assertEqual(self.texts(), [])
        self.reboot().add("telegram", "1", "x", id="beat-7")
        self.assertEqual(self.texts(), [])

    def test_ids_are_not_given_twice_over_a_reboot(self):
        first = self.box.add("telegram", "1", "a")
        self.box.confirm(first)
        self.assertNotEqual(self.reboot().add("telegram", "1", "b"), first)
        self.assertEqual(self.texts(), ["b"])

    def test_confirming_what_is_unknown_does_nothing(self):
        self.box.confirm("nobody")
        self.assertEqual(self.box.failed("nobody"), "failed")


class TestRetries(OutboxCase):
    def test_the_waits_grow_and_end_after_a_day(self):
        id = self.box.add("telegram", "1", "x")
        waits = []
        began = self.clock.mono
        while True:
            self.assertEqual(self.due_text(), "x")
            verdict = self.box.failed(id)
            if verdict != "retry":
                break
            waits.append(self.box.next_wake())
            self.assertEqual(self.box.next_due(), None)
            self.clock.sleep(waits[-1])
        self.assertEqual(waits[:6], [5, 25, 120, 600, 3600, 3600])
        self.assertEqual(verdict, "failed")
        self.assertTrue(DAY <= self.clock.mono - began <= DAY + 3600)
        self.assertEqual(
            self.lines("failed.jsonl")[0][2:],
            ["telegram", "1", "not delivered within 24 hours", "x"],
        )

    def test_a_day_counts_over_reboots(self):
        self.box.add("telegram", "1", "x")
        self.clock.sleep(DAY)
        id = self.reboot().next_due().id
        self.assertEqual(self.box.failed(id), "failed")

    def test_a_clock_that_was_wrong_does_not_make_a_message_old(self):
        self.clock.unix, self.clock.trusted = 946684800, False
        id = self.box.add("telegram", "1", "x")
        self.clock.unix, self.clock.trusted = 1800000000, True
        self.assertEqual(self.box.failed(id), "retry")

    def test_told_to_wait_is_obeyed_even_when_the_network_comes_back(self):
        id = self.box.add("telegram", "1", "x")
        self.box.failed(id, retry_after_s=40)
        self.box.retry_now()
        self.assertEqual(self.box.next_wake(), 40)

    def test_the_network_is_back(self):
        id = self.box.add("telegram", "1", "x")
        for _ in range(5):
            self.box.failed(id)
        self.assertEqual(self.box.next_wake(), 3600)
        self.box.retry_now()
        self.assertEqual(self.box.next_wake(), 0)

    def test_refused_for_good(self):
        id = self.box.add("telegram", "1", "x")
        self.assertEqual(self.box.failed(id, refused="the bot was blocked"), "failed")
        self.assertEqual(self.texts(), [])
        self.assertEqual(self.lines("failed.jsonl")[0][4:], ["the bot was blocked", "x"])


class TestKept(OutboxCase):
    def test_another_one_goes_on_where_this_one_ends(self):
        id = self.box.add("telegram", "1", "x")
        self.box.add("telegram", "1", "behind it")
        for wait_s in (5, 25):
            self.box.next_due()
            self.assertEqual(self.box.failed(id), "retry")
            self.assertEqual(self.box.next_wake(), wait_s)
            self.box = Outbox(self.folder, self.clock, self.box.kept())
            self.assertEqual(self.box.next_wake(), wait_s)
            self.clock.sleep(wait_s)
        self.assertEqual(self.box.next_due().text, "x")
        self.box.confirm(id)
        self.assertEqual(self.box.add("telegram", "1", "x", id=id), id)
        self.assertEqual(len(self.box), 1)
        self.reboot()
        self.assertEqual(self.texts(), ["behind it"])

    def test_when_nothing_waits_the_file_is_enough(self):
        id = self.box.add("telegram", "1", "x")
        self.box.next_due()
        self.box.confirm(id)
        self.assertEqual(self.box.kept(), None)


class TestDoubt(OutboxCase):
    def test_an_answer_that_may_have_arrived_is_not_repeated(self):
        id = self.box.add("telegram", "1", "x")
        self.box.next_due()
        self.assertEqual(self.box.failed(id, unknown=True), "maybe")
        self.assertEqual(self.texts(), [])
        self.assertEqual(self.lines("failed.jsonl")[0][4], "maybe sent")

    def test_an_alert_that_may_have_arrived_is_repeated_and_marked(self):
        id = self.box.add("telegram", "1", "fire", alert=True)
        self.box.next_due()
        self.assertEqual(self.box.failed(id, unknown=True), "retry")
        self.clock.sleep(5)
        item = self.box.next_due()
        self.assertEqual((item.text, item.possibly_sent), ("fire", True))
        self.assertTrue(self.reboot().next_due().possibly_sent)

    def test_an_alert_in_doubt_does_not_block_what_is_behind_it(self):
        id = self.box.add("telegram", "1", "fire", alert=True)
        behind = ["message %d" % place for place in range(19)]
        for text in behind:
            self.box.add("telegram", "1", text, alert=True)
        self.box.next_due()
        self.box.failed(id, unknown=True)
        self.assertEqual(self.box.next_wake(), 0)
        self.assertEqual(self.texts(), behind)
        self.clock.sleep(5)
        self.assertEqual(self.texts(), ["fire"])

    def test_a_chat_that_is_rate_limited_waits_also_behind_doubt(self):
        id = self.box.add("telegram", "1", "fire", alert=True)
        self.box.add("telegram", "1", "behind it")
        self.box.next_due()
        self.box.failed(id, unknown=True)
        self.clock.sleep(5)
        self.box.next_due()
        self.box.failed(id, retry_after_s=30)
        self.assertEqual((self.box.next_due(), self.box.next_wake()), (None, 30))

    def test_a_clock_that_is_set_makes_a_message_no_older(self):
        id = self.box.add("telegram", "1", "x")
        self.clock.unix += 3 * DAY
        self.assertEqual(self.box.failed(id), "retry")
        # A message that waited over a boot is as old as the clock says.
        self.reboot()
        self.assertEqual(self.box.failed(id), "failed")

    def test_power_cut_while_sending(self):
        self.box.add("telegram", "1", "answer")
        self.box.add("telegram", "1", "next")
        self.box.add("telegram", "2", "fire", alert=True)
        self.assertEqual(self.begin().text, "answer")
        self.reboot()
        self.assertEqual(self.begin().text, "next")
        self.box.confirm(self.box.next_due().id)
        self.assertEqual(self.begin().text, "fire")
        self.reboot()
        self.clock.sleep(1)
        item = self.box.next_due()
        self.assertEqual((item.text, item.possibly_sent), ("fire", True))

    def test_power_cut_while_waiting_for_a_retry_leaves_no_doubt(self):
        id = self.box.add("telegram", "1", "answer")
        self.box.next_due()
        self.box.failed(id)
        item = self.reboot().next_due()
        self.assertEqual((item.text, item.possibly_sent), ("answer", False))

    def test_power_cut_before_sending_leaves_no_doubt(self):
        self.box.add("telegram", "1", "answer")
        self.box.next_due()
        item = self.reboot().next_due()
        self.assertEqual((item.text, item.possibly_sent), ("answer", False))


class TestRoom(OutboxCase):
    def test_the_oldest_that_is_no_alert_goes_first(self):
        self.box.max_items = 3
        self.box.add("telegram", "1", "fire 1", alert=True)
        for text in ("a", "b", "c"):
            self.assertTrue(self.box.add("telegram", "1", text))
        self.assertEqual(self.box.dropped, 1)
        self.assertEqual(self.texts(), ["fire 1", "b", "c"])
        self.assertEqual(self.lines("failed.jsonl")[0][4:], ["the outbox was full", "a"])

    def test_when_only_alerts_wait_the_oldest_makes_room_for_an_alert_only(self):
        self.box.max_items = 2
        for text in ("fire 1", "fire 2"):
            self.box.add("telegram", "1", text, alert=True)
        self.assertEqual(self.box.add("telegram", "1", "chat"), None)
        self.assertTrue(self.box.add("telegram", "1", "fire 3", alert=True))
        self.assertEqual(self.texts(), ["fire 2", "fire 3"])

    def test_bytes_are_bounded(self):
        self.box.max_bytes = 1100
        for number in range(10):
            self.box.add("telegram", "1", "%d" % number + "x" * 200)
        self.assertEqual([text[0] for text in self.texts()], ["6", "7", "8", "9"])

    def test_a_message_longer_than_the_bounds_costs_no_other(self):
        self.box.max_bytes = 1100
        self.box.add("telegram", "1", "first")
        self.assertTrue(self.box.add("telegram", "1", ["a" * 700, "b" * 700]) is not None)
        self.assertEqual([text[0] for text in self.texts()][:2], ["f", "a"])

    def test_one_message_too_long_is_refused(self):
        with self.assertRaises(ValueError):
            self.box.add("telegram", "1", "x" * 20000)

    def test_the_file_stays_small_and_nothing_is_lost_by_it(self):
        self.box.slack_bytes = 500
        self.box.add("telegram", "slow", "waits", alert=True, id="slow-1")
        self.box.failed("slow-1", unknown=True)
        for number in range(60):
            id = self.box.add("telegram", "1", "text number %d" % number)
            if number % 3:
                self.box.confirm(id)
        with open(self.folder + "/outbox.jsonl", "rb") as file:
            self.assertTrue(len(file.read()) < 4000)
        self.clock.sleep(5)
        expected = ["waits"] + ["text number %d" % number for number in range(0, 60, 3)]
        self.assertEqual(sorted(self.texts()), sorted(expected))

    def test_after_compaction_and_reboot_marks_and_ids_are_still_known(self):
        self.box.add("telegram", "1", "fire", alert=True, id="f")
        self.box.failed("f", unknown=True)
        self.box.add("telegram", "1", "b", id="b")
        self.box.slack_bytes = 0
        self.box.add("telegram", "2", "c", id="c")
        self.box.confirm("c")
        self.reboot()
        self.assertEqual(self.box.add("telegram", "2", "c", id="c"), "c")
        item = self.box.next_due()
        self.assertEqual((item.text, item.possibly_sent), ("fire", True))
        self.assertEqual(self.texts(), ["fire", "b"])


class TestParts(OutboxCase):
    """A long answer is one entry: all of its parts are kept, or none."""

    PARTS = ("one ]", 'two "\u00e9\U0001f600"', "three")

    def add(self, **options):
        return self.box.add("telegram", "1", self.PARTS, **options)

    def send_one(self):
        """Send the due message; return its text and the message it answers."""
        item = self.begin()
        found = item.text, item.reply_to
        self.box.confirm(item.id)
        return found

    def test_the_parts_go_one_after_the_other_and_only_the_first_one_quotes(self):
        id = self.add(reply_to=7)
        self.box.add("telegram", "1", "next")
        sent = [self.send_one() for _ in range(4)]
        self.assertEqual(sent, list(zip(self.PARTS + ("next",), (7, None, None, None))))
        self.assertEqual(len(self.box), 0)
        self.assertEqual(self.add(id=id), id)
        self.assertEqual(len(self.reboot()), 0)

    def test_a_reboot_after_each_part_goes_on_with_the_next(self):
        self.add(reply_to=7)
        for part in self.PARTS:
            self.assertEqual(self.send_one()[0], part)
            self.reboot()
        self.assertEqual(self.box.next_due(), None)

    def test_a_power_cut_loses_at_most_the_part_in_doubt(self):
        for in_doubt in range(3):
            self.add()
            for _ in range(in_doubt):
                self.send_one()
            self.begin()
            self.reboot()
            self.assertEqual(self.texts(), list(self.PARTS[in_doubt + 1 :]))
            self.assertEqual(
                self.lines("failed.jsonl")[-1][4:], ["maybe sent", self.PARTS[in_doubt]]
            )

    def test_an_alert_repeats_the_part_in_doubt_marked(self):
        self.add(alert="mark")
        self.send_one()
        self.begin()
        item = self.reboot().next_due()
        self.assertEqual((item.text, item.possibly_sent), (self.PARTS[1], True))
        self.box.confirm(item.id)
        item = self.reboot().next_due()
        self.assertEqual((item.text, item.possibly_sent, item.alert), ("three", False, "mark"))

    def test_an_answer_that_broke_off_goes_on_after_the_part_in_doubt(self):
        id = self.add()
        self.send_one()
        self.begin()
        self.assertEqual(self.box.failed(id, unknown=True), "maybe")
        self.assertEqual(self.texts(), ["three"])

    def test_refused_is_all_that_is_left(self):
        id = self.add()
        self.send_one()
        self.begin()
        self.assertEqual(self.box.failed(id, refused="blocked"), "failed")
        self.assertEqual(self.texts(), [])
        self.assertEqual([line[5] for line in self.lines("failed.jsonl")], list(self.PARTS[1:]))

    def test_torn_while_it_is_written_it_is_not_there(self):
        self.box.add("telegram", "1", "before", id="a")
        before = files.size(self.box.path)
        self.add(id="b")
        with open(self.box.path, "rb") as file:
            data = file.read()
        for size in range(before, len(data) + 1):
            with open(self.box.path, "wb") as file:
                file.write(data[:size])
            self.reboot()
            whole = list(self.PARTS) if size == len(data) else []
            self.box.add("telegram", "1", "after", id="z")
            self.reboot()
            self.assertEqual(self.texts(), ["before"] + whole + ["after"])

    def test_after_compaction_the_rest_is_there(self):
        self.add(alert=True, id="b")
        self.send_one()
        self.box.failed("b", unknown=True)
        self.box.slack_bytes = 0
        self.box.add("telegram", "2", "c", id="c")
        self.box.confirm("c")
        item = self.reboot().next_due()
        self.assertEqual((item.text, item.possibly_sent), (self.PARTS[1], True))
        self.assertEqual(self.texts(), list(self.PARTS[1:]))

    def test_flash_that_takes_nothing_lets_all_parts_go(self):
        self.box.log.append = no_space
        self.add()
        self.assertEqual([self.send_one()[0] for _ in range(3)], list(self.PARTS))
        self.assertEqual(len(self.box), 0)


class TestPowerCuts(OutboxCase):
    def story(self):
        """Return a file with every kind of line, and the waiting messages after each of its
        lines."""
        self.box.add("telegram", "1", "first ]", id="a")
        self.box.add("telegram", "1", 'second "\u00e9\U0001f600"', alert=True, id="b")
        self.box.confirm("a")
        self.box.failed("b", unknown=True)
        self.box.add("telegram", "2", "third", id="c")
        self.box.confirm("b")
        self.box.add("telegram", "2", "fourth", id="d")
        with open(self.folder + "/outbox.jsonl", "rb") as file:
            data = file.read()
        return data, [[], ["a"], ["a", "b"], ["b"], ["b"], ["b", "c"], ["c"], ["c", "d"]]

    def test_torn_at_every_byte(self):
        data, waiting = self.story()
        for size in range(len(data) + 1):
            with open(self.folder + "/outbox.jsonl", "wb") as file:
                file.write(data[:size])
            self.reboot()
            whole = data[:size].count(b"\n")
            self.assertEqual([item.id for item in self.box.items], waiting[whole])
            # The next message is not glued to the torn line.
            self.box.add("telegram", "9", "after", id="z")
            self.reboot()
            self.assertEqual([item.id for item in self.box.items], waiting[whole] + ["z"])
            self.assertEqual(self.texts()[-1:], ["after"])

    def test_damaged_at_every_byte(self):
        data, _ = self.story()
        for place in range(len(data)):
            for byte in (b"\x00", b"\n", b"\xff"):
                with open(self.folder + "/outbox.jsonl", "wb") as file:
                    file.write(data[:place] + byte + data[place + 1 :])
                self.reboot()
                self.box.add("telegram", "9", "after", id="z")
                self.assertTrue("after" in self.texts())

    def test_a_line_without_end_does_not_fill_the_heap(self):
        with open(self.folder + "/outbox.jsonl", "wb") as file:
            for _ in range(50):
                file.write(b"x" * 1000)
            file.write(b"\n")
        self.reboot().add("telegram", "1", "after")
        self.assertEqual(self.texts(), ["after"])

    def test_flash_that_takes_nothing_still_lets_the_message_go(self):
        self.box.log.append = no_space
        self.box._slot.save = no_space
        id = self.box.add("telegram", "1", "x")
        self.assertEqual(self.begin().text, "x")
        self.box.confirm(id)
        self.assertEqual(self.box.next_due(), None)


class TestFullFlash(OutboxCase):
    """Flash takes nothing more, later it does again: nothing stops, is lost or comes twice."""

    def fill(self):
        self.append, self.box.log.append = self.box.log.append, no_space

    def test_a_message_that_has_left_is_not_sent_again_after_a_restart(self):
        self.box.add("telegram", "1", "x", True, id="a")
        self.fill()
        self.begin()
        self.box.confirm("a")
        self.box.add("telegram", "1", "y", id="b")
        self.begin()
        self.box.confirm("b")
        self.assertEqual(len(self.reboot()), 0)

    def test_nor_by_another_phase_while_nothing_can_be_written(self):
        remove, files.remove = files.remove, no_space
        try:
            self.box.add("telegram", "1", "x", True, id="a")
            self.fill()
            self.begin()
            self.box.confirm("a")
            self.box = Outbox(self.folder, self.clock, self.box.kept())
            self.assertEqual((len(self.box), self.box.next_due()), (0, None))
        finally:
            files.remove = remove

    def test_nor_is_it_where_another_one_waits(self):
        self.box.add("telegram", "1", "x", id="a")
        self.box.add("telegram", "1", "y", id="b")
        self.fill()
        self.begin()
        self.box.confirm("a")
        # Another phase goes on with the same state.
        self.box = Outbox(self.folder, self.clock, self.box.kept())
        self.begin()
        self.assertEqual([item.id for item in self.box.items], ["b"])
        self.box.failed("b", unknown=False)
        self.box.add("telegram", "2", "z", id="c")
        self.assertEqual([item.id for item in self.reboot().items], ["b", "c"])

    def test_nor_is_one_without_its_text_where_the_log_has_no_memory(self):
        self.fill()
        log, outbox.log = outbox.log, no_memory
        try:
            with self.assertRaises(MemoryError):
                self.box.add("telegram", "1", "x", True, id="a")
        finally:
            outbox.log = log
        self.box.add("telegram", "1", "x", True, id="a")
        self.assertEqual(self.texts(), ["x"])

    def test_nor_where_a_phase_ends_while_it_leaves(self):
        self.box.add("telegram", "1", "x", True, id="a")
        self.box.add("telegram", "2", "y", True, id="b")
        kept = self.box.kept()
        self.fill()
        self.begin()
        self.box.confirm("a")
        # The code of the sending had the room of that of the outbox.
        self.box = Outbox(self.folder, self.clock, kept)
        self.begin()
        self.box.confirm("b")
        self.assertEqual(len(self.reboot()), 0)

    def test_what_may_have_left_is_marked_after_a_power_cut(self):
        for id in ("a", "b", "c"):
            self.box.add("telegram", "1", id, True, id=id)
        self.fill()
        for id in ("a", "b"):
            self.begin()
            self.box.confirm(id)
        waiting = self.reboot().items
        self.assertEqual([item.id for item in waiting if item.possibly_sent], ["a", "b", "c"])
        self.assertEqual(self.texts(), ["a", "b", "c"])
        self.box.add("telegram", "1", "d", True, id="d")
        self.assertFalse(self.reboot().items[0].possibly_sent)
        # Flash takes nothing at all.
        save, TwoSlots.save = TwoSlots.save, no_space
        try:
            self.assertTrue(self.reboot().items[0].possibly_sent)
        finally:
            TwoSlots.save = save


if __name__ == "__main__":
    unittest.main()
