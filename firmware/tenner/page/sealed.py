# tenner page.sealed: takes sealed requests of the owner's computer through the page's server.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The body of `POST /sealed` is one message of remote.session. The body of the answer is the frames
of the reply, each after its length in two bytes, until the connection ends. There is no cookie,
and no TLS is needed: the seal is the authority, as at a broker. A Linux board has one Computer; a
chip makes one for each request, and keeps its state.
"""

import asyncio
from binascii import hexlify

from tenner import overlay
from tenner.page.connection import address_of
from tenner.page.request import Refused
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.remote import serve, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tenner.page.connection import Connection
    from tenner.page.request import Request
    from tenner.page.types import Application, Served

#: Another computer may open a session if the present one had no request for so long.
_IDLE_MS = const(10000)
#: After a forged message the next one of that address is read so much later.
_PAUSE_MS = const(500)
_FORGERS = const(8)
#: A reply takes at most so long: it may hold the memory that a turn needs.
_REPLY_MS = const(60000)
_LEAVE_S = const(2)
_RETRY = "Retry-After: 1"


async def answer(page: "Served", connection: "Connection", stream: "Any") -> None:
    """Answer a message to a chip's page, whose connection is `stream`."""
    computer = Computer(page.app)
    if page.computer:
        computer.session, computer.used_ms, computer.forged = page.computer
    connection.address = address_of(stream)
    try:
        await computer.take(connection, connection.request)
    except MemoryError as error:
        if connection.is_answered:
            # Not once more.
            raise overlay.OutOfMemory(str(error))
        raise
    finally:
        page.computer = computer.session, computer.used_ms, computer.forged


class Computer:
    """The owner's computer in the network: a channel of remote.serve, with one request at a
    time."""

    #: The section of its settings.
    name = "web"
    session: "list[Any] | None" = None
    requests = 0
    _connection: "Connection | None" = None
    _opened: "Callable[[], None] | None" = None
    #: When the session had its last request, and the reply its first part.
    used_ms = 0
    _began_ms = 0

    def __init__(self, app: "Application") -> None:
        self.app = app
        self.port = app.port
        self.id = _id(app.port)
        #: (address, time) of the last forged messages.
        self.forged: list = []

    async def take(
        self,
        connection: "Connection",
        request: "Request",
        opened: "Callable[[], None] | None" = None,
    ) -> None:
        """Answer one message, and call `opened()` before; Refused if it is not the owner's, or not
        now."""
        if request.method != "POST":
            raise Refused(405, "this path takes POST")
        data = request.body
        now_ms = ticks_ms()
        if self._connection is not None:
            raise Refused(503, "another request is being answered", _RETRY)
        for address, at_ms in self.forged:
            if address == connection.address and ticks_diff(now_ms, at_ms) < _PAUSE_MS:
                raise Refused(429, "your last message was forged: wait a moment", _RETRY)
        before = self.session
        number = before and before[0]
        if before and session.is_opening(data) and ticks_diff(now_ms, self.used_ms) < _IDLE_MS:
            raise Refused(503, "another command works on this board", _RETRY)
        self._connection = connection
        self._opened = opened
        try:
            await serve.take(self, data)
        finally:
            self._connection = None
        # A repeated opening is answered, too, but keeps no session alive.
        if self.session and (self.session is not before or self.session[0] != number):
            self.used_ms = ticks_ms()
        if not connection.is_answered:
            self.forged = self.forged[1 - _FORGERS :] + [(connection.address, ticks_ms())]
            raise Refused(403, "this is no request of this board's owner, or its session is over")

    async def publish(self, topic: str, frame: bytes) -> bool:
        """Send a frame of the reply; serve.take does so for nobody but the owner."""
        connection = self._connection
        now_ms = ticks_ms()
        if not connection.is_answered:
            self._began_ms = now_ms
            if self._opened:
                self._opened()
            await connection.start(200, "application/octet-stream", ("Cache-Control: no-store",))
        elif ticks_diff(now_ms, self._began_ms) > _REPLY_MS:
            raise OSError("the owner's computer takes a reply too slowly")
        await connection.send(len(frame).to_bytes(2, "big") + frame)
        return True

    async def left(self) -> None:
        """Wait until the computer has the reply, which it shows by leaving: a restart follows."""
        try:
            await asyncio.wait_for(overlay.start(self._connection.read(1)), _LEAVE_S)
        except (OSError, asyncio.TimeoutError):
            pass


def _id(port):
    """Return the id by which the computer knows this board."""
    found = port.device_id()
    if port.kind != "linux":
        return hexlify(found).decode()
    if found != port.root.encode():
        return found.decode()
    # As `tenner deploy` finds it on a system without a machine id.
    with open("/proc/sys/kernel/hostname") as file:
        return file.read().strip()
