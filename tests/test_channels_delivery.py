# From the outbox to the channel: waits, outcomes, and who is told.
import asyncio
import unittest

from channels_fakes import deliver
from support import run, temp_folder
from tenner import overlay
from tenner.app import App
from tenner.channels.delivery import Delivery
from tenner.store.outbox import Outbox


class Clock:
    trusted = True

    def __init__(self):
        self.time = 0

    def now(self):
        return 1800000000 + self.time

    def mono_s(self):
        return self.time


class Channel:
    """Returns the results of the plan; ("ok", None) when it is empty."""

    def __init__(self, *plan, size=200):
        self.plan = list(plan)
        self.max_units = size
        self.sent = []
        self.alarms = []
        self.idles = 0

    async def send(self, chat, text, reply_to, began, alarm):
        self.alarms.append(alarm)
        result = self.plan.pop(0) if self.plan else ("ok", 1)
        if result[0] != "retry":
            began()
        self.sent.append((str(chat), text, reply_to, result[0]))
        await asyncio.sleep(0)
        return result

    async def idle(self):
        self.idles += 1


class Screen:
    def __init__(self):
        self.shown = []

    def show(self, chat, text):
        self.shown.append(text)


async def drain_for_ever(delivery):
    while True:
        await delivery.drain()
        await asyncio.sleep(0)


