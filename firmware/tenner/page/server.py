# tenner page.server: listens for browsers, and bounds their connections.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.log import log
from tenner.page import guard, request, routes, sealed, tls
from tenner.page.connection import Connection, Gone, address_of
from tenner.page.request import Refused
from tenner.port.compat import const
from tenner.remote import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.app import App
    from tenner.page.channel import Page

_RETRY_S = const(60)
_NOT_HERE = const("without web.cert and web.key this page is for browsers of its own machine")


async def run(app: "App", page: "Page") -> None:
    """Begin to serve the page, which goes on until the end of the program."""
    get = app.config.get
    try:
        context = tls.context(app.port.path, get("web.cert"), get("web.key"))
    except (OSError, ValueError) as error:
        log("page", "the page is off: %s" % error)
        return
    has_owner = bool(session.board_key(app.port.root))
    # Without TLS anybody in the network could read the session's cookie and token: there is no
    # page then, but sealed requests need neither.
    host = "0.0.0.0" if context or has_owner else "127.0.0.1"
    port = get("web.port")
    options: dict[str, Any] = {"backlog": Server.connections, "ssl": context}
    if hasattr(context, "minimum_version"):
        # CPython makes the handshake before it passes a connection on.
        options["ssl_handshake_timeout"] = Server.read_s
    server = Server(page, context is not None, get("web.hosts"))
    if isinstance(context, tls.Sockets):
        server.sockets = context
    if has_owner:
        server.computer = sealed.Computer(app)
    while True:
        try:
            page.listening = await asyncio.start_server(server.serve, host, port, **options)
            break
        except OSError as error:
            log(
                "page",
                "port %d cannot be used (%s): set web.port to another one" % (port, error),
            )
            await asyncio.sleep(_RETRY_S)
    log(
        "page",
        "%s://%s:%d/ is open; /web gives a browser its code"
        % ("https" if context else "http", "localhost" if not context else "ADDRESS", port),
    )
    if server.computer:
        log("page", "port %d takes sealed requests of the owner's computer (--via lan)" % port)


class Server:
    """Serves each connection; `names` are those of this board in a browser's address."""

    #: A head and a body each take at most so long.
    read_s = 10
    #: With more open connections, the oldest one without a head is cut off.
    connections = 32
    #: The sockets below MicroPython's TLS sessions.
    sockets: "tls.Sockets | None" = None
    #: The owner's computer, if the board has its key.
    computer: "sealed.Computer | None" = None

    def __init__(self, page: "Page", is_secure: bool, names: list[str]) -> None:
        self._page = page
        self._is_secure = is_secure
        self._names = [name.lower() for name in names]
        #: The open connections, and the tasks of those that have not sent their head, oldest
        #: first.
        self.open = 0
        self._early: list = []

    async def serve(self, reader: "Any", writer: "Any") -> None:
        """Serve one connection: one request and its answer."""
        connection = Connection(reader, writer, self.sockets)
        connection.address = address_of(writer)
        self.open += 1
        try:
            if self.open > self.connections and self._early:
                # A sleeper keeps nobody out.
                self._early.pop(0).cancel()
            await self._serve(connection)
            await connection.close()
        except asyncio.CancelledError:
            # The end of the program. CPython would print a traceback for it.
            await connection.abort()
        except OSError:
            # Also Gone.
            await connection.abort()
        finally:
            self.open -= 1

    async def _serve(self, connection):
        found = None
        size = 0
        try:
            found = await self._read_head(connection)
            if found is None:
                return
            is_sealed = self.computer and found.path == request.SEALED
            if is_sealed:
                size = request.body_size(found, request.MAX_SEALED)
            else:
                guard.check(found, self._is_secure, self._names)
                if not self._is_secure and not _is_local(connection.address):
                    raise Refused(403, _NOT_HERE)
                size = request.body_size(found)
            await self._limited(request.read_body(connection, found, size), "body")
            size = 0
            if is_sealed:
                await self.computer.take(connection, found)
            else:
                found.is_secure = self._is_secure
                found.find_session(self._page.access)
                await routes.check(found)
                await routes.answer(self._page, connection, found)
        except Refused as error:
            if connection.is_answered or not connection.has_spoken:
                # MicroPython would wait long to tell one who speaks no TLS.
                raise Gone("there is nobody to answer")
            await connection.answer(error.status, {"error": error.sentence}, *error.headers)
            if found is None or size:
                await connection.drop_rest()
        except Gone:
            raise
        except Exception as error:
            await connection.answer_fault(error)

    async def _read_head(self, connection):
        task = asyncio.create_task(self._limited(request.read_head(connection), "head"))
        self._early.append(task)
        try:
            return await task
        except asyncio.CancelledError:
            raise Gone("too many connections")
        finally:
            if task in self._early:
                self._early.remove(task)

    async def _limited(self, reading, what):
        try:
            return await asyncio.wait_for(reading, self.read_s)
        except asyncio.TimeoutError:
            raise Refused(408, "the %s did not come in time" % what)


def _is_local(address):
    """Is it this machine's?"""
    return address[:4] == "127." if isinstance(address, str) else address[0] == 127
