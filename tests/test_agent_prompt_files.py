# tenner test: what is in the way of a file that turns go by is set aside, told, and ends no turn.
# MIT license; Copyright (c) 2026 the tenner authors

import os
import unittest

from agent_fakes import Reply, make_agent
from support import run, temp_folder
from tenner import log
from tenner.agent import context, prompt_files
from tenner.agent.turn import Turn
from tenner.store import files


class TestPromptFiles(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.home = self.folder + "/workspace"
        files.make_dirs(self.home)

    def test_a_folder_in_place_of_a_file_does_not_end_turns(self):
        for name in ("memory/MEMORY.md", "SOUL.md", "HEARTBEAT.md", "CRON.json"):
            files.make_dirs(self.home + "/" + name)
            files.write_atomic(self.home + "/" + name + "/x", "x")
        files.write_atomic(self.home + "/skills", "no folder")
        agent = make_agent(self.folder, Reply("hello"))
        told = []
        agent.notify = told.append
        result = run(Turn(agent, "person", "hello").run())
        self.assertEqual((result.text, result.error), ("hello", None))
        self.assertEqual(len(told), 5, told)
        self.assertIn("SOUL.md was not a file: it is set aside as SOUL.md.bad.", told)
        self.assertIn("skills was not a folder: it is set aside as skills.bad.", told)
        self.assertTrue(files.is_file(self.home + "/memory/MEMORY.md.bad/x"))
        self.assertEqual(prompt_files.check(self.home), [])

    def test_what_is_right_stays(self):
        files.make_dirs(self.home + "/memory")
        for name in ("SOUL.md", "memory/MEMORY.md", "HEARTBEAT.md"):
            files.write_atomic(self.home + "/" + name, "x")
        self.assertEqual(prompt_files.check(self.home), [])
        self.assertEqual(sorted(os.listdir(self.home)), ["HEARTBEAT.md", "SOUL.md", "memory"])

    def test_no_secret_of_the_settings_leaves_in_a_prompt(self):
        """The bytes of one may be in two pieces of a file, which are sent one after the other."""
        secret = "s3cret w\u00f6rd"
        log.hide(secret)
        self.addCleanup(log._secrets.remove, secret)
        agent = make_agent(self.folder)
        turn = Turn(agent, "person", "hello")
        for start in list(range(250)) + list(range(500, 520)):
            text = "x" * start + secret + "y" * 300 + secret
            files.write_atomic(self.home + "/SOUL.md", text)
            sent = b"".join(context.system(agent, turn)).decode()
            self.assertNotIn("s3cret", sent)
            self.assertIn("x" * start + "***" + "y" * 300 + "***", sent)

    def test_a_skill_that_is_a_folder_is_left_out(self):
        from tenner.agent import skills

        files.make_dirs(self.home + "/skills/a/SKILL.md")
        files.make_dirs(self.home + "/skills/b")
        files.write_atomic(
            self.home + "/skills/b/SKILL.md", "---\nname: b\ndescription: does\n---\n"
        )
        self.assertEqual(b"".join(skills.pieces(self.home)).count(b"\n- "), 1)


if __name__ == "__main__":
    unittest.main()
