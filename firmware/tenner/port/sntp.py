# tenner port.sntp: asks a time server for the time, and checks its answer.
# MIT license; Copyright (c) 2026 the tenner authors
"""
RFC 4330: 4 the packet, 5 the checks of a client, 3 the second era, which begins in 2036.
MicroPython's own `ntptime` checks nothing: a server without the time would set the clock.
"""

import socket
from os import urandom
from struct import unpack

from tenner.port.compat import const

_BYTES = const(48)
_TO_UNIX = const(2208988800)  # seconds from 1900 to 1970
_CLIENT = b"\x23"  # version 4, mode 3
_SERVER = const(4)
_NOT_SYNCHRONIZED = const(3)
_MAX_STRATUM = const(15)


def ask(host: str) -> int:
    """Return the Unix time of `host` or `host:port`. Blocks for a second at most; OSError gives
    the fault in words."""
    name, _, port = host.partition(":")
    if not port.isdigit():
        name, port = host, "123"
    # A stranger cannot know these bytes, which a server sends back.
    cookie = urandom(8)
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        end.settimeout(1)
        query = _CLIENT + bytes(_BYTES - 9) + cookie
        end.sendto(query, socket.getaddrinfo(name, int(port))[0][-1])
        data = end.recv(_BYTES)
    finally:
        end.close()
    if len(data) < _BYTES or data[0] & 7 != _SERVER or data[24:32] != cookie:
        raise OSError("it sent no answer to the question")
    if not data[1]:
        raise OSError("it refuses (%s)" % bytes([c for c in data[12:16] if 31 < c < 127]).decode())
    seconds = unpack(">I", data[40:44])[0]
    if data[0] >> 6 == _NOT_SYNCHRONIZED or data[1] > _MAX_STRATUM or not seconds:
        raise OSError("it does not know the time itself")
    return seconds - _TO_UNIX + (0 if seconds >> 31 else 1 << 32)
