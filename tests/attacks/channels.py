# tenner tests: words that come by a channel itself: its own code decides whose they are.
# MIT license; Copyright (c) 2026 the tenner authors

from channels_fakes import Bench
from tenner.agent.answer import answer
from tenner.agent.message_queue import Queue
from tenner.channels.console import Console
from tenner.channels.mqtt import inbox
from tenner.channels.mqtt.channel import Mqtt

#: How an update of Telegram comes: its sender, its chat, and its other fields. The owner is 8, 7
#: and -70 are allowed.
TELEGRAM = {
    "guest": (7, 7, "private", {}),
    "group": (9, -70, "supergroup", {}),
    "forward": (8, 8, "private", {"forward_origin": {"type": "user"}}),
    "stranger": (5, 5, "private", {}),
    "outsider": (5, -71, "supergroup", {}),
}
SOURCES = tuple(TELEGRAM) + ("mqtt", "serial")

_FRAMES = "\x1c\x1d\x1e\x1f"


class Settings:
    def get(self, key):
        return {"mqtt.topic": "attic"}.get(key)


class Device:
    def device_id(self):
        return b"\xa1\xb2"


async def attack(board, source, text):
    """Have the words come in by the channel; return the faults in showing them."""
    if source == "serial":
        return _shown(text)
    taken = await (_by_mqtt(text) if source == "mqtt" else _by_telegram(text, *TELEGRAM[source]))
    board.results = []
    if not taken:
        board.results.append("error: not taken")
    for message in taken:
        await board.answer(answer, message)
    return []


async def _by_telegram(text, who, chat, kind, more):
    bench = Bench(allow=["7", "-70"], owner="8")
    if kind != "private":
        text = "@tenner_bot " + text
        more = {"entities": [{"type": "mention", "offset": 0, "length": 11}]}
    bench.server.say(text, who=who, chat=chat, chat_type=kind, **more)
    return await bench.step()


async def _by_mqtt(text):
    inbound = Queue(8)
    mqtt = Mqtt(Settings(), Device(), None, inbound, lambda name: None, None, None)
    inbox.take(mqtt, "attic/said", text)
    taken = []
    while len(inbound):
        taken.append(await inbound.get())
    return taken


def _shown(text):
    """Return the marks that would fool a program at the other end of the serial line."""
    written = []

    async def read():
        return None

    console = Console(read, Queue(1), written.append)
    console._take("/=frames")
    console.show("owner", text)
    found = []
    for one in written[1:]:
        if one[0] not in "\x1c" or one[-1] != "\x1e":
            found.append("an answer without its frame")
        for letter in one[1:-1]:
            code = ord(letter)
            if letter in _FRAMES or code == 0x1B or 0x7F <= code < 0xA0 or 0x202A <= code < 0x202F:
                found.append("0x%02x was shown" % code)
    if len(written) != 2:
        found.append("%d answers were shown" % (len(written) - 1))
    return found
