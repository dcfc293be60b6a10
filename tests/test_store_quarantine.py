# tenner tests: a folder, a link or megabytes in place of a file of the agent's are quarantined.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import unittest

from support import temp_folder
from tenner import log
from tenner.port import package
from tenner.store import files, quarantine

NAMES = (
    "heartbeat.json", "cron.json", "browsers.json", "cooldown.json", "runs.jsonl", "said.jsonl",
    "held.jsonl", "outbox.jsonl", "page.jsonl", "episodes.jsonl", "sending.a", "sending.b",
    "telegram.a", "owner.b", "budget.a", "readings", "tls", "starts", "again", "bluetooth",
    "sessions/telegram_1.jsonl", "mcp/home.json",
)  # fmt: skip


class Quarantine(unittest.TestCase):
    def setUp(self):
        self.state = temp_folder(self) + "/state"
        files.make_dirs(self.state + "/sessions")
        files.make_dirs(self.state + "/mcp")
        write = log.write
        self.addCleanup(lambda: setattr(log, "write", write))
        log.write = lambda line: None

    def check(self, *expected):
        told = quarantine.in_state(self.state)
        self.assertEqual(len(told), len(expected), told)
        for sentence, (name, why) in zip(told, expected):
            self.assertEqual(
                sentence, "state/%s %s: I saved it as %s.bad." % (name, why, name.split("/")[-1])
            )
            self.assertFalse(files.exists(self.state + "/" + name))
        # Once.
        self.assertEqual(quarantine.in_state(self.state), [])

    def test_what_is_right_stays(self):
        for name in NAMES:
            files.write_atomic(self.state + "/" + name, "x" * 100)
        self.check()
        for name in NAMES:
            self.assertEqual(files.size(self.state + "/" + name), 100)

    def test_a_file_system_without_kinds(self):
        if not hasattr(os, "ilistdir"):
            return
        listed = os.ilistdir

        class Os:
            stat = os.stat

            @staticmethod
            def ilistdir(folder):
                for one in listed(folder):
                    yield (one[0], 0) + one[2:]

        for name in NAMES:
            files.write_atomic(self.state + "/" + name, "x")
        package.os = Os
        try:
            self.check()
            files.make_dirs(self.state + "/folder.json")
            self.check(("folder.json", "was not a file"))
        finally:
            package.os = os

    def test_a_folder_in_place_of_any_file(self):
        for name in NAMES:
            place = self.state + "/" + name
            files.make_dirs(place)
            files.write_atomic(place + "/x", "x")
            self.check((name, "was not a file"))
            self.assertTrue(files.is_file(place + ".bad/x"))

    def test_a_file_in_place_of_a_folder(self):
        for name in ("sessions", "mcp"):
            os.rmdir(self.state + "/" + name)
            files.write_atomic(self.state + "/" + name, "x")
            self.check((name, "was not a folder"))

    def test_a_link_is_no_file_of_the_agents(self):
        if not hasattr(os, "symlink"):
            return
        files.write_atomic(self.state + "/../secret", "x")
        os.symlink("../secret", self.state + "/runs.jsonl")
        self.check(("runs.jsonl", "was not a file"))
        self.assertTrue(files.is_file(self.state + "/../secret"))

    def test_megabytes(self):
        piece = bytes(1024)
        for name, most_kb in (("sending.a", 4), ("heartbeat.json", 128), ("runs.jsonl", 1024)):
            files.write_atomic(self.state + "/" + name, (piece for _ in range(most_kb)))
            self.check()
            files.write_atomic(self.state + "/" + name, (piece for _ in range(most_kb + 1)))
            self.check((name, "had over %d KB" % most_kb))
        # A history and readings are as large as their settings allow.
        for name in ("sessions/telegram_1.jsonl", "readings"):
            files.write_atomic(self.state + "/" + name, (piece for _ in range(1500)))
        self.check()


if __name__ == "__main__":
    unittest.main()
