# tenner test: a wrong thing in the place of a prompt file is quarantined and reported, and ends no
# turn. MIT license; Copyright (c) 2026 the tenner authors

import json
import os
import unittest
from binascii import b2a_base64, hexlify

from agent_fakes import Reply, make_agent
from support import run, temp_folder
from tenner import log
from tenner.agent import context
from tenner.agent.history_lines import call_record, record
from tenner.agent.turn import Turn
from tenner.store import files, quarantine


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
        self.assertIn("SOUL.md was not a file: I saved it as SOUL.md.bad.", told)
        self.assertIn("skills was not a folder: I saved it as skills.bad.", told)
        self.assertTrue(files.is_file(self.home + "/memory/MEMORY.md.bad/x"))
        self.assertEqual(quarantine.in_workspace(self.home), [])

    def test_what_is_right_stays(self):
        files.make_dirs(self.home + "/memory")
        for name in ("SOUL.md", "memory/MEMORY.md", "HEARTBEAT.md"):
            files.write_atomic(self.home + "/" + name, "x")
        self.assertEqual(quarantine.in_workspace(self.home), [])
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

    def test_no_secret_leaves_in_the_history_however_it_is_spelled(self):
        secret = 'p\u00e4ss "w/\\ord+%s'
        other = "nabcdef"
        for one in (secret, other):
            log.hide(one)
            self.addCleanup(log._secrets.remove, one)
        as_json = json.dumps({"key": secret})
        data = secret.encode()
        spelled = [
            secret,
            as_json[9:-2],
            as_json[9:-2].replace("\\u00e4", "\u00e4"),
            "p%C3%A4ss%20%22w%2F%5Cord%2B%25s",
            "p%c3%a4ss+%22w%2f%5cord%2b%25s",
            repr(data)[2:-1],
            'p\\xe4ss "w/\\\\ord+%s',
            hexlify(data).decode(),
            hexlify(data).decode().upper(),
        ]
        for around in (b"", b"a", b"ab"):
            spelled.append(b2a_base64(around + data + b"xyz").decode().strip())
        agent = make_agent(self.folder)
        for text in spelled:
            # Anywhere in a long line, and where lines are sent several at once.
            for start in [0, 1] + list(range(300, 420, 7)):
                turn = Turn(agent, "person", "hello")
                turn.session = None
                said = "x" * start + " " + text + "y" * 500 + " " + text
                turn.lines = [
                    record("u", said),
                    record("t", text, "1"),
                    record("a", "fine\nabcdef"),
                ]
                turn.lines.append(call_record("2", "a", json.dumps({"k": text})))
                sent = b"".join(context.records(turn))
                lines = [json.loads(line) for line in sent.split(b"\n")[:-1]]
                self.assertEqual([line[0] for line in lines], ["u", "t", "a", "c"])
                self.assertNotIn(text, lines[0][1])
                self.assertIn("x" * start + " ", lines[0][1])
                self.assertEqual(lines[0][1].count("***"), 2, (text, lines[0][1]))
                self.assertIn("***", lines[1][2])
                # The n of a new line is no letter of a secret.
                self.assertEqual(lines[2][1], "fine\nabcdef")
                self.assertIn("***", lines[3][3]["k"])
            turn.system = "before " + text + " after"
            self.assertIn(b"***", b"".join(context.system(agent, turn)))

    def test_a_history_without_secrets_is_sent_as_it_is(self):
        log.hide("s3cret-word")
        self.addCleanup(log._secrets.remove, "s3cret-word")
        turn = Turn(make_agent(self.folder), "person", "hello")
        turn.session = None
        turn.lines = [record("u", "x" * 2000), record("a", "\u00e4" * 900), record("u", "y")]
        pieces = list(context.records(turn))
        self.assertEqual(b"".join(pieces), b"".join(turn.lines))
        # Each as long as those who read them want, with the head of its line.
        self.assertTrue(max(len(piece) for piece in pieces) <= 2 * 256)
        self.assertTrue(len(pieces[0]) >= 256)

    def test_a_skill_that_is_a_folder_is_left_out(self):

        files.make_dirs(self.home + "/skills/a/SKILL.md")
        files.make_dirs(self.home + "/skills/b")
        files.write_atomic(
            self.home + "/skills/b/SKILL.md", "---\nname: b\ndescription: does\n---\n"
        )
        self.assertEqual(b"".join(context.skill_pieces(self.home)).count(b"\n- "), 1)


if __name__ == "__main__":
    unittest.main()
