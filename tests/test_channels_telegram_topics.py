# Topics of Telegram: answers, files and questions go there, or to the chat if the topic is closed.
import unittest

from channels_fakes import OWNER, Bench, FakeState, refusal
from support import run
from tenner.channels.question import Question
from tenner.channels.telegram import ask, message, preview

GROUP = -100777
FORUM = {"chat": GROUP, "chat_type": "supergroup"}
TOPIC = {"message_thread_id": 12, "is_topic_message": True}
ROOT = {"message_id": 12, "from": {"id": 77, "is_bot": True}, "chat": {"id": GROUP}}
CLOSED = refusal(400, "Bad Request: TOPIC_CLOSED")
GONE = refusal(400, "Bad Request: message thread not found")


def where(fields):
    return fields["chat_id"], fields.get("message_thread_id")


class TestPlaces(unittest.TestCase):
    def place(self, text="@tenner_bot hi", **extra):
        bench = Bench()
        bench.server.say(text, **extra)
        return [message.chat for message in run(bench.step())]

    def test_a_message_names_its_topic(self):
        more = dict(FORUM, **TOPIC)
        self.assertEqual(self.place(**more), ["-100777:12"])
        self.assertEqual(self.place(reply_to_message=ROOT, **more), ["-100777:12"])
        self.assertEqual(self.place(message_thread_id=12, **FORUM), ["-100777:12"])
        self.assertEqual(self.place(**TOPIC), ["1000:12"])
        self.assertEqual(self.place(message_thread_id=12), ["1000:12"])

    def test_a_message_outside_of_all_topics(self):
        self.assertEqual(self.place(**FORUM), ["-100777"])
        self.assertEqual(self.place(message_thread_id=1, **FORUM), ["-100777"])
        reply = dict(ROOT, message_id=5)
        # A chain of replies in a group without topics.
        self.assertEqual(
            self.place(message_thread_id=12, reply_to_message=reply, **FORUM), ["-100777"]
        )

    def test_the_message_that_made_a_topic_is_not_replied_to(self):
        more = dict(FORUM, **TOPIC)
        self.assertEqual(self.place("good morning", reply_to_message=ROOT, **more), [])
        reply = dict(ROOT, message_id=30)
        self.assertEqual(self.place("yes", reply_to_message=reply, **more), ["-100777:12"])

    def test_typing_is_shown_there(self):
        bench = Bench()
        bench.server.say("@tenner_bot hi", **dict(FORUM, **TOPIC))
        run(bench.step())
        shown = [where(fields) for name, fields in bench.server.calls if name == "sendChatAction"]
        self.assertEqual(shown, [(GROUP, 12)])

    def test_the_notice_of_a_restart_goes_there(self):
        bench = Bench()
        bench.server.say("hi", **TOPIC)
        run(bench.step())
        again = Bench(bench.server, FakeState(bench.state.kept))
        run(again.step())
        self.assertEqual([one[0] for one in again.said], ["1000:12"])

    def test_a_refusal_goes_there(self):
        bench = Bench()
        bench.server.say(None, dice={"emoji": "x", "value": 1}, **TOPIC)
        run(bench.step())
        self.assertEqual([one[0] for one in bench.said], ["1000:12"])


