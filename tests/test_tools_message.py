# tenner test: the tool message with a file, and the copy that waits for it.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import unittest

from fakes import FakeCtx
from support import read_bytes, run, temp_folder, write_bytes
from tenner import log
from tenner.store import attachments, files


class TestMessage(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.ctx = FakeCtx(self.folder, {"telegram.allow": ["7"], "telegram.owner": "1"})
        self.home = self.folder + "/workspace"
        write_bytes(self.home + "/day.csv", b"1,2\n")
        write_bytes(self.home + "/empty", b"")
        write_bytes(self.folder + "/config.json", b"{}")

    def call(self, **args):
        return run(self.ctx.call("message", args))

    def test_a_file_goes_with_its_text(self):
        self.assertEqual(self.call(text="the day", file="/workspace/day.csv"), "sent")
        chat, text, path = self.ctx.sent[0]
        self.assertEqual((chat, text), (None, "the day"))
        self.assertEqual(read_bytes(path), b"1,2\n")
        # It needs no text.
        self.assertEqual(self.call(text="", file="day.csv"), "sent")
        self.assertEqual(self.call(text=" "), "error: message: text is empty")

    def test_other_people_get_it_when_the_owner_allows_it(self):
        answer = self.call(text="look", chat="7", file="./day.csv")
        exact = "send the file day.csv to chat 7"
        question = (
            "May I send a file to chat 7? Asked for by your message of 06:48. No answer in 10 "
            "minutes is a no.\nExactly: %s:\n| look"
        )
        self.assertEqual(answer, "error: not approved: %s. Do not retry" % exact)
        self.assertEqual((self.ctx.asked, self.ctx.sent), ([question % exact], []))
        self.ctx.answers = [True]
        self.assertEqual(self.call(text="look", chat="7", file="./day.csv"), "sent")
        self.assertEqual(self.ctx.sent[0][0], "7")

    def test_only_files_that_may_be_read(self):
        for path, expected in (
            ("../config.json", "is private: settings, state and code are out of reach"),
            ("/config.json", ""),
            ("nothing", 'there is no "nothing"'),
            (".", "is a folder"),
            ("empty", "a file to send has 1 to 52428800 bytes, not 0"),
        ):
            answer = self.call(text="x", file=path)
            self.assertTrue(answer.startswith("error: ") and expected in answer, answer)
        self.assertEqual(self.ctx.sent, [])

    def test_a_small_board_sends_small_files(self):
        self.ctx.port.small = True
        write_bytes(self.home + "/large", bytes(262145))
        self.assertIn("has 1 to 262144 bytes, not 262145", self.call(text="x", file="large"))


class TestCopies(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.source = self.folder + "/the-day.csv"

    def waiting(self):
        folder = self.folder + attachments.FOLDER
        return sorted(os.listdir(folder)) if files.exists(folder) else []

    def test_the_copy_stays_as_it_was(self):
        write_bytes(self.source, b"old" * 1000)
        path = attachments.copy(self.source, self.folder)
        write_bytes(self.source, b"new")
        self.assertEqual(read_bytes(path), b"old" * 1000)
        self.assertEqual(attachments.name_of(path), "the-day.csv")
        self.assertEqual(len(self.waiting()), 1)

    def test_a_secret_is_found_at_every_place(self):
        log.hide("file-secret-token")
        for before in list(range(480, 540)) + [0, 1023]:
            write_bytes(self.source, b"x" * before + b"file-secret-token" + b"y" * 600)
            with self.assertRaises(OSError) as caught:
                attachments.copy(self.source, self.folder)
            self.assertIn("holds a secret", str(caught.exception))
        self.assertEqual(self.waiting(), [])

    def test_only_some_wait(self):
        write_bytes(self.source, b"1")
        for _ in range(attachments.MOST):
            attachments.copy(self.source, self.folder)
        with self.assertRaises(OSError) as caught:
            attachments.copy(self.source, self.folder)
        self.assertEqual(str(caught.exception), "6 files wait to be sent: no more now")


if __name__ == "__main__":
    unittest.main()
