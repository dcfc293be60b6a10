# Sending to Telegram: the requests, and the reaction to each outcome.
import asyncio
import json
import unittest

from channels_checks import visible
from channels_fakes import Bench, refusal
from support import run

BAD_ENTITY = refusal(400, "Bad Request: can't parse entities: Unsupported start tag")


def send(text, *steps, reply_to=None, chat="1000"):
    bench = Bench()
    bench.server.plan["sendMessage"] = list(steps)
    return bench, run(bench.bot.send(chat, text, reply_to))


class TestMessages(unittest.TestCase):
    def test_markdown_goes_as_html(self):
        bench, result = send("**21.4 \u00b0C** in `room` <ok> \U0001f600")
        self.assertEqual(result, ("ok", 9001))
        fields = bench.server.sent[0]
        self.assertEqual(fields["chat_id"], 1000)
        self.assertEqual(fields["parse_mode"], "HTML")
        self.assertEqual(
            fields["text"], "<b>21.4 \u00b0C</b> in <code>room</code> &lt;ok&gt; \U0001f600"
        )
        self.assertFalse("reply_parameters" in fields)

    def test_an_answer_quotes_the_message_and_outlives_it(self):
        bench, _ = send("yes", reply_to=42)
        quoted = bench.server.sent[0]["reply_parameters"]
        self.assertEqual(quoted, {"message_id": 42, "allow_sending_without_reply": True})

    def test_a_channel_by_name(self):
        bench, _ = send("yes", chat="@news")
        self.assertEqual(bench.server.sent[0]["chat_id"], "@news")

    def test_every_kind_of_text_arrives_whole(self):
        for text in (
            "a" * 4096,
            "\u6c49" * 4096,
            "\U0001f600" * 2048,
            'q"\\\n\t\x01' * 50,
            "[" * 4096,
        ):
            bench, result = send(text)
            self.assertEqual(result[0], "ok")
            self.assertEqual(visible(bench.server.sent[0]["text"]), text)

    def test_marks_that_are_refused_go_as_they_are(self):
        bench, result = send("**a** _b_", BAD_ENTITY)
        self.assertEqual(result[0], "ok")
        self.assertEqual(bench.server.sent[0]["text"], "**a** _b_")
        self.assertFalse("parse_mode" in bench.server.sent[0])

    def test_a_table_that_grows_past_the_limit_goes_as_it_is(self):
        rows = ["| " + "x" * 60 + " | b |", "|---|---|"] + ["| 1 | 2 |"] * 80
        bench, result = send("\n".join(rows))
        self.assertEqual(result[0], "ok")
        self.assertFalse("parse_mode" in bench.server.sent[0])

    def test_a_mark_without_text_goes_as_it_is(self):
        bench, result = send("```py")
        self.assertEqual((result[0], bench.server.sent[0]["text"]), ("ok", "```py"))


