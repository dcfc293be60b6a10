# virtual board: `socket` whose way out is the supervisor, so that a Wi-Fi cut is a real cut.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Only `getaddrinfo` differs. Every address it returns is that of a relay in the supervisor, one for
each host and port; sockets stay the interpreter's own. When Wi-Fi goes down the relays close, with
a reset for connections that are open, and names do not resolve (-202, as on an ESP32).
"""

import _board
import usocket
from usocket import *  # noqa: F403


def getaddrinfo(host, port, *rest):
    relay = int(_board.ask("resolve %s %d" % (host, port)))
    if relay == 0:
        # No relay is needed to listen.
        return usocket.getaddrinfo(host, port, *rest)
    return usocket.getaddrinfo("127.0.0.1", relay, *rest)
