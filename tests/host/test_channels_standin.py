"""The Telegram channel, its outbox and its HTTP client against the stand-in, which refuses the
same requests as the real API."""

import asyncio

import pytest

from channels_fakes import FakeConfig, deliver
from tenner.agent.message_queue import Queue
from tenner.channels.delivery import Delivery
from tenner.channels.telegram.channel import Telegram as Channel
from tenner.net.http import Http
from tenner.store.outbox import Outbox
from tenner.store.two_slot import TwoSlots
from tenner_sim.services import OWNER, TOKEN, Step, Telegram


class Clock:
    trusted = True

    def __init__(self):
        self.time = 0

    def now(self):
        return 1800000000

    def mono_s(self):
        self.time += 1  # retries are not waited for
        return self.time


@pytest.fixture
def server():
    service = Telegram()
    service.start()
    yield service
    service.stop()


async def drain_for_ever(delivery):
    while True:
        await delivery.drain()
        await asyncio.sleep(0.01)


def play(server, folder, scene):
    """Run the channel and its delivery beside `scene(channel, inbound, delivery)`."""

    async def all_of_it():
        inbound = Queue(8)
        delivery = Delivery(Outbox(str(folder), Clock()), lambda: ("telegram", str(OWNER)))

        def say(chat, text, reply_to=None, id=None):
            delivery.deliver("telegram", chat, text, id=id, reply_to=reply_to)

        config = FakeConfig(token=TOKEN, base_url=server.url, owner=OWNER, poll_s=1)
        channel = Channel(
            config,
            lambda yields: Http(None, None, yields),
            lambda name: TwoSlots(str(folder) + "/" + name),
            inbound,
            say,
            now=lambda: None,
            sleep=lambda ms: asyncio.sleep(0.01),
        )
        delivery.register("telegram", channel)
        tasks = [
            asyncio.create_task(channel.poll()),
            asyncio.create_task(drain_for_ever(delivery)),
        ]
        try:
            await scene(channel, inbound, delivery)
        finally:
            # Up to Python 3.11 asyncio.wait_for loses a cancellation that comes when it is just
            # done.
            while any(not task.done() for task in tasks):
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks, timeout=1)

    asyncio.run(all_of_it())


def test_a_conversation(server, tmp_path):
    async def scene(channel, inbound, delivery):
        said = server.say(OWNER, "hello")
        message = await inbound.get()
        assert (message.chat, message.text) == (str(OWNER), "hello")
        answer = (
            "**Hi** `you` <&> 😀\n\n```py\nif a < b: pass\n```\n| a | b |\n|---|---|\n| 1 | 2 |"
        )
        reply_to = message.reply_to
        assert await deliver(delivery, "telegram", message.chat, answer, reply_to=reply_to)
        channel.done(message)
        while server.unconfirmed:
            await asyncio.sleep(0.01)
        sent = server.sent[0]
        assert sent.parse_mode == "HTML"
        assert sent.reply_to == said["message_id"]
        assert [entity["type"] for entity in sent.entities][:2] == ["bold", "code"]
        assert server.actions == [(OWNER, "typing")]

    play(server, tmp_path, scene)


def test_a_long_report_arrives_in_order_and_whole(server, tmp_path):
    text = "\n\n".join(
        f"## Part {n}\n\n- **a_{n}**: `x < {n}`\n- b & c " + "word " * 60 for n in range(60)
    )

    async def scene(channel, inbound, delivery):
        assert await deliver(delivery, "telegram", str(OWNER), text)
        joined = "".join(one.text for one in server.sent)
        assert [f"Part {n}" in joined for n in range(60)] == [True] * 60
        assert len(server.sent) == 6
        assert {one.parse_mode for one in server.sent} == {"HTML"}

    play(server, tmp_path, scene)


