"""Ports of loopback for programs that cannot choose one themselves."""

from __future__ import annotations

import random
import socket

#: Above those of well-known services, and below those that Linux and macOS give to connections:
#: such a port may be taken again before the program listens, or while it restarts.
_FIRST, _END = 10_000, 32_768
#: Not the global generator: hypothesis seeds it, so that each process would choose the same.
_RANDOM = random.SystemRandom()


def free_port() -> int:
    """Return a port that nobody listens on."""
    while True:
        port = _RANDOM.randrange(_FIRST, _END)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
