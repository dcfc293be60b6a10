# tenner channels.telegram: receives what people write, one update at a time.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Telegram keeps an update until a higher offset is asked for, and that is our durable queue: while a
message is being worked on it stays unconfirmed there, and polls are short ones that pass over it. What
was begun and what is finished is kept in two slots, so after a power cut a message is neither worked on
twice nor lost: its writer is told that the work was interrupted.

What is needed only when somebody writes is in `telegram_update`, for failures in `telegram_trouble`,
for sending in `telegram_send` and `telegram_ask`; none of them is imported before.
"""

import asyncio

from tenner.channels.telegram_api import Api, Body
from tenner.net.http import Yielded
from tenner.port.compat import const, sleep_ms, ticks_diff, ticks_ms

_BUSY_POLL_MS = const(3000)
_SPARE_S = const(15)
_FORGET_MS = const(20 * 60 * 1000)
_WINDOW = const(
    30
)  # ids from the lowest unfinished one that the masks of the state can tell apart


class Telegram:
    """
    `http_factory(yields)` gives an HTTP client, `state` is a TwoSlots, `inbound` the queue of Messages.
    `say(chat, text, reply_to=None, id=None)` queues a text for a chat; `now()` is the unix time, or
    None while it is not known. Whoever takes a Message from the queue calls `done(message)` when its
    answer is in the outbox.
    """

    name = "telegram"

    #: Most messages that wait for their answer; further ones wait at Telegram.
    max_open = 8

    def __init__(self, config, http_factory, state, inbound, say, now=None, sleep=None):
        self.config = config
        self.api = Api(config)
        self.inbound = inbound
        self.say = say
        self.now = now
        self.owner = str(config.get("telegram.owner") or "")
        #: For /status: what the service is doing, in words.
        self.status = "starting"
        #: The bot's name and id, known after the first call.
        self.bot_name = None
        self.bot_id = None
        self.failures = 0
        self.trouble = ""  # the last failure that was reported
        self.asks = {}
        self.digest = None
        self.open = []  # (update id, message, message_id, since) of what waits for its answer
        self._http_factory = http_factory
        self._http = None
        self._sleep = sleep or sleep_ms
        self._sending = asyncio.Lock()
        self._state = state
        kept = state.load()
        self.strangers = kept.get("s", [])
        self.strangers_day = 0
        self._offset = kept.get("o", 0)
        self._begun = kept.get("b", 0)  # bit n: update offset + n was handed over
        self._done = kept.get("d", 0)
        self._confirmed = False

    # --- the service

    async def poll(self):
        """Receive for ever; whatever fails is waited for and tried again."""
        http = self._http_factory(True)
        while True:
            wait_ms = 0
            try:
                if self.bot_name is None:
                    await self._get_me(http)
                update = await self._next(http)
                self.failures = 0
                self.trouble = ""
                self.status = "polling"
                if update is not None or self.digest is not None:
                    from tenner.channels.telegram_update import handle

                    taken = await handle(self, update)
                    wait_ms = 0 if taken else _BUSY_POLL_MS
                elif self.open:
                    wait_ms = _BUSY_POLL_MS
            except Yielded:
                await sleep_ms(0)
            except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
                from tenner.channels.telegram_trouble import after

                wait_ms = after(self, error) * 1000
                await http.close()
            if wait_ms:
                await self._sleep(wait_ms)

    async def _get_me(self, http):
        def sink(path, value, more):
            if path[-1] == "username":
                self.bot_name = value
            elif path[-1] == "id":
                self.bot_id = value

        await self._call(http, "getMe", [], sink, 30)

    async def _next(self, http):
        """Ask for the next update; None when there is none."""
        for entry in list(self.open):
            # Nobody works that long on an answer; without this the queue would stand still.
            if ticks_diff(ticks_ms(), entry[3]) > _FORGET_MS:
                self.done(entry[1])
        found = None

        def sink(path, value, more):
            nonlocal found
            if found is None:
                from tenner.channels.telegram_update import Update

                found = Update(self._seen)
            found.take(path, value, more)

        wait_s = 0 if self.open or self.digest is not None else self.config.get("telegram.poll_s")
        fields = [
            ("limit", 1 + sum(self._begun >> bit & 1 for bit in range(_WINDOW + 1))),
            ("timeout", wait_s),
            ("allowed_updates", b'["message","edited_message","callback_query"]'),
        ]
        # Once all was confirmed none is needed, and ids may start anew after a quiet week.
        if not self._confirmed and self._offset:
            fields.append(("offset", self._offset))
        await self._call(http, "getUpdates", fields, sink, wait_s + _SPARE_S)
        if found is None:
            self._confirmed = not self.open
            return None
        update = found.whole()
        if update is None:
            if self.open:
                return None
            raise ValueError("Telegram sent an update it was told to forget")
        if not self._begun:
            self._offset = update.id
        self._confirmed = False
        return update

    async def _call(self, http, method, fields, sink, timeout_s):
        answer = await self.api.call(http, method, Body(fields), sink, timeout_s)
        if not answer.ok:
            from tenner.channels.telegram_trouble import Refused

            raise Refused(answer)

    # --- which updates were begun and finished

    def _seen(self, id):
        """Is this update finished, or being worked on since the last restart?"""
        bit = id - self._offset
        if not self._begun:
            return bit < 0 and not self._confirmed
        if bit < 0 or self._done >> bit & 1:
            return True
        return any(entry[0] == id for entry in self.open)

    def interrupted(self, id):
        """Was this update begun before the last restart, and not finished?"""
        bit = id - self._offset
        return bool(self._begun >> bit & 1) if 0 <= bit <= _WINDOW else False

    def has_room(self, id):
        """Can this update be begun, or must something be finished first?"""
        return id - self._offset <= _WINDOW and len(self.open) < self.max_open

    def begin(self, id, message=None, message_id=None):
        """Note that an update is being worked on; with a `message` until `done(message)`."""
        self._begun |= 1 << (id - self._offset)
        if message is not None:
            self.open.append((id, message, message_id, ticks_ms()))
        self.save()

    def finish(self, id):
        """Note that an update needs no more work."""
        bit = id - self._offset
        self._begun |= 1 << bit
        self._done |= 1 << bit
        unfinished = self._begun & ~self._done
        # Ids in between that were never seen do not exist.
        while self._begun and not unfinished & 1:
            self._offset += 1
            self._begun >>= 1
            self._done >>= 1
            unfinished >>= 1
        self.save()

    def save(self):
        self._state.save(
            {"o": self._offset, "b": self._begun, "d": self._done, "s": self.strangers}
        )

    def done(self, message):
        """The answer to this message is in the outbox: it need not be remembered any more."""
        for entry in list(self.open):
            if entry[1] is message:
                self.open.remove(entry)
                self.finish(entry[0])

    def reply_to(self, message):
        """Return the id to quote when answering this message, or None."""
        for entry in self.open:
            if entry[1] is message:
                return entry[2]
        return None

    # --- people and sending

    def knows(self, who):
        """May this user talk to the agent?"""
        allowed = [str(one) for one in self.config.get("telegram.allow") or ()]
        return bool(who) and (str(who) == self.owner or str(who) in allowed)

    async def send(self, chat, text, reply_to=None, keyboard=None):
        """
        Send one part of a text: ("ok", message id), ("retry", seconds or None), ("refused", why)
        or ("unknown", why) when it may have arrived.
        """
        from tenner.channels.telegram_send import send

        async with self._sending:
            return await send(self, self._sender(), chat, text, reply_to, keyboard)

    async def request(self, method, fields):
        """Call a method whose failure harms nobody; return whether it worked."""
        from tenner.channels.telegram_send import request

        async with self._sending:
            return await request(self, self._sender(), method, fields)

    async def typing(self, chat):
        """Show "typing..." in a chat for about five seconds."""
        from tenner.channels.telegram_api import chat_value

        return await self.request(
            "sendChatAction", [("chat_id", chat_value(chat)), ("action", "typing")]
        )

    async def ask(self, text, timeout_s=600):
        """Ask the owner with two buttons; no answer in time is a no."""
        from tenner.channels.telegram_ask import ask

        return await ask(self, text, timeout_s)

    async def pause(self, seconds):
        await self._sleep(seconds * 1000)

    async def idle(self):
        """Nothing more to send for now: close the connection, so that none grows stale."""
        if self._http is not None and not self._sending.locked():
            await self._http.close()

    def parts(self, text):
        """Yield a text in parts that fit a message."""
        from tenner.channels.split import parts

        return parts(text)

    def _sender(self):
        if self._http is None:
            self._http = self._http_factory(False)
        return self._http