def test_a_topic_gets_all_of_an_answer(server, tmp_path):
    async def scene(channel, inbound, delivery):
        said = server.say(OWNER, "hello", message_thread_id=12)
        message = await inbound.get()
        text = "word " * 2000
        reply_to = message.reply_to
        assert await deliver(delivery, "telegram", message.chat, text, reply_to=reply_to)
        channel.done(message)
        assert [one.topic for one in server.sent] == [12] * 3
        assert server.sent[0].reply_to == said["message_id"]
        assert channel.home == f"{OWNER}:12"
        # The person closes it: the next message goes to the chat, although it quotes one there.
        server.add_topic(OWNER, 12, closed=True)
        assert await deliver(delivery, "telegram", message.chat, "more", reply_to=reply_to)
        assert (server.sent[-1].topic, server.sent[-1].text) == (0, "more")
        server.remove_topic(OWNER, 12)
        assert await deliver(delivery, "telegram", channel.home, "an alarm", alert="al:7")
        assert (server.sent[-1].topic, len(server.sent[-1].buttons)) == (0, 3)

    play(server, tmp_path, scene)


def test_a_question_with_buttons(server, tmp_path):
    async def scene(channel, inbound, delivery):
        question = asyncio.create_task(channel.ask("Open the valve?"))
        while not server.sent:
            await asyncio.sleep(0.01)
        sent = server.sent[0]
        server.press(sent, sent.buttons[0]["callback_data"])
        assert await question
        while "Allowed" not in sent.text:
            await asyncio.sleep(0.01)
        assert not sent.buttons

    play(server, tmp_path, scene)


def test_refusals_and_lost_answers(server, tmp_path):
    async def scene(channel, inbound, delivery):
        assert not await deliver(delivery, "telegram", "4711", "nobody there")
        while len(server.sent) < 1:
            await asyncio.sleep(0.01)
        assert "chat not found" in server.sent[0].text
        server.plan(
            [
                Step(status=500, path="sendMessage"),
                Step(status=429, retry_after_s=1, path="sendMessage"),
            ]
        )
        task = asyncio.create_task(deliver(delivery, "telegram", str(OWNER), "again"))
        while not task.done():
            await asyncio.sleep(0.01)
        assert task.result()
        assert [one.text for one in server.sent[1:]] == ["again"]
        # The answer is lost behind the request: an alert is repeated and says so, others are not.
        server.plan([Step(reset=0, path="sendMessage", times=2)])
        assert not await deliver(delivery, "telegram", str(OWNER), "perhaps")
        task = asyncio.create_task(deliver(delivery, "telegram", str(OWNER), "fire", alert=True))
        while not task.done():
            await asyncio.sleep(0.01)
        assert task.result()
        assert server.sent[-1].text == "(maybe sent before) fire"
        assert [one.text for one in server.sent].count("perhaps") <= 1

    play(server, tmp_path, scene)


def test_a_webhook_that_is_left_over(server, tmp_path):
    server.webhook = "https://example.invalid/hook"
    server.say(OWNER, "hello")

    async def scene(channel, inbound, delivery):
        assert (await inbound.get()).text == "hello"
        while not server.sent:
            await asyncio.sleep(0.01)
        assert "webhook" in server.sent[0].text
        assert not server.webhook

    play(server, tmp_path, scene)


def test_a_text_of_characters_without_width(server, tmp_path):
    async def scene(channel, inbound, delivery):
        for text in ("\u200b", "**\u200b**", "\u200d\u2800"):
            assert await deliver(delivery, "telegram", str(OWNER), text)
        told = {one.text for one in server.sent}
        assert told <= {"(The model gave no text.)", "**\u200b**"}, told

    play(server, tmp_path, scene)


def test_strangers_are_refused(server, tmp_path):
    async def scene(channel, inbound, delivery):
        server.say(4000, "let me in")
        server.attach(OWNER, "document")
        while len(server.sent) < 2:
            await asyncio.sleep(0.01)
        assert {one.chat_id for one in server.sent} == {OWNER}
        assert len(inbound) == 0

    play(server, tmp_path, scene)
