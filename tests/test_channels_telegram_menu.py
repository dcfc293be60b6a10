# tenner tests: answers with buttons, and the presses of these.
# MIT license; Copyright (c) 2026 the tenner authors

import json
import unittest

from channels_fakes import Bench
from fakes import FakePort
from support import run, temp_folder
from tenner.agent.message_queue import Message
from tenner.channels import commands
from tenner.channels.telegram import guests, menu
from tenner.chart import command as chart
from tenner.sensors.ring import Ring
from tenner.store import attachments, files
from tenner.store.config import Config

GUEST = 2000
GROUP = -100
STRANGER = 3000


class App:
    def __init__(self, state):
        self.state = state
        self.config = Config()
        self.delivered = []

    def deliver(self, channel, chat, text):
        self.delivered.append((channel, chat, text))

    def menu(self):
        """Return (text, buttons as JSON) of the only message."""
        ((channel, chat, text),) = self.delivered
        assert (channel, chat) == ("telegram/file", "1000")
        kind, buttons, text = attachments.unpack(text)
        assert kind == attachments.MENU
        return text, buttons


class TestMenu(unittest.TestCase):
    def sent(self, app):
        """Send the menu of `app`; return (text, rows of (label, data))."""
        text, buttons = app.menu()
        bench = Bench()

        async def scene():
            return await menu.send(bench.bot, "1000:7", buttons, text, lambda: None)

        self.assertEqual(run(scene())[0], "ok")
        (fields,) = bench.server.sent
        self.assertEqual((fields["chat_id"], fields["message_thread_id"]), (1000, 7))
        self.assertNotIn("parse_mode", fields)
        rows = fields["reply_markup"]["inline_keyboard"]
        for row in rows:
            for button in row:
                self.assertTrue(0 < len(button["callback_data"].encode()) <= 64, button)
        return fields["text"], [[(b["text"], b["callback_data"]) for b in row] for row in rows]

    def choices(self, names, channel="telegram"):
        app = App(temp_folder(self))
        ring = Ring(app.state + "/readings", 65536)
        ring.keep(1800000000, [(name, 1.5) for name in names])
        return app, chart.command(app, "chart", "", channel, "1000")

    def test_a_chart_without_words_offers_the_values(self):
        app, answer = self.choices(("room.temperature", "a.b", "greenhouse.soil_temperature"))
        self.assertEqual(answer, "")
        text, rows = self.sent(app)
        self.assertTrue(text.endswith("send, for example, /chart a.b 7d"), text)
        self.assertEqual(
            rows,
            [
                [("a.b", "c:a.b")],
                [("greenhouse.soil_temperature", "c:greenhouse.soil_temperature")],
                [("room.temperature", "c:room.temperature")],
            ],
        )

    def test_what_fits_no_button_is_in_the_text(self):
        long = "x" * 40 + "." + "y" * 40
        names = ["s%02d.v" % number for number in range(26)] + [long]
        app, _ = self.choices(names)
        text, rows = self.sent(app)
        self.assertEqual([len(row) for row in rows], [2] * 12)
        lines = text.split("\n")
        expected = ["/chart s24.v", "/chart s25.v", "/chart " + long]
        self.assertEqual(lines[1:], ["Without a button:"] + expected)

    def test_other_channels_get_a_list(self):
        app, answer = self.choices(("a.b",), "console")
        self.assertEqual((answer.split("\n")[1:], app.delivered), (["/chart a.b"], []))

    def test_start_has_three_examples(self):
        app = App("")
        app.config.put("name", "attic")
        message = Message("telegram", "1000", "/start", "1000")
        self.assertEqual(run(commands.run(app, message)), "")
        text, rows = self.sent(app)
        self.assertTrue(text.startswith("I am attic, the agent on your board."), text)
        self.assertEqual(
            [[label for label, _ in row] for row in rows],
            [["What is the temperature?"], ["Open alarms", "Chart of today"]],
        )
        bench = Bench()
        for row in rows:
            for _, data in row:
                bench.server.press(data)
        taken = run(bench.step())
        self.assertEqual(
            [one.text for one in taken], ["What is the temperature?", "/alarms", "/chart"]
        )

    def test_a_tap_of_a_person_who_is_let_in_is_their_message(self):
        bench = Bench(allow=[GUEST, GROUP])
        bench.bot.home = "1000:7"
        for who, chat, taken in (
            (1000, 1000, ("1000:7", "1000", True)),
            (1000, GROUP, ("-100", "1000", True)),
            (GUEST, GUEST, ("2000", "2000", False)),
            (STRANGER, GROUP, ("-100", "3000", False)),
            (STRANGER, STRANGER, None),
            (STRANGER, 1000, None),
            (STRANGER, -999, None),
        ):
            bench.server.press("c:room.temperature", who=who, chat=chat)
            found = run(bench.step())
            self.assertEqual(
                [(one.chat, one.sender, one.by_owner) for one in found], [taken] if taken else []
            )
            for one in found:
                self.assertEqual(one.text, "/chart room.temperature 24h")
        names = [name for name, _ in bench.server.calls]
        self.assertEqual(names.count("answerCallbackQuery"), 7)
        # Their menu stays.
        self.assertNotIn("editMessageReplyMarkup", names)

    def test_a_tap_that_means_nothing_more_is_answered(self):
        bench = Bench()
        bench.server.press("s:gone")
        self.assertEqual(run(bench.step()), [])
        (answer,) = [f for name, f in bench.server.calls if name == "answerCallbackQuery"]
        self.assertTrue("Send /start" in answer["text"], answer)

    def test_the_owner_lets_a_stranger_in_by_a_button(self):
        bench = Bench()
        bench.server.say("hello", who=STRANGER)
        run(bench.step())
        ((chat, packed, _, _),) = bench.said
        kind, buttons, text = attachments.unpack(packed)
        self.assertEqual((chat, kind), ("1000", attachments.MENU))
        self.assertTrue(text.startswith("A stranger wrote: "), text)
        labels = [label for label, _ in json.loads(buttons)]
        let, ignore = [data for _, data in json.loads(buttons)]
        self.assertEqual(labels, ["Let in", "Ignore"])
        for who in (STRANGER, GUEST):
            bench.server.press(let, who=who)
            bench.server.press(let, who=who, chat=1000)
        self.assertEqual(run(bench.step()), [])
        names = [name for name, _ in bench.server.calls]
        self.assertEqual(names.count("answerCallbackQuery"), 4)
        self.assertNotIn("editMessageReplyMarkup", names)
        bench.server.press(ignore)
        self.assertEqual(run(bench.step()), [])
        bench.server.press(let)
        (message,) = run(bench.step())
        self.assertEqual(
            (message.text, message.chat, message.by_owner), ("/guest let 3000", "1000", True)
        )
        # Both take the buttons away.
        closed = [f for name, f in bench.server.calls if name == "editMessageReplyMarkup"]
        self.assertEqual(closed, [{"chat_id": 1000, "message_id": 9001}] * 2)

    def test_a_full_queue_is_told(self):
        bench = Bench(inbound_limit=1)
        bench.server.press("s:alarms")
        bench.server.press("s:alarms")
        run(bench.step())
        answers = [f for name, f in bench.server.calls if name == "answerCallbackQuery"]
        self.assertEqual([one.get("text", "")[:8] for one in answers], ["", "Too much"])