class TestOutcomes(unittest.TestCase):
    def test_refusals_of_telegram(self):
        for step, expected in (
            (refusal(429, "Too Many Requests", retry_after=7), ("retry", 7)),
            (refusal(429, "Too Many Requests"), ("retry", None)),
            ((413, b"<html>"), ("refused", "HTTP 413")),
            (refusal(500, "Internal Server Error"), ("retry", None)),
            ((502, b"<html>"), ("retry", None)),
            (refusal(401, "Unauthorized"), ("retry", None)),
            (
                refusal(403, "Forbidden: bot was blocked by the user"),
                ("refused", "Forbidden: bot was blocked by the user"),
            ),
            (
                refusal(400, "Bad Request: chat not found"),
                ("refused", "Bad Request: chat not found"),
            ),
        ):
            _, result = send("x", step)
            self.assertEqual(result, expected)

    def test_a_group_that_has_moved_gets_it_at_its_new_id(self):
        moved = refusal(400, "Bad Request: group chat was upgraded", migrate_to_chat_id=-100987)
        bench, result = send("**x**", moved, reply_to=7, chat="-5")
        self.assertEqual(result, ("ok", 9001))
        fields = bench.server.sent[0]
        self.assertEqual((fields["chat_id"], fields["text"]), (-100987, "<b>x</b>"))
        # The message to quote is in the old group.
        self.assertFalse("reply_parameters" in fields)
        _, result = send("x", moved, moved, chat="-5")
        self.assertEqual(result[0], "refused")

    def test_a_text_that_telegram_calls_empty(self):
        for why in ("message text is empty", "text must be non-empty"):
            empty = refusal(400, "Bad Request: " + why)
            for text, tries in (("\u200b", 2), ("**\u200b**", 2), ("\u2060\ufeff", 2)):
                bench, result = send(text, *[empty] * tries, reply_to=7)
                (sent,) = bench.server.sent
                self.assertEqual((result[0], sent["text"]), ("ok", "(The model gave no text.)"))
                self.assertEqual(sent["reply_parameters"]["message_id"], 7)
        _, result = send("\u200b", *[empty] * 3)
        self.assertEqual(result[0], "refused")

    def test_html_that_is_too_long_goes_as_it_is(self):
        for why in ("message is too long", "MESSAGE_TOO_LONG"):
            bench, result = send("**a**", refusal(400, "Bad Request: " + why))
            self.assertEqual((result[0], bench.server.sent[0]["text"]), ("ok", "**a**"))

    def test_plain_text_that_is_refused_is_not_tried_for_ever(self):
        _, result = send("**x**", BAD_ENTITY, BAD_ENTITY)
        self.assertEqual(result[0], "refused")

    def test_before_the_request_was_sent_there_is_no_doubt(self):
        for failure in (
            OSError(113),
            EOFError(),
            ValueError("certificate"),
            asyncio.TimeoutError(),
        ):
            # MicroPython takes the first bytes before the handshake, and sends them after it.
            for place in ("cut", "shake"):
                for text in ("x", "**x**", "x" * 3000):
                    _, result = send(text, (place, failure))
                    self.assertEqual(result, ("retry", None))

    def test_without_memory_for_the_request_nothing_was_sent(self):
        for place in ("cut", "shake"):
            with self.assertRaises(MemoryError):
                send("x", (place, MemoryError("none")))

    def test_after_it_the_answer_is_lost(self):
        for failure in (OSError(104), EOFError(), asyncio.TimeoutError(), MemoryError("none")):
            _, result = send("x", failure)
            self.assertEqual(result[0], "unknown")
        _, result = send("x", (200, b'{"ok":tr'))
        self.assertEqual(result[0], "unknown")

    def test_a_request_is_not_repeated_behind_our_back(self):
        from tenner.channels.telegram.message import Body

        body = Body({"chat_id": 1}, b'"x"')
        first, second = b"".join(body()), b"".join(body())
        self.assertEqual(json.loads(first.decode()), {"chat_id": 1, "text": '"x"'})
        self.assertEqual(first, second)
        with self.assertRaises(OSError):
            list(body())
        # The consumer of the last piece may fail after that has left.
        body = Body({"chat_id": 1}, b'"x"')
        list(body())
        for piece in body():
            self.assertEqual(body.taken, piece == b'"}')
        # A request that was not all taken may be sent again, after it was counted again.
        body = Body({"chat_id": 1}, b'"x"')
        list(body())
        next(body())
        self.assertEqual(b"".join(body()), first)
        self.assertEqual(b"".join(body()), first)
        self.assertTrue(body.taken)


class TestRest(unittest.TestCase):
    def test_it_has_begun_when_the_first_byte_may_leave(self):
        for step, begun in ((OSError(113), 1), (("cut", OSError(104)), 0), (None, 1)):
            bench = Bench()
            if step:
                bench.server.plan["sendMessage"] = [step]
            calls = []
            run(bench.bot.send("1000", "x", began=lambda calls=calls: calls.append(1)))
            self.assertEqual(len(calls), begun, step)

    def test_idle_closes_the_connection(self):
        bench = Bench()
        run(bench.bot.idle())
        self.assertEqual(bench.server.closed, 0)
        run(bench.bot.send("1000", "x"))
        run(bench.bot.idle())
        self.assertEqual(bench.server.closed, 1)


if __name__ == "__main__":
    unittest.main()