class TestDelivery(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.folder = temp_folder(self)
        self.outbox = Outbox(self.folder, self.clock)
        self.delivery = Delivery(self.outbox, lambda: ("telegram", "1"))
        self.marks = []  # of messages reported as arrived, and how many waited then

    def arrived(self, mark, id):
        self.marks.append((mark, len(self.outbox)))

    def play(self, channel, scene):
        """Run `scene()` beside the service and return its result."""
        self.delivery = Delivery(self.outbox, lambda: ("telegram", "1"), self.arrived)
        self.delivery.register("telegram", channel)

        async def both():
            service = asyncio.create_task(drain_for_ever(self.delivery))
            result = await scene()
            for _ in range(20):
                await asyncio.sleep(0)
            service.cancel()
            try:
                await service
            except asyncio.CancelledError:
                pass
            return result

        return run(both())

    def say(self, *args, **more):
        async def scene():
            return await deliver(self.delivery, "telegram", *args, **more)

        return scene

    def test_deliver_waits_for_the_confirmation(self):
        channel = Channel()
        self.assertEqual(self.play(channel, self.say("1", "hello", reply_to=7)), True)
        self.assertEqual(channel.sent, [("1", "hello", 7, "ok")])
        self.assertEqual(len(self.outbox), 0)
        self.assertTrue(channel.idles > 0)

    def test_a_long_text_goes_in_parts_that_are_confirmed_one_by_one(self):
        channel = Channel(size=20)
        self.assertEqual(self.play(channel, self.say("1", "x" * 45, id="a", reply_to=7)), True)
        self.assertEqual([len(text) for _, text, _, _ in channel.sent], [20, 20, 5])
        self.assertEqual([reply_to for _, _, reply_to, _ in channel.sent], [7, None, None])
        self.assertEqual(self.play(channel, self.say("1", "x" * 45, id="a")), True)
        self.assertEqual(len(channel.sent), 3)

    def test_a_channel_without_bounds_gets_a_very_long_text_in_parts(self):
        channel = Channel(size=None)
        text = "word " * 8000
        self.assertEqual(self.play(channel, self.say("1", text)), True)
        self.assertTrue(len(channel.sent) > 2, len(channel.sent))
        self.assertEqual(" ".join([sent[1] for sent in channel.sent]).split(), text.split())

    def test_whatever_goes_wrong_while_it_is_sent_nothing_is_sent_again_unmarked(self):
        class Broken(Channel):
            async def send(self, chat, text, reply_to, began, alarm):
                if len(self.sent) < 2:
                    began()
                    self.sent.append((str(chat), text, reply_to, "?"))
                    raise errors.pop()("of the server's making")
                return await super().send(chat, text, reply_to, began, alarm)

        for kind in (OverflowError, KeyError, TypeError, RuntimeError, ValueError, OSError):
            errors = [kind, kind]
            self.outbox = Outbox(temp_folder(self), self.clock)
            delivery = Delivery(self.outbox, lambda: ("telegram", "1"))
            channel = Broken()
            delivery.register("telegram", channel)
            delivery.deliver("telegram", "1", "an answer")
            delivery.deliver("telegram", "1", "fire", alert=True)
            for _ in range(4):
                run(delivery.drain())
                self.clock.time += 30
            texts = [text for _, text, _, _ in channel.sent]
            self.assertEqual(texts, ["an answer", "fire", "(maybe sent before) fire"])

    def test_what_has_arrived_is_not_sent_again_for_want_of_memory(self):
        self.addCleanup(overlay.configure, False)
        overlay.configure(True)
        short = [1]

        def arrived(mark, id):
            if short:
                short.pop()
                raise MemoryError("none")
            self.marks.append(mark)

        channel = Channel()
        delivery = Delivery(self.outbox, lambda: ("telegram", "1"), arrived)
        delivery.register("telegram", channel)
        delivery.deliver("telegram", "1", "fire", "mark")
        delivery.deliver("telegram", "1", "hello")
        # The phase is run once more where memory was short.
        run(overlay.run("SEND", delivery.drain))
        # It counts as waiting until its arrival is noted; the messages behind it go out.
        self.assertEqual([item.alert for item in self.outbox.items], ["mark"])
        self.assertEqual([text for _, text, _, _ in channel.sent], ["fire", "hello"])
        self.clock.time += 5
        run(overlay.run("SEND", delivery.drain))
        self.assertEqual((self.marks, len(self.outbox)), (["mark"], 0))
        self.assertEqual(len(channel.sent), 2)
        # Where the power goes in between it is sent again, and says so.
        short.append(1)
        delivery.deliver("telegram", "1", "fire", "mark")
        with self.assertRaises(MemoryError):
            run(delivery.drain())
        self.outbox = Outbox(self.folder, self.clock)
        self.assertEqual([item.possibly_sent for item in self.outbox.items], [True])

    def test_a_long_alert_that_may_be_sent_again_fits_with_its_mark(self):
        channel = Channel(("unknown", "cut"), size=40)
        delivery = Delivery(self.outbox, lambda: ("telegram", "1"))
        delivery.register("telegram", channel)
        delivery.deliver("telegram", "1", "x" * 60, alert=True)
        for _ in range(2):
            run(delivery.drain())
            self.clock.time += 5
        sizes = [len(text) for _, text, _, _ in channel.sent]
        self.assertEqual(sizes, [20, 40, 20, 20])

    def test_what_is_refused_is_told_to_the_owner_in_one_line(self):
        channel = Channel(("refused", "blocked"))
        self.assertEqual(self.play(channel, self.say("2", "hello")), False)
        self.assertEqual([one[0] for one in channel.sent], ["2", "1"])
        self.assertTrue(
            "telegram:2 was not delivered: blocked"
            in " ".join(text for _, text, _, _ in channel.sent)
        )

    def test_a_refused_line_to_the_owner_makes_no_further_line(self):
        channel = Channel(("refused", "blocked"), ("refused", "blocked"))
        self.play(channel, self.say("1", "hello"))
        self.assertEqual(len(channel.sent), 1)

    def test_a_lost_answer_is_not_repeated_but_an_alert_is_and_says_so(self):
        channel = Channel(("unknown", "cut"))
        self.assertEqual(self.play(channel, self.say("1", "hello")), False)
        self.assertEqual(len(channel.sent), 1)
        channel = Channel(("unknown", "cut"))

        async def scene():
            task = asyncio.create_task(deliver(self.delivery, "telegram", "1", "fire", alert=True))
            while not self.outbox.next_wake():  # until it failed and waits
                await asyncio.sleep(0)
            self.clock.time += 5
            self.outbox.retry_now()
            return await task

        self.assertEqual(self.play(channel, scene), True)
        self.assertEqual(
            [text for _, text, _, _ in channel.sent], ["fire", "(maybe sent before) fire"]
        )

    def test_an_alert_is_said_to_have_arrived_when_its_last_part_has_before_it_is_forgotten(self):
        channel = Channel(("ok", 1), ("retry", 0), size=40)
        self.assertEqual(self.play(channel, self.say("1", "x" * 45, alert="abc")), True)
        self.assertEqual([len(text) for _, text, _, _ in channel.sent], [20, 20, 20, 5])
        self.assertEqual(self.marks, [("abc", 1)])
        refused = Channel(("refused", "blocked"))
        self.assertEqual(self.play(refused, self.say("1", "y", alert="def")), False)
        self.play(Channel(), self.say("1", "no alert"))
        self.play(Channel(), self.say("1", "an alert without a mark", alert=True))
        self.assertEqual(self.marks, [("abc", 1)])

    def test_what_follows_about_an_alarm_replies_to_its_first_message(self):
        kept = {}

        def arrived(mark, id):
            if id and mark[:3] == "al:":
                kept.setdefault(mark.split(".")[0], id)

        channel = Channel(("ok", 41), ("ok", 42), ("ok", 43), ("ok", 44), size=40)
        delivery = Delivery(
            self.outbox,
            lambda: ("telegram", "1"),
            arrived,
            lambda mark: kept.get("al:" + mark[3:5]),
        )
        delivery.register("telegram", channel)
        # The end is queued before the first one has left.
        for mark, text in (
            ("al:17", "Hot!"),
            ("al:17.1", "still"),
            ("al:17.e", "to the next"),
            ("ae:17", "it is over, and here is more about it"),
            ("al:18", "another"),
            ("text", "no alarm"),
        ):
            delivery.deliver("telegram", "1", text, mark)
        run(delivery.drain())
        self.assertEqual(
            [(text[:9], reply_to) for _, text, reply_to, _ in channel.sent],
            [
                ("Hot!", None),
                ("still", 41),
                ("to the ne", None),
                ("it is ove", 41),
                ("is more a", None),
                ("another", None),
                ("no alarm", None),
            ],
        )

    def test_an_alert_whose_arrival_cannot_be_kept_is_not_sent_for_ever(self):
        def full(mark, id):
            raise OSError(28)

        self.arrived = full
        channel = Channel()
        self.assertEqual(self.play(channel, self.say("1", "fire", alert="abc")), True)
        self.assertEqual(len(channel.sent), 1)

    def test_what_a_full_flash_does_not_let_a_page_show_waits(self):
        screen = Screen()
        show = screen.show

        def full(chat, text):
            raise OSError(28)

        screen.show = full
        self.delivery.register("page", screen)
        self.delivery.deliver("page", "owner", "hello")
        run(self.delivery.drain())
        self.assertEqual((screen.shown, len(self.outbox)), ([], 1))
        screen.show = show
        self.clock.time += 60
        run(self.delivery.drain())
        self.assertEqual((screen.shown, len(self.outbox)), (["hello"], 0))

    def test_when_the_network_is_back_what_waits_is_sent_at_once(self):
        channel = Channel(("retry", None))

        async def scene():
            task = asyncio.create_task(deliver(self.delivery, "telegram", "1", "hello"))
            while not self.outbox.next_wake():  # until it failed and waits
                await asyncio.sleep(0)
            self.outbox.retry_now()
            return await task

        self.assertEqual(self.play(channel, scene), True)
        self.assertEqual(len(channel.sent), 2)

    def test_what_waited_before_the_boot_is_sent(self):
        self.outbox.add("telegram", "1", "from yesterday")
        self.outbox = Outbox(self.folder, self.clock)
        channel = Channel()
        self.play(channel, self.say("1", "new"))
        self.assertEqual([text for _, text, _, _ in channel.sent], ["from yesterday", "new"])

    def test_the_last_part_of_an_alarm_has_its_buttons(self):
        channel = Channel(size=40)
        delivery = Delivery(self.outbox, lambda: ("telegram", "1"))
        delivery.register("telegram", channel)
        for mark in ("al:7.3", "another", True, False):
            delivery.deliver("telegram", "1", "x" * 21, alert=mark)
        run(delivery.drain())
        self.assertEqual(channel.alarms, [None, "7.3", None, None, None, None, None])

    def test_an_alert_goes_to_the_broker_too(self):
        class Broker(Channel):
            alert_chat = "alert"

        broker = Broker()
        for owner in (Channel(), Screen()):
            delivery = Delivery(self.outbox, lambda: ("owner", "1"))
            delivery.register("owner", owner)
            delivery.register("mqtt", broker)
            delivery.deliver("owner", "1", "hello")
            delivery.deliver("owner", "1", "fire", alert="mark")
            run(delivery.drain())
            shown = getattr(owner, "shown", None) or [text for _, text, _, _ in owner.sent]
            self.assertEqual(shown, ["hello", "fire"])
        self.assertEqual([one[:2] for one in broker.sent], [("alert", "fire")] * 2)
        # The owner's own channel gets it once.
        delivery.deliver("mqtt", "answer", "fire", alert="mark")
        run(delivery.drain())
        self.assertEqual(len(broker.sent), 3)

    def test_an_alert_that_the_broker_does_not_get_is_no_message_to_the_owner(self):
        class Broker(Channel):
            alert_chat = "alert"

        channel = Channel()
        delivery = Delivery(self.outbox, lambda: ("telegram", "1"))
        delivery.register("telegram", channel)
        delivery.register("mqtt", Broker(("refused", "no")))
        delivery.deliver("telegram", "1", "fire", alert=True)
        for _ in range(3):
            run(delivery.drain())
        self.assertEqual([text for _, text, _, _ in channel.sent], ["fire"])

    def test_a_local_channel_shows_at_once_and_costs_no_flash(self):
        screen = Screen()
        self.delivery.register("console", screen)
        self.assertEqual(self.delivery.deliver("console", "owner", "x" * 50), [])
        self.assertEqual(screen.shown, ["x" * 50])
        self.assertEqual(len(self.outbox), 0)

    def test_the_owner_is_told_when_a_message_had_to_make_room(self):
        self.outbox.max_items = 1
        channel = Channel(("retry", 500))

        async def scene():
            self.delivery.deliver("telegram", "1", "hello")
            while not self.outbox.next_wake():  # until it failed and waits
                await asyncio.sleep(0)
            self.delivery.deliver("telegram", "1", "fire", alert=True)

        self.play(channel, scene)
        texts = [text for _, text, _, _ in channel.sent]
        self.assertTrue("fire" in texts)
        self.assertTrue("1 messages were dropp" in " ".join(texts))


class TestAnswers(unittest.TestCase):
    def test_an_answer_has_the_id_that_the_word_of_a_restart_would_have(self):
        from tenner.agent.message_queue import Message
        from tenner.channels.telegram.receive import tell_interrupted

        class Both(App):
            """The app and its Telegram at once."""

            clock = Clock()
            interrupted = {"1000": [101]}
            offset = 0

            def __init__(self):
                self.telegram = self
                self.ids = []

            def deliver(self, channel, chat, text, alert=False, id=None, reply_to=None):
                self.ids.append(id)

            def say(self, chat, text, reply_to=None, id=None):
                self.ids.append(id)

            def done(self, message):
                pass

            def save(self, offset):
                pass

        app = Both()
        message = Message("telegram", "1000", "hello", "1000")
        message.reply_to = 101
        app.reply(message, "hi")
        tell_interrupted(app)
        app.reply(Message("console", "owner", "hello", "owner"), "hi")
        self.assertEqual(app.ids, ["tg-1000-101", "tg-1000-101", None])

    def test_a_restart_tells_of_its_messages_before_the_outbox_sends(self):
        """An answer of before would leave first, and 16 others: its id would be forgotten."""
        from tenner.channels.telegram import part

        order = []

        class Bot:
            owner = "1000"
            interrupted = {"1000": [101]}
            offset = 0

            def say(self, chat, text, reply_to=None, id=None):
                order.append(id)

            def save(self, offset):
                order.append("saved")

            async def poll(self):
                pass

        async def send():
            order.append("sending")

        async def scene():
            bot = Bot()
            list(part.services(App(), bot))
            sending = asyncio.create_task(send())
            await sending
            for _ in range(9):
                await asyncio.sleep(0)
            return bot.interrupted

        self.assertEqual(asyncio.run(scene()), None)
        self.assertEqual(order, ["tg-1000-101", "saved", "sending"])


if __name__ == "__main__":
    unittest.main()
