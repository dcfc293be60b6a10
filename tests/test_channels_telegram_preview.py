# While an answer is written: typing, a preview that grows by edits, and the answer as its last
# edit.
import asyncio
import unittest

from channels_fakes import Bench, refusal
from support import run
from tenner.channels.telegram.preview import follow

LONG = "The greenhouse was warm all night, and the window stayed open until six in the morning. "
SHORT = "It is warm."


class Writing:
    """A message that is being answered: `drafts` holds the answer so far after each second."""

    def __init__(self, *drafts):
        self.bench = Bench()
        self.bench.server.say("how was the night?")
        self.message = run(self.bench.step())[0]
        self.drafts = list(drafts)
        self.bench.bot.draft = lambda message: self.drafts[0]
        self.bench.bot.sleep = self._second
        self.bench.server.calls.clear()
        self._is_first = True

    async def _second(self, ms):
        assert ms <= 1000
        await asyncio.sleep(0)
        if not self._is_first:
            self.drafts.pop(0)
        self._is_first = False
        if not self.drafts:
            self.bench.bot.done(self.message)

    def follow(self):
        run(follow(self.bench.bot, self.message))
        return self.calls()

    def answer(self, text):
        self.bench.server.calls.clear()
        return run(self.bench.bot.send(self.message.chat, text, self.message.reply_to))

    def calls(self):
        """Return the calls so far: (method, text, message id)."""
        return [
            (name, fields.get("text", "-"), fields.get("message_id"))
            for name, fields in self.bench.server.calls
        ]


class TestPreview(unittest.TestCase):
    def test_typing_is_shown_again_every_four_seconds(self):
        writing = Writing(*[""] * 9)
        self.assertEqual(writing.follow(), [("sendChatAction", "-", None)] * 2)

    def test_what_is_short_is_not_previewed(self):
        self.assertEqual(Writing(SHORT, SHORT).follow(), [])

    def test_a_preview_grows_by_edits_and_the_answer_is_the_last(self):
        writing = Writing(LONG, LONG, LONG + "Then")
        self.assertEqual(
            writing.follow(),
            [
                ("sendMessage", LONG.strip() + " \u2026", None),
                ("editMessageText", LONG + "Then \u2026", 9001),
            ],
        )
        quoted = writing.bench.server.calls[0][1]["reply_parameters"]
        self.assertEqual(quoted["message_id"], writing.message.reply_to)
        self.assertEqual(writing.answer("**All** well."), ("ok", 9001))
        self.assertEqual(writing.calls(), [("editMessageText", "<b>All</b> well.", 9001)])
        # The next message is one of its own.
        writing.answer("And now?")
        self.assertEqual(writing.calls()[0][0], "sendMessage")

    def test_the_answer_takes_the_place_of_a_preview_on_its_way(self):
        writing = Writing(LONG, LONG)
        bench = writing.bench
        shown = {}

        async def scene():
            arrived = asyncio.Event()
            exchange = bench.server.exchange

            async def slow(http_method, url, *more, **phases):
                if url.endswith("sendMessage") and not arrived.is_set():
                    arrived.set()
                    # Time for the answer to be sent, and to overtake.
                    for _ in range(20):
                        await asyncio.sleep(0)
                return await exchange(http_method, url, *more, **phases)

            bench.server.exchange = slow
            preview = asyncio.create_task(follow(bench.bot, writing.message))
            await arrived.wait()
            bench.bot.done(writing.message)
            answer = asyncio.create_task(
                bench.bot.send(writing.message.chat, "All well.", writing.message.reply_to)
            )
            self.assertEqual((await answer)[0], "ok")
            await preview

        run(scene())
        for name, fields in bench.server.calls:
            if name == "sendMessage":
                shown[9001 + len(shown)] = fields["text"]
            elif name == "editMessageText":
                shown[fields["message_id"]] = fields["text"]
        self.assertEqual(shown, {9001: "All well."})

    def test_a_preview_that_waited_for_the_connection_is_not_shown_when_the_answer_is_there(self):
        writing = Writing(LONG, LONG)
        bot = writing.bench.bot

        async def scene():
            await bot.sending.acquire()
            preview = asyncio.create_task(follow(bot, writing.message))
            for _ in range(5):
                await asyncio.sleep(0)
            bot.done(writing.message)
            bot.sending.release()
            await preview

        run(scene())
        self.assertEqual(writing.calls(), [])

    def test_an_answer_of_another_message_does_not_take_the_preview(self):
        writing = Writing(LONG)
        writing.follow()
        writing.bench.server.calls.clear()
        run(writing.bench.bot.send("1000", "an alert", None))
        run(writing.bench.bot.send("2000", "to somebody else", writing.message.reply_to))
        self.assertEqual([name for name, _, _ in writing.calls()], ["sendMessage"] * 2)
        writing.answer("done")
        self.assertEqual(writing.calls()[0][0], "editMessageText")

    def test_nothing_more_is_shown_after_a_failure(self):
        for plan in (OSError(104), refusal(429, "Too Many Requests", retry_after=5)):
            writing = Writing(LONG, LONG + "x", LONG + "xy")
            writing.bench.server.plan["sendMessage"] = [plan]
            self.assertEqual(len(writing.follow()), 1)
            self.assertEqual(writing.answer("done")[0], "ok")
            self.assertEqual(writing.calls()[0][0], "sendMessage")

    def test_an_edit_whose_answer_was_lost_is_made_again(self):
        writing = Writing(LONG)
        writing.follow()
        writing.bench.server.plan["editMessageText"] = [
            OSError(104),
            refusal(400, "Bad Request: message is not modified: the same"),
        ]
        self.assertEqual(writing.answer("done"), ("retry", None))
        self.assertEqual(writing.answer("done"), ("ok", 9001))

    def test_a_preview_that_was_deleted_is_followed_by_a_message(self):
        writing = Writing(LONG)
        writing.follow()
        writing.bench.server.plan["editMessageText"] = [
            refusal(400, "Bad Request: message to edit not found")
        ] * 2
        self.assertEqual(writing.answer("done")[0], "ok")
        self.assertEqual(writing.calls()[-1][0], "sendMessage")

    def test_marks_that_are_refused_are_left_out_of_the_edit(self):
        writing = Writing(LONG)
        writing.follow()
        writing.bench.server.plan["editMessageText"] = [refusal(400, "can't parse entities")]
        self.assertEqual(writing.answer("**done**"), ("ok", 9001))
        self.assertEqual(writing.calls()[-1], ("editMessageText", "**done**", 9001))

    def test_emoji_stay_below_the_limit_of_a_message(self):
        writing = Writing("\U0001f600" * 3000)
        text = writing.follow()[0][1]
        # Each takes two of the 4096 units.
        self.assertEqual(len(text), 2002)

    def test_typing_that_is_refused_is_not_repeated(self):
        writing = Writing(*[""] * 9)
        writing.bench.server.plan["sendChatAction"] = [refusal(403, "no")]
        self.assertEqual(len(writing.follow()), 1)


if __name__ == "__main__":
    unittest.main()
