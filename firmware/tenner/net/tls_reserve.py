# tenner net.tls_reserve: reserves the memory of one TLS session while none is open.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.port.stream import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket
    from ssl import SSLContext, SSLSocket
    from typing import Union

    TlsContext = Union[SSLContext, "Reserve"]

_SESSION = const(24000)  # bytes that a session holds, and the reserve instead of it
_HANDSHAKE = const(32500)  # bytes that it needs for a moment
_BLOCK = const(17000)  # its largest block
_NETWORK = const(8000)  # less than this stops Wi-Fi
_NONE_LEFT = const(2000)


class Reserve:
    """
    Takes the place of `context`, an SSLContext. While no session is open it holds one without a
    handshake, so that Python's heap cannot grow into the memory of the next session. `memory()`
    returns (free, largest free block, least ever free) bytes.
    """

    def __init__(
        self, context: "SSLContext", memory: "Callable[[], tuple[int, int, int]]"
    ) -> None:
        self._context = context
        self._memory = memory
        self._held = None
        self._least = 0
        self._tight = False

    def wrap_socket(
        self,
        sock: "socket",
        server_hostname: str | None = None,
        do_handshake_on_connect: bool = True,
        context: "SSLContext | None" = None,
    ) -> "SSLSocket":
        """Free the reserve and return the session that takes its place, by another context if
        there is one."""
        self._give_up()
        free, block, self._least = self._memory()
        self._tight = free < _HANDSHAKE or block < _BLOCK
        return (context or self._context).wrap_socket(
            sock,
            server_hostname=server_hostname,
            do_handshake_on_connect=do_handshake_on_connect,
        )

    def was_tight(self) -> bool:
        """Return whether the last session lacked memory: mbedTLS then rejects good
        certificates."""
        least = self._memory()[2]
        return self._tight or least < self._least and least < _NONE_LEFT

    def take(self) -> bool:
        """Hold the memory of a session; return False if there is too little of it."""
        if self._held is None:
            free, block, _ = self._memory()
            if free < _SESSION + _NETWORK or block < _BLOCK:
                return False
            try:
                self._held = self._context.wrap_socket(
                    Stream(), server_hostname="-", do_handshake_on_connect=False
                )
            except OSError:
                return False
        return True

    def _give_up(self):
        held, self._held = self._held, None
        if held is not None:
            held.close()
