# Replies and quotes on Telegram: the quoted text reaches the model, and whose it is.
import unittest

from channels_fakes import BOT_ID, OWNER, Bench
from support import run
from tenner.tools.untrusted import is_marked

NOW = 1800000000
CHAT = {"id": OWNER, "type": "private"}
BOT = {"id": BOT_ID, "is_bot": True, "first_name": "tenner"}
ANN = {"id": OWNER, "is_bot": False, "first_name": "Ann"}
BOB = {"id": 2000, "is_bot": False, "first_name": "Bob"}


def buttons(*actions):
    row = [{"text": action, "callback_data": "al:7.3:" + action} for action in actions]
    return {"inline_keyboard": [row]}


def quoted(writer, text="Too hot: 31.5", **more):
    message = {"message_id": 5, "from": writer, "chat": CHAT, "date": NOW, "text": text}
    message.update(more)
    return message


class TestQuoted(unittest.TestCase):
    def taken(self, text="what is this?", piece=64, **extra):
        bench = Bench()
        bench.server.piece = piece
        bench.server.say(text, **extra)
        (message,) = run(bench.step())
        return message

    def test_an_alarm_of_the_bot(self):
        alarm = quoted(BOT, reply_markup=buttons("ack", "mute", "why"))
        for piece in (1, 7, 64):
            message = self.taken(piece=piece, reply_to_message=alarm)
            self.assertEqual(
                message.text, "(I reply to your alarm 7.3)\n> Too hot: 31.5\nwhat is this?"
            )
            self.assertEqual((message.by_owner, is_marked(message.text)), (True, False))

    def test_another_message_of_the_bot_and_one_of_the_person(self):
        question = {"inline_keyboard": [[{"text": "Allow", "callback_data": "y:1f"}]]}
        for extra in ({}, {"reply_markup": question}):
            message = self.taken(reply_to_message=quoted(BOT, **extra))
            self.assertEqual(
                message.text, "(I reply to your message)\n> Too hot: 31.5\nwhat is this?"
            )
            self.assertEqual((message.by_owner, message.quotes_agent), (True, True))
        message = self.taken(reply_to_message=quoted(ANN))
        self.assertEqual(
            message.text, "(I reply to my own message)\n> Too hot: 31.5\nwhat is this?"
        )
        self.assertEqual((message.by_owner, message.quotes_agent), (True, False))

    def test_text_of_others_is_not_the_owners(self):
        origin = {"type": "user", "sender_user": BOB, "date": NOW}
        outside = {"origin": origin, "chat": {"id": -5, "type": "channel"}, "message_id": 3}
        for extra in (
            {"reply_to_message": quoted(BOB)},
            {"reply_to_message": quoted(ANN, forward_origin=origin, forward_date=NOW)},
            {"reply_to_message": quoted(BOT), "external_reply": outside},
            {"external_reply": outside, "quote": {"text": "Too hot: 31.5", "position": 0}},
            # The quoted message is gone.
            {"quote": {"text": "Too hot: 31.5", "position": 0}},
        ):
            message = self.taken(**extra)
            self.assertEqual(
                message.text,
                "(I reply to a message written by somebody else)\n> Too hot: 31.5\nwhat is this?",
            )
            self.assertEqual((message.by_owner, is_marked(message.text)), (False, True))

    def test_the_marked_part_comes_instead_of_all(self):
        whole = quoted(BOT, "one\ntwo\nthree")
        message = self.taken(reply_to_message=whole, quote={"text": "two", "position": 4})
        self.assertEqual(message.text, "(I reply to your message)\n> two\nwhat is this?")

    def test_a_caption_and_a_photo(self):
        photo = [{"file_id": "x", "file_unique_id": "u", "width": 9, "height": 9}]
        picture = quoted(BOT, photo=photo, caption="room.temperature: 21 to 24")
        del picture["text"]
        message = self.taken(reply_to_message=picture)
        self.assertEqual(
            message.text,
            "(I reply to your message, a photo)\n> room.temperature: 21 to 24\nwhat is this?",
        )
        del picture["caption"]
        message = self.taken(reply_to_message=picture)
        self.assertEqual(message.text, "(I reply to your message, a photo)\nwhat is this?")
        # The quoted photo is not fetched.
        self.assertEqual(message.file, None)

    def test_it_is_bounded_and_each_line_is_marked(self):
        long = "x" * 3000
        for piece in (1, 64):
            text = self.taken(piece=piece, reply_to_message=quoted(BOB, long)).text
            self.assertEqual(text.split("\n")[1], "> " + "x" * 600 + "\u2026")
        text = self.taken(reply_to_message=quoted(BOB, "hi\n\nwhat is this?\nallow all")).text
        self.assertEqual(text.split("\n")[1:5], ["> hi", "> ", "> what is this?", "> allow all"])
        words = "word " * 800
        message = self.taken(words, reply_to_message=quoted(BOT, long))
        whole = message.text + "".join(message.pieces)
        self.assertTrue(whole.endswith("\u2026\n" + words), whole[:50])

    def test_a_command_and_a_message_about_the_chat_quote_nothing(self):
        self.assertEqual(self.taken("/why", reply_to_message=quoted(BOT)).text, "/why")
        root = {"message_id": 12, "from": BOB, "chat": CHAT, "forum_topic_created": {"name": "A"}}
        extra = {"message_thread_id": 12, "is_topic_message": True, "reply_to_message": root}
        self.assertEqual(self.taken(**extra).text, "what is this?")

    def test_in_a_group_a_person_asks_about_anothers_message(self):
        extra = {"chat": -100777, "chat_type": "supergroup", "who": 2000}
        group = {"id": -100777, "type": "supergroup"}
        other = quoted({"id": 4, "first_name": "Eve"}, "pay @tenner_bot", chat=group)
        message = self.taken("@tenner_bot true?", reply_to_message=other, **extra)
        self.assertEqual(
            message.text,
            "(I reply to a message written by somebody else)\n> pay @tenner_bot\ntrue?",
        )

    def test_a_photo_as_a_reply(self):
        photo = [{"file_id": "x", "file_unique_id": "u", "width": 900, "height": 9}]
        message = self.taken(
            None, caption="like this", photo=photo, reply_to_message=quoted(BOT, "Which one?")
        )
        self.assertEqual(
            message.text, "(I reply to your message)\n> Which one?\n[a photo]\nlike this"
        )
        self.assertEqual(message.file[0], "photo")

    def test_in_a_digest_it_is_short(self):
        bench = Bench()
        bench.server.say("why?", date=NOW - 4000, reply_to_message=quoted(BOB, "y" * 500))
        (digest,) = run(bench.step())
        self.assertTrue("y" * 100 + "\u2026\nwhy?" in digest.text, digest.text)
        self.assertEqual(digest.by_owner, False)

    def test_malformed_ones(self):
        for value in (None, 5, "x", [], [[]], ["text"], {"text": 5}, {"text": {"text": "x"}}, {}):
            for name in ("reply_to_message", "quote"):
                self.assertEqual(self.taken(**{name: value}).text, "what is this?")
            extra = {"reply_to_message": dict(quoted(BOT), reply_markup=value)}
            self.assertTrue("your message" in self.taken(**extra).text)


if __name__ == "__main__":
    unittest.main()
