import json
import os
import unittest

from support import temp_folder
from tenner import log
from tenner.agent import history
from tenner.agent import history_lines as lines
from tenner.agent.agent import Session
from tenner.agent.history_lines import call_record, record

TURN = (
    record("u", "hot?"),
    record("a", ""),
    call_record("c1", "i2c", '{"bus": "i2c0",\n "n": 2}'),
    record("t", "0x1f 0x80", "c1"),
    record("a", '31.5 °C, see "notes"\nand 😀'),
)


def sent(s):
    history.check(s)
    return b"".join(history.pieces(s))


class TestCallsOfPeople(unittest.TestCase):
    def setUp(self):
        log.hide("sk-" + "secret" * 200)

    def told(self, *given):
        return lines.calls_of([record("u", "?")] + list(given))

    def test_a_call_stands_beside_its_result(self):
        found = self.told(*TURN[1:])
        self.assertEqual(found, [{"call": "i2c bus i2c0, n 2", "result": "0x1f 0x80"}])

    def test_calls_and_results_are_cut_and_the_newest_stay(self):
        given = []
        for n in range(10):
            id = "call_%d" % n
            text = "\u00e9" * 5000
            given.append(call_record(id, "write_file", '{"path":"%d","content":"%s"}' % (n, text)))
            given.append(record("t", "wrote\n" + text, id))
        found = self.told(*given)
        self.assertEqual(
            [one["call"][:18] for one in found][:2], ["write_file path 2,", "write_file path 3,"]
        )
        self.assertEqual(len(found), 8)
        for one in found:
            self.assertTrue(len(one["call"]) <= 111 and len(one["result"]) == 60, one)
            self.assertTrue(one["result"].startswith("wrote \u00e9"))

    def test_no_part_of_a_secret_is_shown(self):
        secret = "sk-" + "secret" * 200
        for before in ("", "x" * 80, "x" * 350, secret):
            for after in ("", "y" * 3000):
                arguments = '{"text": "%s%s%s"}' % (before, secret, after)
                (found,) = self.told(call_record("c", "message", arguments))
                self.assertTrue("secret" not in found["call"], found)

    def test_what_was_stopped_has_no_result(self):
        found = self.told(call_record("c", "message", "{}"))
        self.assertEqual(found, [{"call": "message", "result": ""}])


