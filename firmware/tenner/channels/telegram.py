# tenner channels.telegram: receives what people write, one update at a time.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Telegram keeps an update until a higher offset is asked for, and that is our durable queue: while a
message is being worked on it stays unconfirmed there, and polls are short ones that pass over it. What
was begun and what is finished is kept in two slots, so after a power cut a message is neither worked on
twice nor lost: its writer is told that the work was interrupted.

What is needed only when somebody writes is in `telegram_update` and `telegram_ledger`, for failures in `telegram_trouble`,
for sending in `telegram_send` and `telegram_ask`; none of them is imported before.
"""

import asyncio

from tenner.channels.telegram_api import Api, Body
from tenner.net.http import Yielded
from tenner.port.compat import const, sleep_ms

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
        self._http_factory = http_factory
        self._http = None
        self._sleep = sleep or sleep_ms
        self._sending = asyncio.Lock()
        self._state = state
        self._kept = state.load()
        self._confirmed = False
        self.ledger = None  # of the updates, made when there is one
        if self._kept.get("b"):
            self._open_ledger()

    def _open_ledger(self):
        if self.ledger is None:
            from tenner.channels.telegram_ledger import Ledger

            self.ledger = Ledger(self._state, self._kept)
        return self.ledger

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
                elif self.ledger is not None and self.ledger.waits():
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
        ledger = self.ledger
        found = None

        def sink(path, value, more):
            nonlocal found
            if found is None:
                from tenner.channels.telegram_update import Update

                seen = self._open_ledger().seen
                found = Update(lambda id: seen(id, self._confirmed))
            found.take(path, value, more)

        waits = bool(ledger and ledger.waits()) or self.digest is not None
        wait_s = 0 if waits else self.config.get("telegram.poll_s")
        fields = [
            ("limit", ledger.limit() if ledger else 1),
            ("timeout", wait_s),
            ("allowed_updates", b'["message","edited_message","callback_query"]'),
        ]
        # Once all was confirmed none is needed, and ids may start anew after a quiet week.
        offset = ledger.offset if ledger else self._kept.get("o", 0)
        if not self._confirmed and offset:
            fields.append(("offset", offset))
        await self._call(http, "getUpdates", fields, sink, wait_s + _SPARE_S)
        if found is None:
            self._confirmed = not waits
            if ledger and not waits:
                ledger.meet()
            return None
        update = found.whole()
        if update is not None:
            self._confirmed = False
            self.ledger.meet(update.id)
        elif not waits and not self.ledger.waits():
            # What is finished while a poll is under way may still come once more.
            raise ValueError("Telegram sent an update it was told to forget")
        return update

    async def _call(self, http, method, fields, sink, timeout_s):
        answer = await self.api.call(http, method, Body(fields), sink, timeout_s)
        if not answer.ok:
            from tenner.channels.telegram_trouble import Refused

            raise Refused(answer)

    def rest(self):
        """Let go of the record of updates while nobody waits for an answer."""
        if self.ledger is not None and not self.ledger.waits():
            self._kept = self._state.load()
            self.ledger = None

    def done(self, message):
        """The answer to this message is in the outbox: it need not be remembered any more."""
        if self.ledger is not None:
            self.ledger.done(message)

    def reply_to(self, message):
        """Return the id to quote when answering this message, or None."""
        return self.ledger.reply_to(message) if self.ledger is not None else None

    # --- sending

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
