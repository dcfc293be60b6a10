# Pairing: the one-time code of the serial console makes a chat the owner, and nothing else does.
import os
import unittest

from channels_fakes import Bench
from support import run, temp_folder
from tenner.channels.telegram import pair

ANN = 5551


def code_of(sentence):
    return sentence.split()[-1]


class TestPairing(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.bench = Bench(owner="", allow=[])
        self.code = code_of(pair.offer(self.bench.bot, self.folder))

    def write(self, text, **more):
        self.bench.server.say(text, who=ANN, **more)
        return run(self.bench.step())

    def owner(self):
        kept = pair.kept(self.folder)
        self.assertEqual(self.bench.bot.owner, kept)
        self.assertEqual(self.bench.bot.config.get("telegram.owner"), kept)
        return kept

    def test_the_code_makes_the_writer_the_owner(self):
        self.assertEqual(self.write(self.code), [])
        self.assertEqual(self.owner(), str(ANN))
        self.assertEqual([said[0] for said in self.bench.said], [str(ANN)])
        self.assertEqual([m.text for m in self.write("hello")], ["hello"])

    def test_the_start_link_of_telegram(self):
        self.write("/start " + self.code.upper())
        self.assertEqual(self.owner(), str(ANN))

    def test_what_does_not_pair(self):
        wrong = self.code[:-1] + ("a" if self.code[-1] != "a" else "b")
        for text in ("", "/start", wrong, self.code[:-1], self.code + " x", "x " + self.code):
            self.assertEqual(self.write(text), [])
            self.assertEqual(self.owner(), "")

    def test_not_in_a_group(self):
        for chat_type in ("group", "supergroup", "channel"):
            self.write("/start@tenner_bot " + self.code, chat=-100, chat_type=chat_type)
            self.write("@tenner_bot " + self.code, chat=-100, chat_type=chat_type)
        self.assertEqual(self.owner(), "")

    def test_a_code_serves_once(self):
        self.write(self.code)
        self.bench.server.say(self.code, who=6662)
        self.assertEqual(run(self.bench.step()), [])
        self.assertEqual(self.owner(), str(ANN))

    def test_a_new_code_ends_the_old_one(self):
        fresh = code_of(pair.offer(self.bench.bot, self.folder))
        self.assertNotEqual(fresh, self.code)
        self.write(self.code)
        self.assertEqual(self.owner(), "")
        self.write(fresh)
        self.assertEqual(self.owner(), str(ANN))

    def test_codes_are_long_and_all_different(self):
        codes = [code_of(pair.offer(self.bench.bot, self.folder)) for _ in range(50)]
        self.assertEqual(len(set(codes)), 50)
        self.assertEqual(set(map(len, codes)), {8})

    def test_what_was_paired_survives_a_reboot(self):
        self.write(self.code)
        self.assertEqual(pair.kept(self.folder), str(ANN))
        self.assertTrue(any(name.startswith("owner") for name in os.listdir(self.folder)))


if __name__ == "__main__":
    unittest.main()
