# tenner page.connection: the connection of a browser, with a limit on each wait.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import overlay
from tenner.log import log_exception
from tenner.page.json_pieces import pieces
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tenner.page.request import Request
    from tenner.page.tls import Sockets

_CLOSE_S = const(5)
#: Rest of a refused request that is read, since closing at once would drop the answer.
_REST = const(262144)
_REST_S = const(2)
#: TLS on MicroPython loses bytes of longer writes.
_PIECE = const(2048)
#: So many characters of an answer wait to be sent together.
_FULL = const(400)
NO_STORE = const("Cache-Control: no-store")
#: A browser is strict with the page: no script, style or picture of another place.
_STRICT = (
    b"Connection: close\r\n"
    b"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    b"connect-src 'self'; img-src 'self'; manifest-src data:; base-uri 'none'; form-action "
    b"'none'; frame-ancestors 'none'\r\n"
    b"X-Content-Type-Options: nosniff\r\n"
    b"Referrer-Policy: no-referrer\r\n"
    b"Cross-Origin-Resource-Policy: same-origin\r\n"
    b"Cross-Origin-Opener-Policy: same-origin\r\n\r\n"
)


def address_of(writer: "Any") -> "str | bytes":
    """Return the other side's; CPython and an ESP32 have (address, port), MicroPython on Linux the
    bytes of a sockaddr_in."""
    place = writer.get_extra_info("peername")
    return place[0] if isinstance(place, tuple) else bytes(place[4:8])


def first_of_most(strangers: "list[list[Any]]") -> "list[Any]":
    """Return the one that came first from the address that has most; each is [address, ...]."""
    addresses = [one[0] for one in strangers]
    return strangers[addresses.index(max(addresses, key=addresses.count))]


class Gone(OSError):
    """The browser has left, or is too slow, or speaks no TLS: its own affair."""


class Connection:
    """A connection of asyncio.start_server; on MicroPython reader and writer are the same."""

    #: A browser that takes nothing for so long is cut off.
    send_s = 20
    #: Has the browser sent anything?
    has_spoken = False
    #: Has the browser of a stream closed the connection?
    has_left = False
    #: Has an answer begun?
    is_answered = False
    #: Bytes that were read before; `read` returns them first.
    first = b""
    #: On Linux, and for sealed requests: the other side's, a text or four bytes.
    address: "str | bytes" = b""
    #: On a chip: the request, once it is read and its checks are over.
    request: "Request | None" = None

    def __init__(self, reader: "Any", writer: "Any", sockets: "Sockets | None" = None) -> None:
        self._reader = reader
        self._writer = writer
        self._sockets = sockets
        self._held: list[str] = []
        self._size = 0

    def __enter__(self) -> "Connection":
        """Work within the block is not tried again for want of memory once it has sent some of the
        answer."""
        return self

    def __exit__(self, kind: "Any", error: "Any", trace: "Any") -> None:
        if self.is_answered and isinstance(error, MemoryError):
            raise overlay.OutOfMemory(str(error))

    async def read(self, count: int) -> bytes:
        """Return at most `count` bytes that have come, b"" at the end."""
        block, self.first = self.first, b""
        if not block:
            try:
                block = await self._reader.read(count)
            except (OSError, EOFError, ValueError) as error:
                # MicroPython's TLS has ValueError for some failures.
                raise Gone(str(error))
        self.has_spoken = True
        return block

    async def start(self, status: int, kind: str, headers: "Sequence[str]" = ()) -> None:
        """Send the head of the answer; `kind` is its Content-Type, "" without a body."""
        self.is_answered = True
        # HTTP lets the words for the status be left out.
        lines = ["HTTP/1.1 %d " % status]
        if kind:
            lines.append("Content-Type: " + kind)
        lines.extend(headers)
        await self.send(("\r\n".join(lines) + "\r\n").encode())
        await self.send(_STRICT)

    async def send(self, data: "bytes | bytearray") -> None:
        """Send bytes; Gone if the browser does not take them."""
        view = memoryview(data)
        for at in range(0, len(data), _PIECE):
            try:
                self._writer.write(bytes(view[at : at + _PIECE]))
                await asyncio.wait_for(self._writer.drain(), self.send_s)
            except asyncio.TimeoutError:
                raise Gone("the browser takes nothing")
            except (OSError, ValueError) as error:
                raise Gone(str(error))

    async def answer(self, status: int, value: "Any", *headers: str) -> None:
        """Send a JSON value as the whole answer (see json_pieces)."""
        headers += (NO_STORE,)
        self._held = []
        self._size = 0
        for piece in pieces(value):
            if not self.is_answered and self._is_full():
                await self.start(status, "application/json", headers)
            await self.put(piece)
        if not self.is_answered:
            # A short one.
            size = sum([len(piece.encode()) for piece in self._held])
            headers += ("Content-Length: %d" % size,)
            await self.start(status, "application/json", headers)
        await self.flush()

    async def answer_fault(self, error: Exception) -> None:
        """Log an unexpected failure, and answer it by a sentence unless the answer has begun."""
        log_exception("a request of the page failed", error)
        if self.is_answered:
            return
        if isinstance(error, (MemoryError, overlay.OutOfMemory)):
            await self.answer(503, {"error": "too little memory: try again"}, "Retry-After: 3")
        elif isinstance(error, OSError):
            said = "a file of the agent cannot be read or written (%s); its log shows more"
            await self.answer(500, {"error": said % error})
        else:
            await self.answer(500, {"error": "the agent has a fault; its log shows it"})

    async def put(self, piece: str) -> None:
        """Add a short text to the answer; `flush` sends the last ones."""
        self._held.append(piece)
        self._size += len(piece)
        if self.is_answered and self._is_full():
            await self.flush()

    async def put_value(self, value: "Any") -> None:
        """Add a JSON value to the answer."""
        for piece in pieces(value):
            await self.put(piece)

    async def flush(self) -> None:
        """Send the rest of the answer."""
        data = "".join(self._held).encode()
        self._held = []
        self._size = 0
        await self.send(data)

    def _is_full(self):
        return self._size >= _FULL

    async def drop_rest(self) -> None:
        """Read the rest that the browser sends."""
        try:
            await asyncio.wait_for(overlay.start(self._drop()), _REST_S)
        except asyncio.TimeoutError:
            pass

    async def _drop(self):
        left = _REST
        block = b"-"
        while block and left > 0:
            block = await self.read(256)
            left -= len(block)

    async def close(self) -> None:
        """Close it after all is sent."""
        writer = self._writer
        if not hasattr(writer, "transport"):
            # drain() has sent all.
            await self._close_socket()
            return
        writer.close()
        try:
            await asyncio.wait_for(writer.wait_closed(), _CLOSE_S)
        except (OSError, asyncio.TimeoutError):
            writer.transport.abort()

    def cut(self) -> None:
        """Close it at once on CPython, also while a task waits for it."""
        if hasattr(self._writer, "transport"):
            self._writer.transport.abort()

    async def abort(self) -> None:
        """Close it, and drop the unsent rest."""
        self.cut()
        if not hasattr(self._writer, "transport"):
            await self._close_socket()

    async def _close_socket(self):
        """Do it on MicroPython."""
        await self._writer.wait_closed()
        if self._sockets:
            self._sockets.close(self._writer.s)
