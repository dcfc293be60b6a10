# tenner page.server: listens for browsers, and bounds their connections.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.agent import health
from tenner.log import log
from tenner.page import request, routes, sealed, tls
from tenner.page.channel import Page
from tenner.page.connection import Connection, Gone, address_of, first_of_most
from tenner.page.request import Refused
from tenner.port.compat import const
from tenner.remote import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tenner.page.types import Application

_RETRY_S = const(60)
_NOT_HERE = const("without web.cert and web.key this page is for browsers of its own machine")


def make(app: "Application") -> Page:
    """Return the page of this agent."""
    return Page(app, run)


async def run(app: "Application", page: Page) -> None:
    """Begin to serve the page, which goes on until the end of the program."""
    get = app.config.get
    told = ""
    while True:
        try:
            context = tls.context(app.port.path, get("web.cert"), get("web.key"))
            break
        except (OSError, ValueError) as error:
            told = await _closed(app, "the page is off: %s" % error, told)
    has_owner = bool(session.board_key(app.port.root))
    # Without TLS anybody in the network could read the session's cookie and token: there is no
    # page then, but sealed requests need neither.
    host = "0.0.0.0" if context or has_owner else "127.0.0.1"
    port = get("web.port")
    server = Server(page, context is not None, get("web.hosts"))
    if isinstance(context, tls.Sockets):
        server.sockets = context
    if has_owner:
        server.computer = sealed.Computer(app)
    while True:
        try:
            if context is None or isinstance(context, tls.Sockets):
                options: dict[str, Any] = {"backlog": Server.connections, "ssl": context}
                page.listening = await asyncio.start_server(server.serve, host, port, **options)
            else:
                page.listening = tls.listen(server, host, port, context)
            break
        except OSError as error:
            text = "port %d cannot be used (%s): set web.port to another one" % (port, error)
            told = await _closed(app, text, told)
    log(
        "page",
        "%s://%s:%d/ is open; /web gives a browser its code"
        % ("https" if context else "http", "localhost" if not context else "ADDRESS", port),
    )
    if server.computer:
        log("page", "port %d takes sealed requests of the owner's computer (--via lan)" % port)


async def _closed(app: "Application", problem, told):
    """Note why there is no page, and wait; tell the owner of a new reason. Return it."""
    health.note("page", problem)
    if problem != told:
        log("page", problem)
        app.agent.notify("Page: %s. I try again each minute." % problem)
    await asyncio.sleep(_RETRY_S)
    return problem


class Server:
    """Serves each connection; `names` are those of this board in a browser's address."""

    #: A head and a body each take at most so long.
    read_s = 10
    #: With more open connections, one without a session is cut off: the oldest one of the address
    #: that has most of them.
    connections = 32
    #: The sockets below MicroPython's TLS sessions.
    sockets: "tls.Sockets | None" = None
    #: The owner's computer, if the board has its key.
    computer: "sealed.Computer | None" = None

    def __init__(self, page: "Page", is_secure: bool, names: list[str]) -> None:
        self._page = page
        self._is_secure = is_secure
        self._names = [name.lower() for name in names]
        #: The open connections, and [address, task, Connection] of those without a session, oldest
        #: first.
        self.open = 0
        self._strangers: list = []

    async def serve(self, reader: "Any", writer: "Any") -> None:
        """Serve one connection: one request and its answer."""
        await self.count(address_of(writer), self.converse, reader, writer)

    async def count(self, address: "str | bytes", work: "Callable", *args: "Any") -> None:
        """Await `work(stranger, *args)`, a connection of this address, as one of those that are
        bounded. `stranger` is a list: its third item is the Connection, once there is one."""
        stranger = [address, asyncio.current_task(), None]
        self.open += 1
        self._strangers.append(stranger)
        try:
            if self.open > self.connections:
                self._make_room(stranger)
            await work(stranger, *args)
        except (OSError, asyncio.CancelledError):
            # It was cut off, or has left.
            pass
        finally:
            self._is_known(stranger)
            self.open -= 1

    def _make_room(self, stranger):
        oldest = first_of_most(self._strangers)
        self._is_known(oldest)
        if oldest is stranger:
            raise Gone("too many connections")
        oldest[1].cancel()
        if oldest[2]:
            # Before Python 3.12, wait_for() forgets a cancellation that comes with its result.
            oldest[2].cut()

    def _is_known(self, stranger):
        """Note that a connection is a session's, or over."""
        if stranger in self._strangers:
            self._strangers.remove(stranger)

    async def converse(self, stranger: list, reader: "Any", writer: "Any") -> None:
        """Read a request, answer it and close the connection."""
        connection = Connection(reader, writer, self.sockets)
        connection.address = stranger[0]
        stranger[2] = connection
        try:
            await self._serve(connection, stranger)
            await connection.close()
        except (OSError, asyncio.CancelledError):
            # Also Gone, and the end of the program, for which CPython would print a traceback.
            await connection.abort()

    async def _serve(self, connection, stranger):
        found = None
        is_read = False
        try:
            found = await self._limited(request.read_head(connection), "head")
            if found is None:
                return
            is_sealed = self.computer and found.path == request.SEALED
            if is_sealed:
                size = request.body_size(found, request.MAX_SEALED)
            else:
                request.check(found, self._is_secure, self._names)
                if not self._is_secure and not _is_local(connection.address):
                    raise Refused(403, _NOT_HERE)
                found.is_secure = self._is_secure
                found.find_session(self._page.access)
                size = request.body_size(
                    found, request.MAX_BODY if found.is_paired else request.MAX_CODE
                )
                await routes.check(found)
                if found.is_paired:
                    self._is_known(stranger)
            await self._limited(request.read_body(connection, found, size), "body")
            is_read = True
            if is_sealed:
                # An owner's reply may be long; anybody else stays a stranger.
                await self.computer.take(connection, found, lambda: self._is_known(stranger))
            else:
                await routes.answer(self._page, connection, found)
        except Refused as error:
            if connection.is_answered or not connection.has_spoken:
                # MicroPython would wait long to tell one who speaks no TLS.
                raise Gone("there is nobody to answer")
            await connection.answer(error.status, {"error": error.sentence}, *error.headers)
            if found is None or not is_read and "content-length" in found.headers:
                await connection.drop_rest()
        except Gone:
            raise
        except Exception as error:
            await connection.answer_fault(error)

    async def _limited(self, reading, what):
        try:
            return await asyncio.wait_for(reading, self.read_s)
        except asyncio.TimeoutError:
            raise Refused(408, "the %s did not come in time" % what)


def _is_local(address):
    """Is it this machine's?"""
    return address[:4] == "127." if isinstance(address, str) else address[0] == 127
