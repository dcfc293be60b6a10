# tenner channels.telegram.channel: polls Telegram for messages all day.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Telegram keeps an update until a poll has a higher offset. So this module, which stays in memory,
only sees that an update waits; `receive` reads it, or fetches it again, when the phase has the
memory. Before `receive` hands a message over, it writes the offset and the destination of the
answer to two slots. So a power cut neither repeats nor loses a message: its writer is notified of
the interruption.
"""

import asyncio

from tenner import overlay
from tenner.agent import health
from tenner.channels.question import SHORT, Question
from tenner.channels.telegram import api, ask, receive, send
from tenner.log import log
from tenner.net.http_errors import FAILURES, Yielded
from tenner.port.compat import const, sleep_ms, ticks_diff, ticks_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import Any

    from tenner.agent.lane import Lane
    from tenner.agent.message_queue import Message, Queue
    from tenner.net.http import Http
    from tenner.store.config import Config
    from tenner.store.two_slot import TwoSlots

_SPARE_S = const(15)
_CONNECT_S = const(15)
_STARVED_MS = const(4000)
_POLL_ONCE_S = const(10)  # with its handshake
#: The usual reply to a poll.
_NO_UPDATES = b'{"ok":true,"result":[]}'
_POLL_BODY = b'{"limit":1,"timeout":%d,"offset":%d,"allowed_updates":["message","edited_message","callback_query"]}'  # noqa: E501


class Telegram:
    """
    `http_factory(yields)` returns an HTTP client, `slots(name)` a TwoSlots; `inbound` is the queue
    of Messages. `say(chat, text, reply_to=None, id=None)` queues a text for a chat; `now()` is the
    unix time, or None while it is unknown. The consumer of the queue calls `done(message)` when
    the answer is in the outbox.
    """

    name = "telegram"

    #: Longest text of one message, in UTF-16 units.
    max_units = 4096

    #: Of each request.
    headers = (("Content-Type", "application/json"),)

    #: Maximum bytes of a reply. An update has a few kilobytes; a longer reply is not from the Bot
    #: API.
    max_reply = 256 * 1024

    #: An empty reply after a shorter time shows that the server does no long polling: poll it
    #: slowly.
    shortest_poll_ms = 500

    #: Maximum of messages without an answer; further ones wait at Telegram.
    max_open = 8

    #: It hears that the owner has written when the update must wait for memory.
    lane: "Lane | None" = None

    #: draft(message) returns the written part of an answer; None on boards that cannot talk to
    #: Telegram during a model call.
    draft: "Callable[[Message], str] | None" = None

    #: None; True while a webhook keeps the updates away, False when it has been removed. One that
    #: comes back belongs to another program.
    hooked: "bool | None" = None

    #: Is the state of `save` still to be stored?
    unsaved = False

    #: For receiving, while `poll` runs.
    poller: "Http | None" = None

    def __init__(
        self,
        config: "Config",
        http_factory: "Callable[[bool], Http]",
        slots: "Callable[[str], TwoSlots]",
        inbound: "Queue",
        say: "Callable",
        now: "Callable[[], int | None]",
        sleep: "Callable[[float], Awaitable]" = sleep_ms,
    ) -> None:
        get = config.get
        self.config = config
        self.http_factory = http_factory
        self.inbound = inbound
        self.say = say
        self.now = now
        self.sleep = sleep
        self.owner = str(get("telegram.owner") or "")
        base = get("telegram.base_url").rstrip("/")
        #: The address of a method without its name.
        self.url = "%s/bot%s/" % (base, get("telegram.token"))
        self.poll_s = get("telegram.poll_s")
        #: The state of the service, for /status.
        self.status = "starting"
        self.bot_name: str | None = None  # known after the first call
        self.failures = 0
        self.last_logged = ""  # the last logged failure
        self.asks = {}  # the pending questions, by id
        self.pair: tuple[str, str] | None = (
            None  # the pending code that makes its writer the owner, see pair
        )
        self.previews = {}  # (chat, id of the question): id of the preview
        self.album: str | None = None  # the last handled album of pictures
        self.digest: Message | None = None  # a Message that joins the texts of our offline time
        self.updates = []  # the unhandled updates of the last reply, each a dict
        self.http: Http | None = None  # for sending
        self.sending = asyncio.Lock()
        self.strangers_day = 0
        self.told_wrong = False  # has the owner been notified of an unreadable update?
        self.open = []  # messages without an answer
        self._polled: asyncio.Event | None = None  # an Event while a task waits for one poll
        self._heard_ms = ticks_ms()
        self.slots = slots
        kept = slots("telegram").load()
        self.offset = kept.get("o", 0)  # 0: all updates are confirmed
        #: Destination of alarms and questions: the owner's chat, in the topic it used last.
        self.home = self.owner + kept.get("t", "")
        self.interrupted = kept.get("p")  # {chat: the interrupted messages}, see save
        self.strangers = kept.get("s", [])  # strangers the owner has been notified of

    # --- receiving

    async def poll(self) -> None:
        """Receive forever; wait after a failure and retry."""
        http = self.poller = self.http_factory(True)
        try:
            while True:
                wait_s = 0
                try:
                    begun = ticks_ms()
                    if self.unsaved:
                        self.save(self.offset)
                    if http.stream is None or http.head is None:
                        # Before `receive` takes the memory, for which MQTT may wait with the only
                        # TLS session. In the middle of a turn it would cost three handshakes: its
                        # own, and one more on both sides of it.
                        await overlay.idle()
                        await http.open("POST", self.url + "getUpdates", self.headers, _CONNECT_S)
                    if (
                        # `receive` has work before the next long poll.
                        self.updates
                        or not self.bot_name
                        or self.hooked
                        or self.interrupted
                        or self._polled
                        or await self._something_came(http)
                    ):
                        wait_s = await overlay.run("RECEIVE", receive.receive, self, http)
                    elif ticks_diff(ticks_ms(), begun) < self.shortest_poll_ms:
                        wait_s = 1
                    self.failures = 0
                    self.last_logged = ""
                    self.status = "polling"
                    self._heard_ms = ticks_ms()
                    if self._polled:
                        self._polled.set()
                except Yielded:
                    await sleep_ms(0)
                except FAILURES as error:
                    await http.close()
                    wait_s = await overlay.run("RECEIVE", api.after, self, error)
                health.finished("telegram", wait_s + self.poll_s)
                if wait_s:
                    await self.sleep(wait_s * 1000)
        finally:
            await http.close()

    async def _something_came(self, http):
        """Wait for an update, which stays at Telegram; return whether there is one, or an
        error."""
        body = self.poll_body(0 if self._polled else self.poll_s)
        is_quiet = await http.poll(body, _NO_UPDATES, self.poll_s + _SPARE_S)
        if is_quiet:
            # No offset after all is confirmed: ids may restart after a quiet week.
            self.offset = 0
        elif is_quiet is False and not overlay.is_free():
            # The update waits at Telegram.
            if self.lane and self.lane.holder and not self.asks:
                await receive.overhear(self, http, self.lane)
            else:
                await http.close()  # the task that has the memory gives it back soon
        return is_quiet is False

    def poll_body(self, timeout_s: int) -> bytes:
        """Return the body of a getUpdates that waits `timeout_s` for an update."""
        return _POLL_BODY % (timeout_s, self.offset)

    def is_starved(self) -> bool:
        """Return whether the last poll was seconds ago, and none runs. One that still connects
        does not count: the next turn cuts it short."""
        polls = self.poller and self.poller.busy and self.poller.stream
        return not polls and ticks_diff(ticks_ms(), self._heard_ms) > _STARVED_MS

    async def poll_once(self) -> None:
        """Wait until one short poll is done, some seconds at most."""
        self._polled = asyncio.Event()
        try:
            await asyncio.wait_for(self._polled.wait(), _POLL_ONCE_S)
        except asyncio.TimeoutError:
            log("telegram", "no Telegram poll within %d s" % _POLL_ONCE_S)
        finally:
            self._polled = None

    # --- messages without an answer

    def done(self, message: "Message") -> None:
        """Forget a message whose answer is in the outbox."""
        if message in self.open:
            self.open.remove(message)
            self.save(self.offset)

    def save(self, offset: int) -> None:
        chats = {}
        for message in self.open:
            ids = chats.setdefault(message.chat, [])
            # Each as the distance from the previous one, to keep the state small.
            ids.append(message.reply_to - sum(ids))
        state = {"o": offset, "p": chats, "s": self.strangers}
        if self.home != self.owner:
            state["t"] = self.home[len(self.owner) :]
        try:
            self.slots("telegram").save(state)
            self.unsaved = False
        except OSError as error:
            # A restart would lose the open messages: tried again before each poll.
            if not self.unsaved:
                log("telegram", "my place in the messages is not stored: %s" % error)
            self.unsaved = True

    # --- sending

    async def send(
        self,
        chat: int | str,
        text: str,
        reply_to: int | None = None,
        began: "Callable[[], None] | None" = None,
        alarm: str | None = None,
    ) -> "tuple[str, Any]":
        """
        Send one part of a text, after began(); return ("ok", message id), ("retry", seconds or
        None), ("refused", why) or ("unknown", why) when it may have arrived. `alarm` is the id of
        its alarm, for buttons.
        """
        keyboard = ask.alarm_buttons(alarm) if alarm else None
        return await send.send_part(self, chat, text, reply_to, keyboard, began)

    def mark(self, message_id: int, id: str, actions: "Sequence[str]", state: str) -> None:
        """Show the state of an alarm at its first message, where Telegram takes it."""
        overlay.later("SENDING", None, ask.mark, self, message_id, id, actions, state)

    async def ask(self, text: str, timeout_s: float = 600) -> bool:
        """Ask the owner with two buttons; a timeout means no. Raise OSError where the question
        cannot be sent."""
        if not self.owner:
            log("telegram", "cannot ask for approval: set telegram.owner")
            return False
        question = Question(text)
        self.asks[question.id] = question
        question.sending = asyncio.create_task(self._send_question(question))
        try:
            return await question.wait(timeout_s)
        finally:
            if question.sending:
                question.sending.cancel()
            del self.asks[question.id]
            if question.answer is None and question.message_id:
                # A separate task, since the asking one may be cancelled.
                asyncio.create_task(overlay.run("SENDING", ask.close, self, question.message_id))

    async def _send_question(self, question):
        while True:
            try:
                wait_s = await overlay.run("SENDING", ask.send, self, question)
            except overlay.OutOfMemory:
                question.fail(SHORT)
                wait_s = 0
            if not wait_s:
                # An ended task keeps the code that it ran.
                question.sending = None
                return
            await self.sleep(wait_s * 1000)

    async def idle(self) -> None:
        """Leave the connection for sending to the poll when nothing more is due."""
        http, self.http = self.http, None
        if http is not None and not (self.poller and self.poller.take_over(http)):
            await http.close()
