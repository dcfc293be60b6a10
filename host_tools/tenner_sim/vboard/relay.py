"""The board's connection to the network: a small TCP relay for each requested host and port.

The onboard `getaddrinfo` returns a relay's address, so all sockets and TLS of the firmware pass
through here. "Wi-Fi is down" can be as real as a pulled plug: open connections are reset.
"""

from __future__ import annotations

import contextlib
import socket
import struct

from tenner_sim.vboard.loop import READ, WRITE, Loop

_CHUNK = 65536
_HIGH_WATER = 262144


class _Half:
    """One direction of a relayed connection."""

    def __init__(self, source: socket.socket, target: socket.socket) -> None:
        self.source = source
        self.target = target
        self.waiting = bytearray()
        self.ended = False
        self.closed = False


class _Connection:
    def __init__(self, relays: Relays, near: socket.socket, far: socket.socket) -> None:
        self.relays = relays
        self.near = near
        self.far = far
        self.connected = False
        self.halves = {near: _Half(near, far), far: _Half(far, near)}
        for end in (near, far):
            end.setblocking(False)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.update()

    def update(self) -> None:
        """Watch each end only for the events that can make progress."""
        for end in (self.near, self.far):
            events = 0
            half, back = self.halves[end], self.halves[self.far if end is self.near else self.near]
            if end is self.far and not self.connected:
                events = WRITE
            else:
                if not half.ended and len(half.waiting) < _HIGH_WATER:
                    events |= READ
                if back.waiting:
                    events |= WRITE
            self.relays.loop.watch(end, events, self.ready)

    def ready(self, end: socket.socket, events: int) -> None:
        try:
            if end is self.far and not self.connected:
                error = end.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if error:
                    self.reset()
                    return
                self.connected = True
            if events & READ:
                half = self.halves[end]
                data = end.recv(_CHUNK)
                half.waiting += data
                half.ended = not data
            for half in self.halves.values():
                self._pump(half)
        except BlockingIOError:
            pass
        except OSError:
            self.reset()
            return
        if all(half.closed for half in self.halves.values()):
            self.close()
        else:
            self.update()

    def _pump(self, half: _Half) -> None:
        if half.target is self.far and not self.connected:
            return
        try:
            while half.waiting:
                sent = half.target.send(half.waiting[:_CHUNK])
                del half.waiting[:sent]
        except BlockingIOError:
            return
        if half.ended and not half.closed:
            half.closed = True
            with contextlib.suppress(OSError):
                half.target.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Drop both ends hard: the peer sees ECONNRESET, not a clean end."""
        for end in (self.near, self.far):
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self) -> None:
        for end in (self.near, self.far):
            self.relays.loop.forget(end)
            end.close()
        self.relays.connections.discard(self)


class Relays:
    """All relays of one board."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self._listeners: dict[tuple[str, int], socket.socket] = {}
        self.connections: set[_Connection] = set()

    def port(self, host: str, port: int) -> int:
        """The loopback port that leads to `host`; socket.gaierror if the name is unknown."""
        key = (host, port)
        if key not in self._listeners:
            socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)
            listener = socket.create_server(("127.0.0.1", 0))
            listener.setblocking(False)
            self._listeners[key] = listener

            def accept(end: socket.socket, events: int) -> None:
                self._accept(end, host, port)

            self.loop.watch(listener, READ, accept)
        return int(self._listeners[key].getsockname()[1])

    def _accept(self, listener: socket.socket, host: str, port: int) -> None:
        with contextlib.suppress(BlockingIOError):
            near, _ = listener.accept()
            far = None
            try:
                family, kind, protocol, _, address = socket.getaddrinfo(
                    host, port, socket.AF_INET, socket.SOCK_STREAM
                )[0]
                far = socket.socket(family, kind, protocol)
                far.setblocking(False)
                far.connect_ex(address)
            except OSError:
                near.close()
                if far is not None:
                    far.close()
                return
            self.connections.add(_Connection(self, near, far))

    def cut(self) -> None:
        """Reset every connection and stop listening."""
        for connection in list(self.connections):
            connection.reset()
        for listener in self._listeners.values():
            self.loop.forget(listener)
            listener.close()
        self._listeners.clear()
