# tenner channels.telegram: receives what people write, one update at a time.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Telegram keeps an update until a higher offset is asked for. Before a message is handed over, that offset
and where its answer goes are written to two slots, so after a power cut a message is neither worked on
twice nor lost: its writer is told that the work was interrupted.

What is needed only when somebody writes is in `telegram_update`, for failures in `telegram_trouble`,
for sending in `telegram_send` and `telegram_ask`; none of them is imported before.
"""

import asyncio
import json

from tenner.log import log
from tenner.net.http import Yielded
from tenner.port.compat import const, sleep_ms, ticks_diff, ticks_ms

_PIECE = const(256)
_SPARE_S = const(15)
_NO_ROOM_S = const(3)
_DEAF_MS = const(4000)
_LOOK_S = const(5)
#: What nearly every poll brings: no reason to load a parser.
_NO_UPDATES = b'{"ok":true,"result":[]}'
_SURELY_FITS = const(2048)  # characters: each is one or two of the 4096 units of a message

#: What `call` raises when there is no answer.
FAILURES = (OSError, EOFError, ValueError, asyncio.TimeoutError, MemoryError)


class Telegram:
    """
    `http_factory(yields)` gives an HTTP client, `slots(name)` a TwoSlots, `inbound` the queue of Messages.
    `say(chat, text, reply_to=None, id=None)` queues a text for a chat; `now()` is the unix time, or
    None while it is not known. Whoever takes a Message from the queue calls `done(message)` when its
    answer is in the outbox.
    """

    name = "telegram"

    #: Longest reply that is read. An update is a few kilobytes; what is longer is no Bot API.
    max_reply = 256 * 1024

    #: Most messages that wait for their answer; further ones wait at Telegram.
    max_open = 8

    #: On a small board the lock of whoever needs the memory, and the agent's lane: while no turn runs, which takes
    #: long, updates are read under that lock.
    room: asyncio.Lock
    lane = None
    _has_room = False

    #: Where Telegram and the model can be talked to at once: draft(message) returns what there is of
    #: the answer to it.
    draft = None

    def __init__(self, config, http_factory, slots, inbound, say, now, sleep=sleep_ms):
        self.config = config
        self.http_factory = http_factory
        self.inbound = inbound
        self.say = say
        self.now = now
        self.sleep = sleep
        self.owner = str(config.get("telegram.owner") or "")
        #: For /status: what the service is doing, in words.
        self.status = "starting"
        self.bot_name = None  # known after the first call
        self.failures = 0
        self.trouble = ""  # the last failure that was logged
        self.asks = {}
        self.pair = None  # takes the update and text of a stranger while a code waits
        self._looking = None  # an Event while somebody waits for one look
        self._heard_ms = ticks_ms()
        self.previews = {}  # (chat, id of the message answered): the message that previews the answer
        self.digest = None  # a Message of what was written while we were away
        self.http = None  # for sending
        self.sending = asyncio.Lock()
        self.strangers_day = 0
        self._slots = slots
        self._open = []  # messages that wait for their answer
        kept = slots("telegram").load()
        self.offset = kept.get("o", 0)  # 0: all that came was confirmed
        self.interrupted = kept.get("p")  # {chat: the messages that were worked on}, see save
        self.strangers = kept.get("s", [])  # whom the owner was told of

    # --- receiving

    async def poll(self):
        """Receive for ever; whatever fails is waited for and tried again."""
        http = self.http_factory(True)
        while True:
            wait_s = 0
            try:
                wait_s = await self._receive(http)
                self.failures = 0
                self.trouble = ""
                self.status = "polling"
            except Yielded:
                await sleep_ms(0)
            except FAILURES as error:
                from tenner.channels.telegram_trouble import after

                wait_s = after(self, error)
                await http.close()
            finally:
                if self._has_room:
                    self._has_room = False
                    self.room.release()
                # What has read an update, or told of a failure, would be in the way of a turn.
                for name in (
                    "channels.telegram_t",
                    "channels.telegram_u",
                    "net.jsonin",
                    "net.tls",
                ):
                    self.shed("tenner." + name)
            if wait_s:
                await self.sleep(wait_s * 1000)

    async def _receive(self, http):
        """Wait for an update and deal with it; return the seconds to wait before the next."""
        if self.interrupted:
            from tenner.channels.telegram_trouble import tell_interrupted

            tell_interrupted(self)
        update = {}

        def sink(path, value, more):
            if len(path) > 2:
                from tenner.channels.telegram_update import keep

                keep(update, path, value)
            elif path[-1] == "username":
                self.bot_name = value

        if not self.bot_name:
            await self.request(http, "getMe", {}, sink)
        # The first asks for what waits already: a board that woke with nothing to do sleeps again.
        brief = self.digest or self._looking or self.status == "starting"
        timeout_s = 0 if brief else self.config.get("telegram.poll_s")
        fields = {
            "limit": 1,
            "timeout": timeout_s,
            "allowed_updates": ["message", "edited_message", "callback_query"],
        }
        # Once all was confirmed none is needed, and ids may start anew after a quiet week.
        if self.offset:
            fields["offset"] = self.offset
        await self.request(http, "getUpdates", fields, sink, timeout_s + _SPARE_S)
        id = update.get("update_id", 0)
        if update and id < max(self.offset, 1):
            raise ValueError("Telegram sent an update it was told to forget")
        if update or self.digest:
            done = self._handle(update, http)
            # A turn needs its room, and what is left to do takes its time, but little code.
            self.shed("tenner.channels.telegram_update")
            if not done:
                return _NO_ROOM_S
            if done is not True:
                await done
        self.offset = id + 1 if update else 0
        self._heard_ms = ticks_ms()
        if self._looking:
            self._looking.set()
        return 0

    def _handle(self, update, http):
        from tenner.channels.telegram_update import handle

        return handle(self, update, http)

    def is_deaf(self):
        """Has nothing been received for seconds, because others have the connection?"""
        return ticks_diff(ticks_ms(), self._heard_ms) > _DEAF_MS

    async def look(self):
        """Wait until one short poll has been made; where the network is bad not for long."""
        self._looking = asyncio.Event()
        try:
            await asyncio.wait_for(self._looking.wait(), _LOOK_S)
        except asyncio.TimeoutError:
            log("telegram", "no look for messages in %d s" % _LOOK_S)
        finally:
            self._looking = None

    async def request(self, http, method, fields, sink=None, timeout_s=30):
        """Call a method; a refusal is an OSError that holds what the server said."""
        body = json.dumps(fields).encode()
        answer = await self.call(http, method, body, sink, timeout_s)
        if not answer["ok"]:
            raise OSError(answer)

    async def call(self, http, method, body, sink=None, timeout_s=30):
        """
        Call a method of the Bot API and return what the server said besides the result, of which
        `sink(path, value, more)` gets the values. FAILURES mean that there is no answer.
        """
        answer = {
            "ok": False,
            "status": 0,
            "description": "",
            "retry_after": 0,
            "migrate_to_chat_id": 0,
        }

        def take(path, value, more):
            if path and path[0] == "result":
                if sink is not None:
                    sink(path, value, more)
            elif path and path[-1] in answer and type(value) is type(answer[path[-1]]):
                answer[path[-1]] = value

        async def consume(response):
            scanner = None
            buf = bytearray(_PIECE)
            left = self.max_reply
            try:
                while True:
                    count = await response.readinto(buf)
                    if not count:
                        break
                    left -= count
                    if left < 0:
                        raise ValueError("the reply is over %d KB" % (self.max_reply // 1024))
                    piece = memoryview(buf)[:count]
                    if scanner is None:
                        if piece == _NO_UPDATES:
                            answer["ok"] = True
                            continue
                        # Who sends has it already.
                        if self.lane and http.yields and not (self._has_room or self.lane.holder):
                            await self.room.acquire()
                            self._has_room = True
                        scanner = _scanner(take)
                    scanner.feed(piece)
                if scanner:
                    scanner.end()
                elif not answer["ok"]:
                    raise ValueError("the reply is empty")
            except ValueError:
                # A refusal of a proxy on the way is not JSON, and its status says enough.
                if response.status == 200:
                    raise
            answer["status"] = response.status
            if response.status != 200:
                answer["ok"] = False

        base = self.config.get("telegram.base_url").rstrip("/")
        url = "%s/bot%s/%s" % (base, self.config.get("telegram.token"), method)
        headers = [("Content-Type", "application/json")]
        await http.exchange("POST", url, headers, body, consume, timeout_s)
        return answer

    # --- what is being worked on

    def begin(self, message, offset):
        """Keep on flash that a message is worked on; False when it must wait at Telegram."""
        for other in self._open:
            if (other.chat, other.reply_to) == (message.chat, message.reply_to):
                # It came before, and there was no memory to go on with it.
                self._open.remove(other)
                break
        if len(self._open) >= self.max_open:
            return False
        self._open.append(message)
        try:
            self.save(offset)
        except ValueError:  # so much does not fit the slot
            self._open.pop()
            return False
        return True

    def is_open(self, message):
        """Does this message still wait for its answer?"""
        return message in self._open

    def done(self, message):
        """The answer to this message is in the outbox: it need not be remembered any more."""
        if message in self._open:
            self._open.remove(message)
            self.save(self.offset)

    def reply_to(self, message):
        """Return the id to quote when answering this message, or None."""
        return message.reply_to

    def save(self, offset):
        chats = {}
        for message in self._open:
            ids = chats.setdefault(message.chat, [])
            # Each as the distance from the one before it, for the state must be small.
            ids.append(message.reply_to - sum(ids))
        self._slots("telegram").save({"o": offset, "p": chats, "s": self.strangers})

    # --- sending

    async def send(self, chat, text, reply_to=None, keyboard=None, began=None):
        """
        Send one part of a text, after began(): ("ok", message id), ("retry", seconds or None), ("refused", why)
        or ("unknown", why) when it may have arrived.
        """
        from tenner.channels.telegram_send import send

        return await send(self, chat, text, reply_to, keyboard, began)

    async def ask(self, text, timeout_s=600):
        """Ask the owner with two buttons; no answer in time is a no."""
        from tenner.channels.telegram_ask import ask

        return await ask(self, text, timeout_s)

    def shed(self, prefix):
        """Let go of modules; boards replace this that are short of memory."""

    async def idle(self):
        """Nothing more to send for now: let go of the connection, so that none grows stale."""
        http, self.http = self.http, None
        if http is not None:
            await http.close()

    def parts(self, text):
        """Return a text in parts that fit a message."""
        if len(text) <= _SURELY_FITS:
            return (text,) if text.strip() else ()
        from tenner.channels.split import parts

        return parts(text)


def _scanner(take):
    # Not at the top: it is needed when something was said, not while that is waited for.
    from tenner.net.jsonin import Scanner

    return Scanner(take)
