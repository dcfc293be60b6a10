"""A bare HTTP client for the tests of the local services: it shows the exact bytes from the
wire."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from tenner_sim import LIMIT_S

_T = TypeVar("_T")


@dataclass
class Reply:
    """A response: `raw` in full, and its parts. `ended` says how the connection ended, if it
    did."""

    raw: bytes = b""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    ended: str = ""

    @property
    def json(self) -> Any:
        assert self.body, f"no reply came: the connection is {self.ended or 'open'}"
        return json.loads(self.body)


class Http:
    """One connection, which stays open between requests as long as the server lets it."""

    def __init__(self, url: str, context: ssl.SSLContext | None = None) -> None:
        parts = urlsplit(url)
        assert parts.port is not None
        self.sock = socket.create_connection(("127.0.0.1", parts.port), timeout=LIMIT_S)
        self.buffer = b""
        # TLS in memory: `ssl.SSLSocket` reports a reset as a mere end of file.
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls: ssl.SSLObject | None = None
        if context is not None:
            self._tls = context.wrap_bio(
                self._incoming, self._outgoing, server_hostname="localhost"
            )
            try:
                self._pump(self._tls.do_handshake)
            except (ssl.SSLError, OSError):
                self.sock.close()
                raise

    def __enter__(self) -> Http:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.sock.close()

    def send(
        self,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        method: str = "POST",
    ) -> None:
        data = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(data)}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        if not any(line.lower().startswith("content-type") for line in lines):
            lines.append("Content-Type: application/json")
        self.send_bytes("\r\n".join(lines).encode() + b"\r\n\r\n" + data)

    def send_bytes(self, data: bytes) -> None:
        """Send bytes as they are, through TLS if there is TLS."""
        if self._tls is None:
            self.sock.sendall(data)
            return
        tls = self._tls
        self._pump(lambda: tls.write(data))

    def post(self, path: str, body: Any, headers: dict[str, str] | None = None) -> Reply:
        """Send, receive and close."""
        with self:
            self.send(path, body, headers)
            return self.receive()

    def receive(self) -> Reply:
        """Receive one reply, or as much of it as comes before the connection ends."""
        reply = Reply()
        while b"\r\n\r\n" not in self.buffer:
            if not self._more(reply):
                reply.raw, self.buffer = self.buffer, b""
                return reply
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        reply.raw = head + b"\r\n\r\n"
        lines = head.decode("latin-1").split("\r\n")
        if lines[0].startswith("HTTP/"):
            reply.status = int(lines[0].split()[1])
        for line in lines[1:]:
            name, _, value = line.partition(":")
            reply.headers[name.strip().lower()] = value.strip()
        if reply.headers.get("transfer-encoding") == "chunked":
            self._chunked(reply)
        else:
            length = reply.headers.get("content-length")
            while length is None or len(self.buffer) < int(length):
                if not self._more(reply):
                    break
            size = len(self.buffer) if length is None else int(length)
            reply.body, self.buffer = self.buffer[:size], self.buffer[size:]
            reply.raw += reply.body
        return reply

    def _chunked(self, reply: Reply) -> None:
        while True:
            while b"\r\n" not in self.buffer:
                if not self._more(reply):
                    return
            line, _, rest = self.buffer.partition(b"\r\n")
            size = int(line, 16)
            while len(rest) < size + 2:
                if not self._more(reply):
                    reply.body += rest[:size]
                    return
                rest = self.buffer.partition(b"\r\n")[2]
            reply.body += rest[:size]
            self.buffer = rest[size + 2 :]
            if size == 0:
                return

    def _more(self, reply: Reply) -> bool:
        try:
            data = self._recv()
        except ConnectionResetError:
            reply.ended = "reset"
            return False
        except ssl.SSLEOFError:
            reply.ended = "cut"
            return False
        except TimeoutError:
            reply.ended = "silent"
            return False
        if not data:
            reply.ended = "closed"
        self.buffer += data
        return bool(data)

    def _recv(self) -> bytes:
        if self._tls is None:
            return self.sock.recv(65536)
        tls = self._tls
        try:
            return self._pump(lambda: tls.read(65536))
        except ssl.SSLZeroReturnError:
            return b""

    def _pump(self, function: Callable[[], _T]) -> _T:
        """Call a TLS function until it has enough bytes from the wire."""
        while True:
            try:
                return function()
            except ssl.SSLWantReadError:
                self.sock.sendall(self._outgoing.read())
                data = self.sock.recv(65536)
                if data:
                    self._incoming.write(data)
                else:
                    self._incoming.write_eof()
            finally:
                if self._outgoing.pending:
                    self.sock.sendall(self._outgoing.read())