class TestHome(unittest.TestCase):
    """Alarms and questions go to the topic in which the owner has written last."""

    def test_of_a_group_and_of_a_person(self):
        for owner, more in ((GROUP, FORUM), (OWNER, {})):
            bench = Bench(owner=str(owner), allow=["1000"])
            home = [bench.bot.home]
            for extra in (TOPIC, {}, dict(TOPIC, message_thread_id=13)):
                bench.server.say("@tenner_bot hi", **dict(more, **extra))
                run(bench.step())
                home.append(bench.bot.home)
            places = ["%s%s" % (owner, end) for end in ("", ":12", "", ":13")]
            self.assertEqual(home, places)
            again = Bench(bench.server, FakeState(bench.state.kept), owner=str(owner))
            self.assertEqual(again.bot.home, places[-1])

    def test_other_chats_and_people_do_not_change_it(self):
        bench = Bench(owner=str(GROUP))
        bench.server.say("hi", who=2000, **TOPIC)
        bench.server.say("@tenner_bot hi", who=3000, **dict(FORUM, **TOPIC))
        run(bench.step())
        self.assertEqual(bench.bot.home, "-100777")

    def test_a_topic_in_the_setting_stays(self):
        bench = Bench(owner="-100777:9", allow=["1000"])
        bench.server.say("@tenner_bot hi", **dict(FORUM, **TOPIC))
        run(bench.step())
        self.assertEqual(bench.bot.home, "-100777:9")
        run(bench.bot.send(bench.bot.home, "x"))
        self.assertEqual(where(bench.server.sent[0]), (GROUP, 9))

    def test_a_question_goes_there(self):
        for text in ("Open the valve?", "Open?\n" + "x" * 3000):
            for steps in ([], [CLOSED]):
                bench = Bench()
                bench.bot.home = "1000:12"
                method = "sendMessage" if len(text) < 2000 else "sendDocument"
                bench.server.plan[method] = list(steps)
                question = Question(text)
                self.assertEqual(run(ask.send(bench.bot, question)), 0)
                self.assertEqual((question.failure, question.message_id), (None, 9001))
                sent = bench.server.sent[0]
                topic = sent.get("message_thread_id")
                self.assertEqual(topic and int(topic), None if steps else 12)

    def test_a_press_is_answered_there(self):
        bench = Bench()
        bench.bot.home = "1000:12"
        bench.server.press("al:7:ack")
        self.assertEqual([message.chat for message in run(bench.step())], ["1000:12"])


class TestSending(unittest.TestCase):
    def send(self, *steps, **more):
        bench = Bench()
        bench.server.plan["sendMessage"] = list(steps)
        return bench, run(bench.bot.send("-100777:12", "**hi**", **more))

    def test_each_part_goes_to_the_topic(self):
        bench, result = self.send()
        self.assertEqual((result[0], where(bench.server.sent[0])), ("ok", (GROUP, 12)))

    def test_where_the_topic_is_closed_or_gone_it_goes_to_the_chat(self):
        for step in (CLOSED, GONE, refusal(400, "Bad Request: TOPIC_DELETED")):
            bench, result = self.send(step, reply_to=5)
            (sent,) = bench.server.sent
            self.assertEqual(
                (result[0], where(sent), sent["text"]), ("ok", (GROUP, None), "<b>hi</b>")
            )
            # The quoted message is in the topic.
            self.assertFalse("reply_parameters" in sent)

    def test_a_refusal_of_the_chat_is_final(self):
        bench, result = self.send(CLOSED, CLOSED)
        self.assertEqual((result[0], bench.server.sent), ("refused", []))

    def test_a_group_that_becomes_a_forum_of_another_id(self):
        moved = refusal(400, "Bad Request: group chat was upgraded", migrate_to_chat_id=-100987)
        bench, result = self.send(moved)
        self.assertEqual((result[0], where(bench.server.sent[0])), ("ok", (-100987, None)))

    def test_a_file(self):
        import os

        from support import temp_folder

        path = temp_folder() + "/x.txt"
        with open(path, "w") as file:
            file.write("words")
        for steps, topic in (([], "12"), ([GONE], None)):
            bench = Bench()
            bench.server.plan["sendDocument"] = list(steps)
            sending = message.send_message(bench.bot, "-100777:12", "document", path, "", print)
            self.assertEqual(run(sending)[0], "ok")
            self.assertEqual(where(bench.server.sent[0]), (str(GROUP), topic))
        os.remove(path)

    def test_a_preview(self):
        bench = Bench()
        bench.server.say("hi", **TOPIC)
        (message,) = run(bench.step())
        bench.bot.draft = lambda message: "word " * 40

        async def sleep(ms):
            if len(bench.server.sent):
                bench.bot.done(message)

        bench.bot.sleep = sleep
        run(preview.follow(bench.bot, message))
        self.assertEqual([where(fields) for fields in bench.server.sent], [(OWNER, 12)])
        run(bench.bot.send(message.chat, "the answer", message.reply_to))
        edits = [fields for name, fields in bench.server.calls if name == "editMessageText"]
        self.assertEqual([fields["text"] for fields in edits], ["the answer"])


if __name__ == "__main__":
    unittest.main()
