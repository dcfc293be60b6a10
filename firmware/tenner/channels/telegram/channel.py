# tenner channels.telegram.channel: waits all day for what people write.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Telegram keeps an update until a higher offset is asked for. So this, which stays in memory, only sees that something
has come. `receive` reads it, or asks for it again, once this has the memory ticket. Before a message is handed over, the offset and where its answer goes are
written to two slots, so after a power cut a message is neither worked on twice nor lost: its writer is told that the
work was interrupted.
"""

import asyncio

from tenner import overlay
from tenner.channels.question import Question
from tenner.channels.telegram import ask, failures, overhear, receive, send
from tenner.channels.telegram.errors import FAILURES
from tenner.log import log
from tenner.net.http_errors import Yielded
from tenner.port.compat import const, sleep_ms, ticks_diff, ticks_ms

_SPARE_S = const(15)
_CONNECT_S = const(15)
_STARVED_MS = const(4000)
_POLL_ONCE_S = const(5)
#: What nearly every poll brings.
_NO_UPDATES = b'{"ok":true,"result":[]}'
_POLL_BODY = b'{"limit":1,"timeout":%d,"offset":%d,"allowed_updates":["message","edited_message","callback_query"]}'


class Telegram:
    """
    `http_factory(yields)` gives an HTTP client, `slots(name)` a TwoSlots, `inbound` the queue of Messages.
    `say(chat, text, reply_to=None, id=None)` queues a text for a chat; `now()` is the unix time, or
    None while it is not known. Whoever takes a Message from the queue calls `done(message)` when its
    answer is in the outbox.
    """

    name = "telegram"

    #: Longest text of one message, in UTF-16 units.
    max_units = 4096

    #: Of each request.
    headers = (("Content-Type", "application/json"),)

    #: Longest reply that is read. An update is a few kilobytes; what is longer is no Bot API.
    max_reply = 256 * 1024

    #: A server that answers faster that there is nothing does not wait for something: it is not asked in a hurry.
    shortest_poll_ms = 500

    #: Most messages that wait for their answer; further ones wait at Telegram.
    max_open = 8

    #: overheard(stops) is told that the owner has written while a turn has the memory, and the update has to wait.
    overheard = None

    #: Where Telegram and the model can be talked to at once: draft(message) returns what there is of
    #: the answer to it.
    draft = None

    def __init__(self, config, http_factory, slots, inbound, say, now, sleep=sleep_ms):
        get = config.get
        self.config = config
        self.http_factory = http_factory
        self.inbound = inbound
        self.say = say
        self.now = now
        self.sleep = sleep
        self.owner = str(get("telegram.owner") or "")
        base = get("telegram.base_url").rstrip("/")
        #: What the name of a method makes the address of.
        self.url = "%s/bot%s/" % (base, get("telegram.token"))
        self.poll_s = get("telegram.poll_s")
        #: For /status: what the service is doing, in words.
        self.status = "starting"
        self.bot_name = None  # known after the first call
        self.failures = 0
        self.trouble = ""  # the last failure that was logged
        self.asks = {}  # the questions that wait, by id
        self.pair = None  # while a code waits that makes its writer the owner: see pair
        self.previews = {}  # (chat, id of the message answered): the message that previews the answer
        self.album = None  # the last of which a picture was dealt with
        self.digest = None  # a Message of what was written while we were away
        self.updates = []  # those of the last reply that were not dealt with yet, each a dict
        self.http = None  # for sending
        self.sending = asyncio.Lock()
        self.strangers_day = 0
        self.told_wrong = False  # was the owner told of an update that could not be read?
        self.open = []  # messages that wait for their answer
        self._polled = None  # an Event while somebody waits for one poll
        self._heard_ms = ticks_ms()
        self._slots = slots
        kept = slots("telegram").load()
        self.offset = kept.get("o", 0)  # 0: all that came was confirmed
        self.interrupted = kept.get("p")  # {chat: the messages that were worked on}, see save
        self.strangers = kept.get("s", [])  # whom the owner was told of

    # --- receiving

    async def poll(self):
        """Receive for ever; whatever fails is waited for and tried again."""
        http = self.http_factory(True)
        try:
            while True:
                wait_s = 0
                try:
                    begun = ticks_ms()
                    if self._has_work() or await self._something_came(http):
                        wait_s = await overlay.run("RECEIVE", receive.receive, self, http)
                    elif ticks_diff(ticks_ms(), begun) < self.shortest_poll_ms:
                        wait_s = 1
                    self.failures = 0
                    self.trouble = ""
                    self.status = "polling"
                    self._heard_ms = ticks_ms()
                    if self._polled:
                        self._polled.set()
                except Yielded:
                    await sleep_ms(0)
                except FAILURES as error:
                    await http.close()
                    wait_s = await overlay.run("RECEIVE", failures.after, self, error)
                if wait_s:
                    await self.sleep(wait_s * 1000)
        finally:
            await http.close()

    def _has_work(self):
        """Is there something to do before anything is waited for? Somebody may wait for one poll."""
        return self.updates or not self.bot_name or self.interrupted or self._polled

    async def _something_came(self, http):
        """Wait for an update, which stays at Telegram; return whether there is one, or a refusal."""
        if http.stream is None or http.head is None:
            await http.open("POST", self.url + "getUpdates", self.headers, _CONNECT_S)
        body = self.poll_body(self.poll_s)
        is_quiet = await http.poll(body, _NO_UPDATES, self.poll_s + _SPARE_S)
        if is_quiet:
            # Once all was confirmed no offset is needed, and ids may start anew after a quiet week.
            self.offset = 0
        elif is_quiet is False and not overlay.is_free():
            # It waits at Telegram, not here.
            await overhear.overhear(self, http)
        return is_quiet is False

    def poll_body(self, timeout_s):
        """Return the body of a getUpdates that waits so long for an update."""
        return _POLL_BODY % (timeout_s, self.offset)

    def is_starved(self):
        """Has nothing been asked for seconds, because others have the connection?"""
        return ticks_diff(ticks_ms(), self._heard_ms) > _STARVED_MS

    async def poll_once(self):
        """Wait until one short poll has been made; where the network is bad not for long."""
        self._polled = asyncio.Event()
        try:
            await asyncio.wait_for(self._polled.wait(), _POLL_ONCE_S)
        except asyncio.TimeoutError:
            log("telegram", "no Telegram poll within %d s" % _POLL_ONCE_S)
        finally:
            self._polled = None

    # --- what is being worked on

    def done(self, message):
        """The answer to this message is in the outbox: it need not be remembered any more."""
        if message in self.open:
            self.open.remove(message)
            self.save(self.offset)

    def save(self, offset):
        chats = {}
        for message in self.open:
            ids = chats.setdefault(message.chat, [])
            # Each as the distance from the one before it, for the state must be small.
            ids.append(message.reply_to - sum(ids))
        self._slots("telegram").save({"o": offset, "p": chats, "s": self.strangers})

    # --- sending

    async def send(self, chat, text, reply_to=None, began=None, alarm=None):
        """
        Send one part of a text, after began(): ("ok", message id), ("retry", seconds or None), ("refused", why)
        or ("unknown", why) when it may have arrived. `alarm` is the id of the alarm it tells of, for buttons.
        """
        keyboard = ask.alarm_buttons(alarm) if alarm else None
        return await send.send(self, chat, text, reply_to, keyboard, began)

    async def ask(self, text, timeout_s=600):
        """Ask the owner with two buttons; no answer in time is a no."""
        if not self.owner:
            log("telegram", "nobody to ask: set telegram.owner")
            return False
        question = Question(text)
        self.asks[question.id] = question
        sending = asyncio.create_task(self._send_question(question))
        try:
            return await question.wait(timeout_s)
        finally:
            sending.cancel()
            del self.asks[question.id]
            if question.answer is None:
                # By itself: whoever asked may have been cancelled.
                asyncio.create_task(overlay.run("SEND", ask.close, self, question.message_id))

    async def _send_question(self, question):
        while True:
            wait_s = await overlay.run("SEND", ask.send, self, question)
            if not wait_s:
                return
            await self.sleep(wait_s * 1000)

    async def idle(self):
        """Nothing more to send for now: close the connection, so that none grows stale."""
        http, self.http = self.http, None
        if http is not None:
            await http.close()
