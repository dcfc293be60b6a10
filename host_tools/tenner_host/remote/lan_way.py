"""The way to a board over HTTP in the network (firmware/tenner/page/sealed.py).

Each message has a connection of its own. TLS, where the page has a certificate, verifies nothing:
the seal does.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import time

from tenner_host.errors import BoardSilent
from tenner_host.output import visible
from tenner_host.remote import known as store
from tenner_host.remote.known import Known
from tenner_host.remote.way import Busy, Way

PATH = "/sealed"
_CONNECT_S = 10.0
#: Much more than a board sends at once.
_MAX_HEAD = 8192
_MAX_FRAME = 4096
_BUSY = (429, 503)
#: A board with too many connections ends further ones at once. After so long it is another server.
_CLOSED_S = 30.0
_ALERT = 0x15


class LanWay(Way):
    """`known.address` is the board's, or its name in the network."""

    most_s = 5.0
    announces = False

    def __init__(self, known: Known) -> None:
        self._known = known
        self._tls = known.web_tls
        self.place = store.place(known.address, known.web_port)
        self._link: socket.socket | None = None
        self._sent = b""
        #: Received, but not returned yet.
        self._rest = bytearray()
        self._has_head = False
        self._why = ""
        #: Has it answered, with TLS or without as noted?
        self._is_known = False
        #: Since when it ends the connections at once; 0 for not.
        self._closed_at = 0.0

    def send(self, data: bytes) -> None:
        self.drop()
        self._sent = data
        self._why = ""
        try:
            self._link = self._connect()
        except OSError as exc:
            self._why = f"cannot be reached: {_reason(exc)}"
            raise BoardSilent(
                f"nothing answers at {self.place} ({_reason(exc)}): is the board on, is "
                "web.enabled set, and does it have another address now (--via lan:ADDRESS)?"
            ) from exc
        # If the board has ended it already, `receive` finds that out.
        with contextlib.suppress(OSError):
            host = self._link.getpeername()[0].partition("%")[0]
            head = (
                f"POST {PATH} HTTP/1.1\r\nHost: {store.place(host, self._known.web_port)}\r\n"
                f"Content-Type: application/octet-stream\r\nContent-Length: {len(data)}\r\n\r\n"
            )
            self._link.sendall(head.encode() + data)

    def receive(self, limit_s: float) -> bytes | None:
        deadline = time.monotonic() + limit_s
        while self._link is not None:
            try:
                if not self._has_head:
                    self._read_head(deadline)
                size = int.from_bytes(self._read(2, deadline), "big")
                if size <= _MAX_FRAME:
                    return self._read(size, deadline)
                self._why = "sends no sealed answer"
            except TimeoutError:
                pass
            except (EOFError, OSError) as exc:
                # An alert of TLS begins with this byte.
                is_other = not self._rest or self._rest[0] == _ALERT
                if not self._has_head and is_other and self._changed_tls():
                    continue
                more = f": {_reason(exc)}" if isinstance(exc, OSError) else ""
                self._why = self._why or f"ended the connection{more}"
                if not self._has_head and not self._rest:
                    self._note_closed()
            self.drop()
        return None

    def _note_closed(self) -> None:
        """Raise Busy if the board may have had too many connections."""
        now = time.monotonic()
        self._closed_at = self._closed_at or now
        if now - self._closed_at < _CLOSED_S:
            self.drop()
            raise Busy(f"the board at {self.place} {self._why}")

    def _changed_tls(self) -> bool:
        """Send the message once more, with TLS or without it; a server of the other kind has not
        read it."""
        if self._is_known or self._tls is not self._known.web_tls:
            return False
        why = self._why
        self._tls = not self._tls
        try:
            self.send(self._sent)
        except BoardSilent:
            self._why = why
            self._tls = self._known.web_tls
            return False
        return True

    def _connect(self) -> socket.socket:
        place = (self._known.address, self._known.web_port)
        link = socket.create_connection(place, _CONNECT_S)
        if not self._tls:
            return link
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        try:
            return context.wrap_socket(link)
        except ssl.SSLError:
            link.close()
            if self._tls is not self._known.web_tls:
                raise
            self._tls = False
            return self._connect()

    def _read_head(self, deadline: float) -> None:
        while (end := self._rest.find(b"\r\n\r\n")) < 0:
            if len(self._rest) > _MAX_HEAD or not b"HTTP/".startswith(bytes(self._rest[:5])):
                raise EOFError
            self._receive(deadline)
        words = bytes(self._rest[:end]).split(None, 2)
        del self._rest[: end + 4]
        status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
        self._has_head = True
        self._closed_at = 0.0
        if status == 200:
            return
        with contextlib.suppress(EOFError):
            while len(self._rest) < _MAX_FRAME:
                self._receive(deadline)
        sentence = _error(bytes(self._rest)) or f"HTTP {status}"
        self._rest.clear()
        if status in _BUSY:
            self.drop()
            raise Busy(f"the board at {self.place} is busy: {sentence}")
        self._why = f"answers: {sentence}"
        raise EOFError

    def _read(self, count: int, deadline: float) -> bytes:
        while len(self._rest) < count:
            self._receive(deadline)
        found = bytes(self._rest[:count])
        del self._rest[:count]
        return found

    def _receive(self, deadline: float) -> None:
        assert self._link is not None
        self._link.settimeout(max(deadline - time.monotonic(), 0.001))
        block = self._link.recv(2048)
        if not block:
            raise EOFError
        self._rest += block

    def drop(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None
        self._rest.clear()
        self._has_head = False

    def done(self) -> None:
        """The board waits for the end of the connection, as a sign that the reply has come."""
        self.drop()

    def why(self) -> str:
        return self._why

    def away(self) -> str:
        try:
            self._connect().close()
        except OSError as exc:
            return f"nothing answers at {self.place} ({_reason(exc)})"
        return ""

    def hear(self, limit_s: float) -> bool:
        """Wait only: the board announces nothing."""
        time.sleep(limit_s)
        return False

    def opened(self) -> None:
        """Remember the address."""
        self._known = store.note(self._known, self._tls)
        self._is_known = True

    def close(self) -> None:
        self.drop()


def _error(body: bytes) -> str:
    try:
        found = json.loads(body)
        return visible(str(found["error"])[:200])
    except (ValueError, KeyError, TypeError):
        return ""


def _reason(exc: OSError) -> str:
    if isinstance(exc, socket.gaierror):
        return "there is no such name in the network"
    return "no answer" if isinstance(exc, TimeoutError) else exc.strerror or str(exc)
