# tenner page.chip: the page of a chip: its connections wait here for memory, one after the other.
# MIT license; Copyright (c) 2026 the tenner authors
"""
This code stays in memory all day, so it only waits. A request is served in a phase of its
own (page.serve). While a turn has the memory, it waits a moment and is then told to come again.
"""

import asyncio

from tenner import overlay
from tenner.agent.message_queue import Message
from tenner.channels.question import Question
from tenner.page import conversation, listen, offer, serve
from tenner.page.connection import address_of, first_of_most
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.page.connection import Connection
    from tenner.page.request import Request
    from tenner.page.types import Application, Paged

#: Connections that may wait, as many as a browser opens; a further one takes the place of one
#: from the address that has most.
_WAITING = const(6)
#: Bytes of a request that wait with it.
_FIRST = const(256)
_FIRST_S = const(5)
#: Tenths of a second that a request waits for the memory.
_PATIENCE = const(80)
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 3\r\nRefresh: 3\r\n"
    b'Content-Type: application/json\r\n\r\n{"error": "the agent is at work: try again"}'
)


class ChipPage:
    """The page as a channel. Its conversation is in `state/page.jsonl`."""

    name = "page"
    #: Entries of the run log that a view gets.
    runs = 20
    chat = "owner"
    #: Alarms go to the owner's channel, and to the page too.
    alert_chat = "alerts"
    #: The server, once it listens.
    listening: "Any" = None
    #: The state of the code and the sessions between two requests (page.access).
    access = None
    kept: tuple | None = None
    #: The owner's computer between two requests (page.sealed).
    computer: tuple | None = None
    #: The number of the last message or question, None while only the file tells it.
    count: int | None = None
    #: Does a person wait for an answer, and is the next one an error?
    waits = failed = False
    question: Question | None = None

    def __init__(self, app: "Application") -> None:
        self.app = app
        self._waiting = []  # [address, task] of each connection that waits
        self._serving = asyncio.Lock()
        self._asking = asyncio.Lock()

    async def run(self) -> None:
        """Begin to serve browsers."""
        await overlay.run("PAGE", listen.begin, self)

    async def take(self, stream: "Any", writer: "Any") -> None:
        """Serve a connection when it is its turn, and close it."""
        stranger = [address_of(writer), asyncio.current_task()]
        self._waiting.append(stranger)
        try:
            if len(self._waiting) > _WAITING:
                oldest = first_of_most(self._waiting)
                if oldest[0] == stranger[0]:
                    # Of one address the newest goes: each that has begun to wait takes memory.
                    return
                self._waiting.remove(oldest)
                oldest[1].cancel()
            # A sleeper keeps nobody out.
            first = await asyncio.wait_for(stream.read(_FIRST), _FIRST_S)
            async with self._serving:
                if stranger in self._waiting:
                    self._waiting.remove(stranger)
                    await self._serve(stream, [first])
        except (OSError, asyncio.TimeoutError, asyncio.CancelledError):
            # The browser has left, sleeps or made room: its own affair.
            pass
        finally:
            if stranger in self._waiting:
                self._waiting.remove(stranger)
            await stream.wait_closed()

    async def _serve(self, stream, first):
        for _ in range(_PATIENCE):
            if overlay.is_free():
                await overlay.run("PAGE", serve.serve, self, stream, first)
                return
            await asyncio.sleep(0.1)
        # Closing with an unread rest would drop the answer.
        while len(first[0]) == _FIRST:
            first[0] = await asyncio.wait_for(stream.read(_FIRST), _FIRST_S)
        stream.write(_BUSY)
        await asyncio.wait_for(stream.drain(), _FIRST_S)

    def fail(self) -> None:
        """Announce that the next answer is an error."""
        self.failed = True

    async def ask(self, text: str, timeout_s: float = 600) -> bool:
        """Ask the owner, one question at a time; a timeout means no."""
        async with self._asking:
            question = self.question = self._question(text)
            try:
                return await question.wait(timeout_s)
            finally:
                self.question = None

    # --- by code that is loaded for a moment

    def _question(self, text):
        return conversation.question(self, text)

    def show(self, chat: int | str, text: str) -> None:
        """Show an answer, or a message to the owner."""
        conversation.show(self, chat, text)

    def offer(self, is_guest: bool = False) -> str:
        """Return the sentence that shows a new code."""
        return offer.offer(self, is_guest)

    # --- for the API, as in page.channel

    def say(self, text: str) -> None:
        """Pass a person's words to the agent."""
        conversation.say(self, text)

    def answer(self, yes: bool) -> None:
        """Answer the agent's question."""
        conversation.answer(self, yes)

    async def command(self, text: str) -> str:
        """Return the agent's answer to a command."""
        return await self.app.command_text(Message(self.name, self.chat, text))

    async def send_chat(self, connection: "Connection", status: int) -> None:
        """Send the conversation."""
        await conversation.send(self, connection, status)

    async def follow(self, connection: "Connection", request: "Request") -> None:
        """Send the newest events."""
        await conversation.follow(self, connection, request)

    def last_event(self) -> int:
        """Return the number of the newest event."""
        return conversation.last_event(self)

    def log_lines(self) -> list:
        """Return no line: a chip keeps none."""
        return []


def equip(app: "Paged") -> ChipPage:
    """Give the agent its page."""
    app.page = ChipPage(app)
    return app.page
