"""A serial cable that counts its bytes and round trips, and can be pulled at any byte."""

from __future__ import annotations

import select
import socket
import threading


class Cable:
    """Relay bytes between `url`, for a tool, and a board's TCP port.

    `round_trips` counts the board's answers, the cost of a slow link. After `cut_after` bytes,
    both directions together, the cable is pulled: it sets `pulled` and closes both ends.
    """

    def __init__(self, board_port: int, cut_after: int | None = None) -> None:
        self.round_trips = 0
        self.bytes = 0
        self.pulled = threading.Event()
        self._board_port = board_port
        self._cut_after = cut_after
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"socket://127.0.0.1:{self._listener.getsockname()[1]}"
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def pull(self) -> None:
        """Pull it now."""
        self.pulled.set()

    def close(self) -> None:
        self._closing.set()
        # Wakes the accept.
        self._listener.close()
        self._thread.join(5)

    def __enter__(self) -> Cable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        while not self._closing.is_set():
            if not select.select([self._listener], [], [], 0.05)[0]:
                continue
            try:
                tool, _ = self._listener.accept()
            except OSError:
                return
            if self.pulled.is_set():
                tool.close()
                continue
            with tool, socket.create_connection(("127.0.0.1", self._board_port)) as board:
                for end in (tool, board):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._pass_on(tool, board)

    def _pass_on(self, tool: socket.socket, board: socket.socket) -> None:
        asked = False
        while not (self._closing.is_set() or self.pulled.is_set()):
            for end in select.select([tool, board], [], [], 0.05)[0]:
                try:
                    data = end.recv(65536)
                except OSError:
                    return
                if not data:
                    return
                if end is board and asked:
                    self.round_trips += 1
                asked = end is tool
                if self._cut_after is not None and self.bytes + len(data) >= self._cut_after:
                    data = data[: self._cut_after - self.bytes]
                    self.pulled.set()
                self.bytes += len(data)
                (board if end is tool else tool).sendall(data)
                if self.pulled.is_set():
                    return