class TestGuests(unittest.TestCase):
    def setUp(self):
        self.folder = temp_folder(self)
        self.app = App(self.folder)
        self.app.port = FakePort(self.folder)
        self.app.port.root = self.folder
        self.app.owner = lambda: ("telegram", "1000")
        self.write({"name": "attic"})

    def write(self, settings):
        files.write_atomic(self.app.port.path("config.json"), json.dumps(settings))

    def settings(self):
        return json.loads(files.read_text(self.app.port.path("config.json")))

    def command(self, args, chat="1000"):
        answer = guests.command(self.app, "guest", args, "telegram", chat)
        return answer if isinstance(answer, str) else run(answer)

    def test_a_guest_is_kept_and_let_in_at_once(self):
        self.assertIn("Let in: nobody.", self.command(""))
        self.assertIn("User 4242 is let in", self.command("let 4242"))
        self.assertEqual(self.settings(), {"name": "attic", "telegram": {"allow": ["4242"]}})
        self.assertEqual(self.app.config.get("telegram.allow"), ["4242"])
        self.assertIn("let in already", self.command("let 4242"))
        self.assertIn("User 5 is let in", self.command("let 5"))
        self.assertIn("Let in: 4242, 5.", self.command(""))
        self.assertEqual(self.command("out 4242"), "User 4242 is out.")
        self.assertEqual(self.settings()["telegram"], {"allow": ["5"]})
        self.assertIn("out already", self.command("out 4242"))

    def test_nobody_else_lets_people_in(self):
        for chat in ("2000", "-1000", "4242"):
            self.assertIn("Only the owner lets people in", self.command("let 4242", chat))
        self.app.owner = lambda: ("telegram", "-1000")
        self.assertIn("Only the owner lets people in", self.command("let 4242", "-1000"))
        self.app.owner = lambda: ("telegram", "1000")
        for args in ("let", "let bob", "let -100", "let 1 2", "in 4242", "let " + "9" * 17):
            self.assertIn("expected let or out", self.command(args))
        self.assertEqual(self.settings(), {"name": "attic"})

    def test_damaged_settings_stay_as_they_are(self):
        files.write_atomic(self.app.port.path("config.json"), "{broken")
        self.assertIn("Nothing changed: config.json: ", self.command("let 4242"))
        self.assertEqual(files.read_text(self.app.port.path("config.json")), "{broken")
        self.assertEqual(self.app.config.get("telegram.allow") or [], [])


if __name__ == "__main__":
    unittest.main()
