"""The host's end of the serial line: a pseudo-terminal, and sockets."""

from __future__ import annotations

import os
import select
import socket
import time
import tty


class Endpoint:
    """A sink for output and source of host bytes; never blocks, never grows."""

    #: Whether the host can set DTR and RTS here. If not, a SYNC frame replaces them.
    has_modem_lines = False

    #: Bytes waiting for a reader before the board has to wait, as with flow control.
    HIGH_WATER = 65536
    #: A reader that takes nothing for so long counts as absent until it takes something, and its
    #: backlog is dropped. A busy machine may leave a reader without CPU for seconds.
    PATIENCE_S = 10.0

    def __init__(self) -> None:
        self._backlog = bytearray()
        self._progress = time.monotonic()
        self._absent = False

    def fileno(self) -> int:
        raise NotImplementedError

    def attached(self) -> bool:
        raise NotImplementedError

    def _send(self, data: bytes) -> int:
        raise NotImplementedError

    def read(self) -> bytes:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    @property
    def full(self) -> bool:
        return len(self._backlog) >= self.HIGH_WATER

    @property
    def waiting(self) -> bool:
        return bool(self._backlog)

    def write(self, data: bytes) -> None:
        if not self.attached():
            self._backlog.clear()
            self._absent = False
            return
        if not self._backlog:
            self._progress = time.monotonic()
        self._backlog += data
        self.pump()

    def pump(self) -> None:
        """Send the waiting bytes, as far as the reader takes them."""
        while self._backlog:
            try:
                sent = self._send(bytes(self._backlog[:4096]))
            except BlockingIOError:
                if self._absent or time.monotonic() - self._progress > self.PATIENCE_S:
                    self._absent = True
                    self._backlog.clear()
                return
            except OSError:
                self._backlog.clear()
                return
            del self._backlog[:sent]
            self._absent = False
            self._progress = time.monotonic()


class PtyEndpoint(Endpoint):
    """The pseudo-terminal in place of /dev/ttyACM0. It stays while clients come and go."""

    def __init__(self) -> None:
        super().__init__()
        self._master, slave = os.openpty()
        tty.setraw(slave)
        self.path = os.ttyname(slave)
        # This process does not hold the other end open, so the kernel reports whether a client
        # does.
        os.close(slave)
        os.set_blocking(self._master, False)
        self._poll = select.poll()
        self._poll.register(self._master, 0)

    def fileno(self) -> int:
        return self._master

    def attached(self) -> bool:
        return not any(event & select.POLLHUP for _, event in self._poll.poll(0))

    def _send(self, data: bytes) -> int:
        return os.write(self._master, data)

    def read(self) -> bytes:
        try:
            return os.read(self._master, 4096)
        except OSError:
            return b""

    def close(self) -> None:
        os.close(self._master)


class TcpEndpoint(Endpoint):
    """One connection to the raw TCP port, for `socket://127.0.0.1:PORT`."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._socket = connection
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.open = True

    def fileno(self) -> int:
        return self._socket.fileno()

    def attached(self) -> bool:
        return self.open

    def _send(self, data: bytes) -> int:
        return self._socket.send(data)

    def read(self) -> bytes:
        try:
            data = self._socket.recv(4096)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self.open = False
        return data

    def close(self) -> None:
        self.open = False
        self._socket.close()
