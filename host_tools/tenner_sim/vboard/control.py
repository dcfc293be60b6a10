"""The board's control socket: JSON lines over a Unix socket, one request and one answer per line.

Request {"do": "set", "name": "room.temperature", "value": 31.5}; answer {"ok": true, "result":
...} or {"ok": false, "error": "one sentence"}. The requests are the `do_*` methods of
supervisor.Supervisor.
"""

from __future__ import annotations

import json
import os
import socket
import tempfile
import threading
from pathlib import Path
from typing import Any

from tenner_sim import LIMIT_S

#: sun_path has 108 bytes on Linux and 104 on macOS, with the final zero.
_MAX_PATH = 100


class BoardError(Exception):
    """The board cannot do that, or is missing; the text gives the reason and the remedy."""


def socket_path(folder: Path) -> Path:
    """The socket of a board with this state folder: in it, unless the path would be too long."""
    path = folder.resolve() / "control.sock"
    if len(os.fsencode(path)) <= _MAX_PATH:
        return path
    return Path(tempfile.mkdtemp(prefix="tenner-")) / "control.sock"


class ControlClient:
    """A connection to a running board."""

    def __init__(self, path: str | Path, timeout_s: float = LIMIT_S) -> None:
        self._timeout_s = timeout_s
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout_s)
        try:
            self._socket.connect(str(path))
        except OSError as exc:
            self._socket.close()
            raise BoardError(f"no virtual board answers at {path}: {exc.strerror}") from exc
        self._buffer = b""
        self._lock = threading.Lock()

    def request(self, do: str, limit_s: float | None = None, /, **arguments: Any) -> Any:
        """Send one request and return its result; threads wait for each other."""
        with self._lock:
            return self._request(do, limit_s, arguments)

    def _request(self, do: str, limit_s: float | None, arguments: dict[str, Any]) -> Any:
        line = json.dumps({"do": do, **arguments}).encode() + b"\n"
        self._socket.settimeout(limit_s or self._timeout_s)
        try:
            self._socket.sendall(line)
            while b"\n" not in self._buffer:
                data = self._socket.recv(65536)
                if not data:
                    raise BoardError("the virtual board has stopped")
                self._buffer += data
        except OSError as exc:
            raise BoardError(f"the virtual board does not answer: {exc}") from exc
        answer, _, self._buffer = self._buffer.partition(b"\n")
        result = json.loads(answer)
        if not result["ok"]:
            raise BoardError(result["error"])
        return result["result"]

    def close(self) -> None:
        self._socket.close()
