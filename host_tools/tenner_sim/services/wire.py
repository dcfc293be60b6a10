"""One accepted connection, plain or TLS, with full control over its bytes and their timing.

TLS runs over `ssl.MemoryBIO` instead of asyncio's own transport, so that a fault plan can stop in
the middle of a handshake, cut without close_notify, or reset. It also shows a client's refusal of
the certificate.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct

_READ_SIZE = 65536


class HandshakeFailed(Exception):
    """The client ended the TLS handshake, as it must with a certificate it does not trust."""


class Wire:
    """Bytes to and from one client."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        context: ssl.SSLContext | None,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls: ssl.SSLObject | None = None
        self._ended = False
        # drain() then means that the kernel has everything, so a reset cuts exactly at its place.
        writer.transport.set_write_buffer_limits(0)
        sock: socket.socket | None = writer.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is not None:
            self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)

    @property
    def tls_version(self) -> str | None:
        """`TLSv1.2`, `TLSv1.3`, or None on plain HTTP."""
        return self._tls.version() if self._tls is not None else None

    async def handshake(self) -> None:
        """Do the TLS handshake; do nothing on plain HTTP."""
        if self._tls is None:
            return
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._flush()
                if not await self._fill():
                    raise HandshakeFailed("client closed during the handshake") from None
            except ssl.SSLError as exc:
                await self._flush()
                raise HandshakeFailed(str(exc)) from exc
            else:
                await self._flush()
                return

    async def read(self) -> bytes:
        """Return the next bytes from the client, b"" at the end."""
        if self._tls is None:
            return await self._reader.read(_READ_SIZE)
        while True:
            try:
                return self._tls.read(_READ_SIZE)
            except ssl.SSLWantReadError:
                await self._flush()
                if not await self._fill():
                    return b""
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""
            except ssl.SSLError as exc:
                # In TLS 1.3 a client's refusal of the certificate arrives as the first record.
                raise HandshakeFailed(str(exc)) from exc

    async def write(self, data: bytes) -> None:
        """Send `data` and wait until the kernel has taken all of it."""
        if self._tls is None:
            self._writer.write(data)
            await self._writer.drain()
            return
        view = memoryview(data)
        while view:
            sent = self._tls.write(view[:16384])
            view = view[sent:]
            await self._flush()

    async def wait_gone(self) -> None:
        """Wait until the client closes, ignoring its data."""
        while await self._reader.read(_READ_SIZE):
            pass

    async def close(self) -> None:
        """Close in order: close_notify, then FIN."""
        if self._tls is not None and not self._ended:
            try:
                self._tls.unwrap()
            except (ssl.SSLError, ValueError):
                pass  # Do not wait for the client's own close_notify.
            await self._flush()
        await self.cut()

    async def cut(self) -> None:
        """Close with a bare FIN, as a server that dies does: no close_notify."""
        self._ended = True
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            pass  # The client has closed it already, which is fine.

    def reset(self) -> None:
        """Send RST at once."""
        self._ended = True
        sock: socket.socket | None = self._writer.get_extra_info("socket")
        if sock is not None and sock.fileno() >= 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def _fill(self) -> bool:
        data = b"" if self._ended else await self._reader.read(_READ_SIZE)
        if not data:
            self._incoming.write_eof()
            self._ended = True
            return False
        self._incoming.write(data)
        return True

    async def _flush(self) -> None:
        data = self._outgoing.read()
        if data:
            self._writer.write(data)
            await self._writer.drain()
