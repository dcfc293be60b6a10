# tenner page.chip: the page of a chip: one connection after the other, as memory allows.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The code that waits stays in memory all day. A request is received and answered in phases of its
own. While a turn has the memory, it waits a moment and is then told to come again.
"""

import asyncio

from tenner import overlay
from tenner.agent.message_queue import Message
from tenner.channels.question import Question
from tenner.log import log
from tenner.page import access, conversation, request, routes, sealed
from tenner.page.connection import Connection, Gone, address_of, first_of_most
from tenner.page.request import SEALED, Refused
from tenner.port.compat import const
from tenner.remote import session
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tenner.page.connection import Connection
    from tenner.page.request import Request
    from tenner.page.types import Application, Guarded, Opening, Served

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

_BACKLOG = 4


#: Others wait for the memory: a slow browser is cut off.
_SEND_S = const(4)
_ALL_S = const(30)

#: A head and a body take at most so long: others wait for the memory.
_READ_S = const(3)
#: Bytes of a head and of a body that memory has room for.
_HEAD = const(3072)
_BODY = const(8192)
#: The headers that are read later.
_LATER = ("content-type", "if-none-match", "accept-encoding", "last-event-id")


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
    #: The records of the turn whose answer comes next.
    lines: "Sequence[bytes]" = ()
    question: Question | None = None

    def __init__(self, app: "Application") -> None:
        self.app = app
        self._waiting = []  # [address, task] of each connection that waits
        self._serving = asyncio.Lock()
        self._asking = asyncio.Lock()

    async def run(self) -> None:
        """Begin to serve browsers."""
        await overlay.run("PAGE", begin, self)

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
                await overlay.run("PAGE", serve, self, stream, first)
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
        return access.offer(self, is_guest)

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


def make(app: "Application") -> ChipPage:
    """Return the page of this agent."""
    return ChipPage(app)


async def begin(page: "Opening") -> None:
    """Listen for browsers, until the end of the program; OSError if the port cannot be used."""
    port = page.app.config.get("web.port")
    try:
        page.listening = await asyncio.start_server(
            page.take,
            "0.0.0.0",
            port,
            backlog=_BACKLOG,
        )
    except OSError as error:
        raise OSError("port %d cannot be used (%s): set web.port to another one" % (port, error))
    log("page", "http://ADDRESS:%d/ is open; /web gives a browser its code" % port)
    if files.exists(page.app.port.root + session.KEY):
        log("page", "port %d takes sealed requests of the owner's computer (--via lan)" % port)


async def serve(page: "Served", stream: "Any", first: "list[bytes]") -> None:
    """Read a request that begins with `first[0]`, and answer it."""
    connection = Connection(stream, stream)
    connection.send_s = _SEND_S
    connection.first = first[0]
    first[0] = b""
    try:
        await _answer(page, connection, stream)
    except (Gone, asyncio.TimeoutError):
        pass
    except Exception as error:
        await connection.answer_fault(error)


async def _answer(page, connection, stream):
    try:
        await overlay.step("PAGE", receive, page, connection)
        request = connection.request
        if request is None:
            return
        if request.path == SEALED:
            await overlay.step("REMOTE", sealed.answer, page, connection, stream)
        else:
            await asyncio.wait_for(overlay.start(_view(page, connection, request)), _ALL_S)
    except Refused as error:
        if connection.is_answered or not connection.has_spoken:
            return
        await connection.answer(error.status, {"error": error.sentence}, *error.headers)
        if connection.request is None:
            await connection.drop_rest()


async def _view(page, connection, request):
    await overlay.step("VIEW", routes.check, request)
    await overlay.step("VIEW", routes.answer, page, connection, request)


async def receive(page: "Guarded", connection: "Connection") -> None:
    """Read a request into `connection.request`, which stays None without any."""
    try:
        await _receive(page, connection)
    except MemoryError:
        # Not once more: a part of it is read.
        raise Refused(503, "too little memory: try again", "Retry-After: 3")


async def _receive(page, connection):
    found = await _limited(request.read_head(connection, _HEAD), "head")
    if found is None:
        return
    is_sealed = found.path == request.SEALED
    if is_sealed:
        size = request.body_size(found, request.MAX_SEALED)
    else:
        request.check(found, False, [name.lower() for name in page.app.config.get("web.hosts")])
        sessions = access.of(page)
        found.find_session(sessions)
        access.keep(page, sessions)
        size = request.body_size(found, _BODY if found.is_paired else request.MAX_CODE)
    await _limited(request.read_body(connection, found, size), "body")
    if is_sealed:
        found.headers = {}
        connection.request = found
        return
    found.headers = {name: found.headers[name] for name in _LATER if name in found.headers}
    connection.request = found


async def _limited(reading, what):
    try:
        return await asyncio.wait_for(overlay.start(reading), _READ_S)
    except asyncio.TimeoutError:
        raise Refused(408, "the %s did not come in time" % what)
