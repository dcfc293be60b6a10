# tenner net.rawsocket: a verified connection that never blocks, for libraries with their own loop.
# MIT license; Copyright (c) 2026 the tenner authors

import errno
import socket

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.net.tls_reserve import TlsContext

_CONNECT_S = const(10)


class RawSocket:
    """A socket whose `send` and `recv_into` raise OSError(EAGAIN) instead of waiting, on every
    interpreter."""

    def __init__(self, host: str, port: int, context: "TlsContext | None" = None) -> None:
        """Connect, and with `context` do the TLS handshake; each step blocks for 10 s at most."""
        address = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)[0]
        raw = socket.socket(address[0], socket.SOCK_STREAM)
        self._socket: Any = raw
        try:
            # One of MicroPython's sockets has no settimeout and blocks as long as its system does.
            if hasattr(raw, "settimeout"):
                raw.settimeout(_CONNECT_S)
            raw.connect(address[-1])
            if context is not None:
                self._socket = context.wrap_socket(raw, server_hostname=host)
            self._socket.setblocking(False)
        except BaseException:
            self.close()
            raise
        # MicroPython's TLS socket is a stream: readinto and write return None instead of waiting.
        self._read = getattr(self._socket, "recv_into", None) or self._socket.readinto
        self._write = self._socket.write if context is not None else self._socket.send

    def send(self, data: bytes | bytearray | memoryview) -> int:
        """Send the bytes of `data` that fit; return their number."""
        return self._count(self._write, data)

    def recv_into(self, buf: bytearray | memoryview, size: int) -> int:
        """Receive up to `size` bytes into `buf`; return their number, 0 at the end."""
        return self._count(self._read, memoryview(buf)[:size])

    def _count(self, method, data):
        try:
            count = method(data)
        except OSError as error:
            # CPython's TLS raises SSLWantReadError or SSLWantWriteError.
            if "Want" not in type(error).__name__:
                raise
            count = None
        if count is None:
            raise OSError(errno.EAGAIN, "")
        return count

    def close(self) -> None:
        self._socket.close()
