# tenner tests: the list of commands for the menu of Telegram's apps.
# MIT license; Copyright (c) 2026 the tenner authors

import unittest

from channels_fakes import Bench, FakeState, refusal
from support import run
from tenner.channels import commands
from tenner.channels.telegram import command_list


def told(bench):
    """Return the lists that a bench has sent."""
    return [fields["commands"] for name, fields in bench.server.calls if name == "setMyCommands"]


class TestList(unittest.TestCase):
    def start(self, state, **plan):
        bench = Bench()
        bench.commands = state
        bench.server.plan.update(plan)
        bench.server.say("hello")
        self.assertEqual([one.text for one in run(bench.step())], ["hello"])
        return bench

    def test_all_commands_are_told_those_of_help_first(self):
        (found,) = told(self.start(FakeState()))
        names = [one["command"] for one in found]
        self.assertEqual(names[:3], ["sensors", "alarms", "chart"])
        self.assertEqual(sorted(names), sorted([row[0] for row in commands.rows()]))
        for one in found:
            # As Telegram has it.
            self.assertTrue(1 <= len(one["command"]) <= 32, one)
            self.assertEqual(one["command"].strip("abcdefghijklmnopqrstuvwxyz0123456789_"), "")
            self.assertTrue(1 <= len(one["description"]) <= 256, one)

    def test_once_for_each_list(self):
        state = FakeState()
        self.assertEqual(len(told(self.start(state))), 1)
        self.assertEqual(state.kept, {"c": command_list.checksum()})
        self.assertEqual(told(self.start(state)), [])
        state.kept["c"] += 1
        self.assertEqual(len(told(self.start(state))), 1)

    def test_a_failure_stops_nothing_and_waits_for_the_next_start(self):
        for failure in (refusal(400, "Bad Request: BOT_COMMAND_INVALID"), OSError(113)):
            state = FakeState()
            self.start(state, setMyCommands=[failure])
            self.assertEqual(state.kept, {})
        self.assertEqual(len(told(self.start(state))), 1)

    def test_a_full_flash_stops_nothing(self):
        class Full(FakeState):
            def save(self, state):
                raise OSError(28)

        self.assertEqual(len(told(self.start(Full()))), 1)


if __name__ == "__main__":
    unittest.main()
