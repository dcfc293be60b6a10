# tenner page.connection: the connection of a browser, with a limit on each wait.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import json

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from tenner.page.tls import Sockets

_CLOSE_S = const(5)
#: TLS on MicroPython loses bytes of longer writes.
_PIECE = const(2048)
_REASONS = {
    200: "OK",
    202: "Accepted",
    204: "No Content",
    304: "Not Modified",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    409: "Conflict",
    411: "Length Required",
    413: "Content Too Large",
    421: "Misdirected Request",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
#: A browser is strict with the page: no script, style or picture of another place.
_STRICT = (
    "Connection: close",
    (
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
        "connect-src 'self'; img-src 'self'; manifest-src 'self'; base-uri 'none'; form-action "
        "'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options: nosniff",
    "Referrer-Policy: no-referrer",
    "Cross-Origin-Resource-Policy: same-origin",
    "Cross-Origin-Opener-Policy: same-origin",
)


class Connection:
    """A connection of asyncio.start_server; on MicroPython reader and writer are the same."""

    #: A browser that takes nothing for so long is cut off.
    send_s = 20
    #: Has the browser sent anything?
    has_spoken = False
    #: Has an answer begun?
    is_answered = False

    def __init__(self, reader: "Any", writer: "Any", sockets: "Sockets | None" = None) -> None:
        self._reader = reader
        self._writer = writer
        self._sockets = sockets

    async def read(self, count: int) -> bytes:
        """Return at most `count` bytes that have come, b"" at the end."""
        block = await self._reader.read(count)
        self.has_spoken = True
        return block

    async def start(self, status: int, kind: str, headers: "Sequence[str]" = ()) -> None:
        """Send the head of the answer; `kind` is its Content-Type, "" without a body."""
        self.is_answered = True
        lines = ["HTTP/1.1 %d %s" % (status, _REASONS[status])]
        lines.extend(_STRICT)
        if kind:
            lines.append("Content-Type: " + kind)
        lines.extend(headers)
        await self.send(("\r\n".join(lines) + "\r\n\r\n").encode())

    async def send(self, data: "bytes | bytearray") -> None:
        """Send bytes; OSError if the browser does not take them."""
        view = memoryview(data)
        for at in range(0, len(data), _PIECE):
            self._writer.write(bytes(view[at : at + _PIECE]))
            try:
                await asyncio.wait_for(self._writer.drain(), self.send_s)
            except asyncio.TimeoutError:
                raise OSError("the browser takes nothing")

    async def answer(self, status: int, value: "Any", *headers: str) -> None:
        """Send a JSON value as the whole answer."""
        data = json.dumps(value).encode()
        length = "Content-Length: %d" % len(data)
        await self.start(status, "application/json", (length, "Cache-Control: no-store") + headers)
        await self.send(data)

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

    async def abort(self) -> None:
        """Close it, and drop the unsent rest."""
        if hasattr(self._writer, "transport"):
            self._writer.transport.abort()
        else:
            await self._close_socket()

    async def _close_socket(self):
        """Do it on MicroPython."""
        await self._writer.wait_closed()
        if self._sockets:
            self._sockets.close(self._writer.s)
