# tenner net.tls_reserve: keeps the memory of one TLS session from everybody else while there is none.
# MIT license; Copyright (c) 2026 the tenner authors

import io

from tenner.port.compat import const

_SESSION = const(24000)  # what one holds, and the reserve instead of it
_HANDSHAKE = const(32500)  # what it needs for a moment
_BLOCK = const(17000)  # its largest piece
_NETWORK = const(8000)  # less than this stops Wi-Fi
_NONE_LEFT = const(2000)


class _Nowhere(io.IOBase):
    """A stream for a session that never says a word."""

    def readinto(self, buf):
        return None

    def write(self, buf):
        return None

    def ioctl(self, request, argument):
        return 0


class Reserve:
    """
    Stands for `context` where an SSLContext is asked for. While no session is open it holds one that never shakes hands,
    so that Python's heap cannot grow into the memory that the next one needs. `memory()` returns (free, largest free block,
    least ever free) bytes.
    """

    def __init__(self, context, memory):
        self._context = context
        self._memory = memory
        self._held = None
        self._least = 0
        self._tight = False

    def wrap_socket(self, sock, server_hostname=None, do_handshake_on_connect=True):
        """Give the reserve up and return the session that takes its place."""
        self._give_up()
        free, block, self._least = self._memory()
        self._tight = free < _HANDSHAKE or block < _BLOCK
        return self._context.wrap_socket(
            sock,
            server_hostname=server_hostname,
            do_handshake_on_connect=do_handshake_on_connect,
        )

    def was_tight(self):
        """Did the last session have too little memory? mbedTLS then takes a good certificate for a bad one."""
        least = self._memory()[2]
        return self._tight or least < self._least and least < _NONE_LEFT

    def take(self):
        """Hold the memory of a session; return False if there is too little of it."""
        if self._held is None:
            free, block, _ = self._memory()
            if free < _SESSION + _NETWORK or block < _BLOCK:
                return False
            try:
                self._held = self._context.wrap_socket(
                    _Nowhere(), server_hostname="-", do_handshake_on_connect=False
                )
            except OSError:
                return False
        return True

    def _give_up(self):
        held, self._held = self._held, None
        if held is not None:
            held.close()
