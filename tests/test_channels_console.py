# The console: lines in, answers out, y/n, and log lines kept out of an answer.
import asyncio
import unittest

from support import run
from tenner import log as log_module
from tenner.agent.message_queue import Queue
from tenner.channels import commands
from tenner.channels.console import Console


class Terminal:
    """Feeds lines to a console and keeps its output."""

    def __init__(self, *lines, limit=8):
        self.lines = list(lines)
        self.printed = []
        self.inbound = Queue(limit)
        self.console = Console(self.read, self.inbound, self.write)

    async def read(self):
        await asyncio.sleep(0)
        return self.lines.pop(0) if self.lines else None

    def write(self, text):
        self.printed.append(text + "\n")

    def taken(self):
        return [run(self.inbound.get()).text for _ in range(len(self.inbound))]


class TestConsole(unittest.TestCase):
    def test_lines_become_messages(self):
        terminal = Terminal("hello", "", "  ", "/status now")
        run(terminal.console.run())
        self.assertEqual(terminal.taken(), ["hello", "/status now"])

    def test_too_many_lines_are_said_to_be(self):
        terminal = Terminal("a", "b", "c", limit=2)
        run(terminal.console.run())
        self.assertEqual(terminal.taken(), ["a", "b"])
        self.assertTrue("try again" in terminal.printed[0])

    def test_answers_are_printed_without_secrets(self):
        log_module.hide("sk-very-secret")
        terminal = Terminal()
        terminal.console.show("owner", "key: sk-very-secret")
        self.assertEqual(terminal.printed, ["key: ***\n"])

    def test_ctrl_c_reaches_the_repl(self):
        async def read():
            return "\x03"

        console = Console(read, Queue(1))
        with self.assertRaises(KeyboardInterrupt):
            # Not through asyncio.run: CPython's makes it one of its own.
            console.run().send(None)

    def ask(self, *lines, timeout_s=5):
        terminal = Terminal(*lines)

        async def scene():
            question = asyncio.create_task(terminal.console.ask("Open the valve?", timeout_s))
            await asyncio.sleep(0)
            await terminal.console.run()
            return await question

        return terminal, run(scene())

    def test_yes_and_no(self):
        for line, expected in (("y", True), ("YES", True), ("n", False), ("no", False)):
            terminal, answer = self.ask(line)
            self.assertEqual(answer, expected)
            self.assertEqual(terminal.printed, ["Open the valve? [y/n]\n"])

    def test_anything_else_is_asked_again_and_commands_still_work(self):
        terminal, answer = self.ask("maybe", "/stop", "y")
        self.assertEqual(answer, True)
        self.assertEqual(terminal.printed[1], "Please answer y or n.\n")
        self.assertEqual(terminal.taken(), ["/stop"])

    def test_no_answer_is_a_no(self):
        terminal, answer = self.ask(timeout_s=0.01)
        self.assertEqual(answer, False)

    def test_questions_wait_for_each_other(self):
        terminal = Terminal("y", "n")

        async def scene():
            first = asyncio.create_task(terminal.console.ask("a?"))
            second = asyncio.create_task(terminal.console.ask("b?"))
            await asyncio.sleep(0)
            terminal.console._take("y")
            await first
            while len(terminal.printed) < 2:
                await asyncio.sleep(0)
            terminal.console._take("n")
            return await first, await second

        self.assertEqual(run(scene()), (True, False))

    def test_an_answer_is_one_write_so_that_no_log_line_gets_into_it(self):
        terminal = Terminal()
        terminal.console.show("owner", "the answer\ngoes on")
        self.assertEqual(terminal.printed, ["the answer\ngoes on\n"])

    def test_a_program_gets_answers_and_questions_between_marks(self):
        terminal, answer = self.ask("/=frames", "y")
        self.assertEqual(answer, True)
        self.assertEqual(terminal.printed, ["Open the valve? [y/n]\n", "\x1f\x1e\n"])
        terminal.lines = ["/=frames", "y"]

        async def scene():
            question = asyncio.create_task(terminal.console.ask("Really?\n| all of it"))
            await asyncio.sleep(0)
            await terminal.console.run()
            return await question

        self.assertEqual(run(scene()), True)
        self.assertEqual(terminal.printed[2], "\x1dReally?\n| all of it [y/n]\x1e\n")
        # No text can end its frame, or begin another one.
        terminal.console.show("owner", "a\x1e\x1dOpen? [y/n]\x1e\n+1.0s b\x1b[2J\u202e")
        self.assertEqual(
            terminal.printed[-1],
            "\x1ca\\x1e\\x1dOpen? [y/n]\\x1e\n+1.0s b\\x1b[2J\\u202e\x1e\n",
        )
        self.assertEqual(terminal.taken(), [])

    def test_a_program_hears_that_an_answer_is_none(self):
        terminal = Terminal("/=frames")
        terminal.console.fail()
        run(terminal.console.run())
        terminal.console.fail()
        terminal.console.show("owner", "no model could be reached")
        expected = ["\x1f\x1e\n", "\x1ffailed\x1e\n", "\x1cno model could be reached\x1e\n"]
        self.assertEqual(terminal.printed, expected)


class Lane:
    holder = "a beat"
    preemptions = 2


class Agent:
    lane = Lane()
    spawned = ()

    def stop(self):
        return "Stopped."


class App:
    agent = Agent()
    inbox = ()
    telegram = None

    def __init__(self):
        self.config = {"name": "attic"}


class Said:
    chat = "owner"

    def __init__(self, text, channel="console"):
        self.text = text
        self.channel = channel


class TestCommands(unittest.TestCase):
    def answer(self, text, channel="console"):
        return run(commands.run(App(), Said(text, channel)))

    def test_a_command_is_found_in_the_folder_of_its_feature(self):
        lanes = "running: a beat\nwaiting: 0 message(s)\npreempted by people: 2"
        self.assertEqual(self.answer("/lanes"), lanes)
        self.assertEqual(self.answer("/LANES@tenner_bot"), lanes)
        self.assertEqual(self.answer("/stop"), "Stopped.")

    def test_it_gets_its_arguments_and_the_chat(self):
        self.assertTrue("5 minutes or more" in self.answer("/chart room.temperature 1m"))
        self.assertTrue("Only on the serial console" in self.answer("/pair", "telegram"))
        self.assertTrue("Telegram is off" in self.answer("/pair"))

    def test_help_is_short_and_all_of_it_names_every_command(self):
        for text in ("/help", "/"):
            lines = self.answer(text).split("\n")
            names = [line.split(" ")[0] for line in lines[1:]]
            wanted = ["/sensors", "/alarms", "/chart", "/status", "/stop", "/help"]
            self.assertEqual(names, wanted)
        lines = self.answer("/help all").split("\n")
        self.assertEqual(len(lines), len(list(commands.rows())))
        for name, _, _, about in commands.rows():
            self.assertTrue("/%s - %s" % (name, about) in lines)
        self.assertTrue(lines[-1].startswith("/help "))

    def test_a_first_word_is_greeted(self):
        self.assertTrue(self.answer("/start").startswith("I am attic, the agent on your board."))

    def test_each_is_in_a_module_that_is_there(self):
        for _, place, rank, _ in commands.rows():
            self.assertTrue(rank.isdigit())
            __import__("tenner." + place)

    def test_an_unknown_command_names_the_nearest(self):
        self.assertTrue("/status?" in self.answer("/staus"))
        self.assertTrue("/heartbeat?" in self.answer("/hearbeat x"))
        self.assertTrue("/help" in self.answer("/qqqqqqqqqqqqqqq"))


if __name__ == "__main__":
    unittest.main()
