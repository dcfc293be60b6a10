"""The time server of a board's network: its answers by NTP, right ones and wrong ones."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable

from tenner_sim.vboard.loop import READ, Loop

PORT = 123
_FROM_1900 = 2208988800
_SERVER = 4

#: `unsynchronized`: it says that it does not know the time. `refuses`: stratum 0, with a code.
#: `zero`: no transmit time. `stranger`: not the answer to this question. `broadcast`: of another
#: mode. `silent`: none.
FAULTS = ("unsynchronized", "refuses", "zero", "stranger", "broadcast", "short", "silent")


def answer(query: bytes, unix_s: float, fault: str | None = None) -> bytes | None:
    """The answer to a client (RFC 4330, 4), None when there is none."""
    if len(query) < 48 or query[0] & 7 != 3 or fault == "silent":
        return None
    leap, stratum, mode, origin = 0, 2, _SERVER, query[40:48]
    now = int((unix_s + _FROM_1900) * (1 << 32)) & (1 << 64) - 1
    reference = b"\x7f\x00\x00\x01"
    if fault == "unsynchronized":
        leap, stratum = 3, 16
    elif fault == "refuses":
        stratum, reference = 0, b"RATE"
    elif fault == "stranger":
        origin = bytes(8)
    elif fault == "broadcast":
        mode = 5
    head = bytes([leap << 6 | query[0] & 0x38 | mode, stratum, query[2], 0xEC])
    times = struct.pack(">Q8sQQ", now, origin, now, 0 if fault == "zero" else now)
    packet = head + bytes(8) + reference + times
    return packet[:44] if fault == "short" else packet


class TimeServer:
    """One UDP port of this computer that leads to the server."""

    def __init__(self, loop: Loop, now: Callable[[], int], reachable: Callable[[], bool]) -> None:
        self._loop = loop
        self._now = now
        self._reachable = reachable
        self._end: socket.socket | None = None
        self.fault: str | None = None

    def port(self) -> int:
        if self._end is None:
            self._end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._end.bind(("127.0.0.1", 0))
            self._end.setblocking(False)
            self._loop.watch(self._end, READ, self._ready)
        return int(self._end.getsockname()[1])

    def _ready(self, end: socket.socket, events: int) -> None:
        query, address = end.recvfrom(512)
        data = answer(query, self._now(), self.fault) if self._reachable() else None
        if data:
            end.sendto(data, address)