class TestSession(unittest.TestCase):
    def setUp(self):
        self.path = temp_folder(self) + "/chat.jsonl"

    def session(self, window=4096):
        return Session(self.path, window)

    def write(self, data):
        with open(self.path, "wb") as file:
            file.write(data)

    def test_what_is_appended_is_sent_again(self):
        s = self.session()
        history.check(s)
        history.append(s, TURN)
        history.check(s)
        history.append(s, (record("u", "thanks"), record("a", "welcome")))
        lines = sent(s).split(b"\n")[:-1]
        rows = [json.loads(line) for line in lines]
        self.assertEqual([row[0] for row in rows], ["u", "a", "c", "t", "a", "u", "a"])
        self.assertEqual(rows[2][3]["bus"], "i2c0")
        self.assertEqual(rows[4][1], '31.5 °C, see "notes"\nand 😀')

    def test_a_piece_is_whole_lines_or_of_one_line_and_stays_small(self):
        s = self.session(window=100000)
        history.check(s)
        data = [record("u", "x" * size) for size in (5000, 3, 4, 300, 200, 505, 506, 507, 5, 400)]
        history.append(s, data)
        history.check(s)
        pieces = list(history.pieces(s))
        self.assertEqual(b"".join(pieces), b"".join(data))
        fresh = True
        for piece in pieces:
            self.assertTrue(len(piece) <= 512)
            if not fresh:
                self.assertTrue(b"\n" not in piece[:-1])
            else:
                self.assertTrue(piece.startswith(b'["u","'))
                # A piece without a line end is long enough for an id and a name.
                self.assertTrue(piece.endswith(b"\n") or len(piece) >= 256)
            fresh = piece.endswith(b"\n")
        self.assertTrue(max([piece.count(b"\n") for piece in pieces]) > 1)

    def test_what_is_found_whole_is_what_the_search_for_turns_finds_whole(self):
        from tenner.agent.history_repair import _is_whole, _turns

        dialog = b"".join(
            [record("u", 'say "%d" \\ é' % i) + record("a", "x\ny" * i) for i in range(9)]
        )
        whole = dialog + b"".join(TURN) + dialog
        for place in range(0, len(whole), 3):
            for wrong in (b"", b'"', b"\n", b"\\", b"\x00", b"\xc3", b"u", b"x"):
                data = whole[:place] + wrong + whole[place + 1 :]
                self.write(data)
                with open(self.path, "rb") as file:
                    found = _is_whole(file, len(data))
                    file.seek(0)
                    turns = list(_turns(file, len(data)))
                    # One that cannot begin with a person's line is no turn.
                    expected = all(good for _, _, good in turns)
                self.assertEqual(found, expected, (place, wrong, data[place - 30 : place + 30]))

    def test_history_is_cut_at_a_whole_turn(self):
        s = self.session(window=1000)
        for i in range(40):
            history.check(s)
            history.append(s, (record("u", "question %d" % i),) + TURN[1:])
        data = sent(s)
        self.assertTrue(len(data) <= 1000)
        self.assertTrue(data.startswith(b'["u","question '))
        self.assertTrue(data.endswith(TURN[-1]))

    def test_an_old_result_is_shortened(self):
        s = self.session()
        history.check(s)
        history.append(s, (TURN[0], TURN[1], TURN[2], record("t", "z" * 900, "c1"), TURN[4]))
        row = json.loads(sent(s).split(b"\n")[3])
        self.assertEqual(row[2], "z" * 200 + " [cut]")

    def test_a_tail_torn_at_any_byte_costs_that_turn_only(self):
        first = b"".join((record("u", "one"), record("a", "1")))
        second = b"".join(TURN)
        for cut in range(len(second) + 1):
            self.write(first + second[:cut])
            s = self.session()
            data = sent(s)
            if s.repaired:
                os.remove(self.path + ".bad")
            # A cut at a line's end inside the turn is whole lines, and an open call is not.
            self.assertTrue(data.startswith(first), cut)
            rest = data[len(first) :]
            self.assertTrue(second.startswith(rest), cut)
            self.assertEqual(rest.count(b'["c",'), rest.count(b'["t",'), cut)

    def test_foreign_lines_are_quarantined(self):
        good = b"".join((record("u", "one"), record("a", "1")))
        for foreign in (
            b"hello\n",
            b'{"role":"user"}\n',
            b'["u","torn\n',
            b'["x","y"]\n',
            b'["t","nobody","asked"]\n',
            b'["a","bad \xff utf"]x\n',
            b"\x00\x00\x00\n",
            b'["u","no \xff utf"]\n',
            b'["u","half \xc3"]\n',
            b'["u","raw \x00 byte"]\n',
            b'["u","of another system"]\r\n',
        ):
            self.write(good + foreign + good)
            s = self.session()
            data = sent(s)
            self.assertEqual(data, good + good, foreign)
            self.assertTrue(s.repaired)
            self.assertTrue(
                any(".bad" in name for name in os.listdir(self.path.rsplit("/", 1)[0]))
            )
            history.append(s, (record("u", "next"), record("a", "works")))
            self.assertTrue(sent(self.session()).endswith(record("a", "works")))

    def test_valid_text_is_good_wherever_a_piece_ends(self):
        for size in range(480, 520):
            self.write(record("u", "x" * size + "é😀\ufffd") + record("a", "1"))
            s = self.session()
            self.assertEqual(sent(s).count(b"\n"), 2)
            self.assertFalse(s.repaired)

    def test_a_summary_stays_in_front(self):
        s = self.session(window=400)
        for i in range(12):
            history.check(s)
            history.append(s, (record("u", "question %d" % i), record("a", "answer %d" % i)))
        history.check(s)
        history.compact(s, history.cut_for(s, 200), "They talked.")
        data = sent(s)
        self.assertTrue(data.startswith(b'["s","They talked."]\n["u",'))
        self.assertTrue(data.endswith(record("a", "answer 11")))
        before = s.size
        history.compact(s, history.cut_for(s, 100))
        self.assertTrue(s.size < before)
        self.assertTrue(sent(s).startswith(b'["s","They talked."]\n["u",'))

    def test_a_repair_that_lost_its_power_is_finished(self):
        good = b"".join((record("u", "one"), record("a", "1")))
        with open(self.path + ".new", "wb") as file:
            file.write(good)
        self.assertEqual(sent(self.session()), good)

    def test_clear_keeps_the_old_file_once(self):
        s = self.session()
        history.check(s)
        history.append(s, TURN)
        history.clear(s)
        self.assertEqual(sent(s), b"")
        self.assertTrue("chat.jsonl.old" in os.listdir(self.path.rsplit("/", 1)[0]))

    def test_line_kinds_are_valid_json(self):
        for line in TURN + (record("s", "a"), record("n", "b")):
            self.assertTrue(isinstance(json.loads(line), list))
            self.assertEqual(line[-1:], b"\n")
        self.assertEqual(lines.shorten(TURN[3]), TURN[3])


if __name__ == "__main__":
    unittest.main()
