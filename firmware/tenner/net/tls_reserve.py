# tenner net.tls_reserve: the number of TLS sessions, and the memory of one, reserved and learned.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A handshake on a chip without PSRAM takes 35 to 46 KB for a moment, by the chain of certificates
that the server sends. state/tls has a line `HOST BYTES` for each server; the next start leaves so
much to TLS (chip_heap). A third word says that the owner knows that it is too much.
"""

import asyncio

from tenner.log import log
from tenner.net.tls import is_short
from tenner.port.compat import const
from tenner.port.stream import Stream
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket
    from ssl import SSLContext, SSLSocket
    from typing import Union

    TlsContext = Union[SSLContext, "Reserve"]

    from tenner.net.types import Holder

_SESSION = const(24000)  # bytes of a session's buffers, and the reserve instead of them
_BLOCK = const(17000)  # its largest block
_NETWORK = const(8000)  # less than this stops Wi-Fi
_NONE_LEFT = const(2000)
# Measured on an ESP32: the bytes of an open session, and of the handshake on top of it.
_LEAST_HELD = const(20000)
_MOST_HELD = const(40000)
_RSA_HELD = const(30000)
_ELLIPTIC = const(9100)
_RSA = const(13200)
#: A server that was never reached may send the longest usual chain.
UNKNOWN = const(46400)
_MOST = const(52000)
_STEP = const(2000)
_HOSTS = const(6)


class Reserve:
    """
    Takes the place of `context`, an SSLContext. While no session is open it holds one without a
    handshake, so that Python's heap cannot grow into the memory of the next session. `memory()`
    returns (free, largest free block, least ever free) bytes; this start left `planned` bytes to a
    handshake. `path` is that of state/tls.
    """

    #: The host of the last session that lacked memory, and its need; None while all had enough.
    lack: "tuple[str, int] | None" = None
    #: Has the session that is open not been measured yet?
    is_new = False

    def __init__(
        self,
        context: "SSLContext",
        memory: "Callable[[], tuple[int, int, int]]",
        path: str,
        planned: int = UNKNOWN,
    ) -> None:
        self._context = context
        self._memory = memory
        self._path = path
        self._planned = planned
        self._held = None
        self._host = ""
        self._free = self._room = 0
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
        self._host = server_hostname or ""
        self._free = free
        self._room = max(free, self._room)
        self._tight = free < (self._known() or UNKNOWN) or block < _BLOCK
        self.is_new = True
        return (context or self._context).wrap_socket(
            sock,
            server_hostname=server_hostname,
            do_handshake_on_connect=do_handshake_on_connect,
        )

    def was_tight(self) -> bool:
        """Return whether the last session lacked memory, or one before it: mbedTLS then rejects
        good certificates."""
        least = self._memory()[2]
        return self._tight or self.lack is not None or least < _NONE_LEFT

    def learn(self) -> None:
        """Measure the open session, which works, and keep the need of its host."""
        self.is_new = False
        if self.lack and self.lack[0] == self._host:
            self.lack = None
        held = self._free - self._memory()[0]
        if _LEAST_HELD < held < _MOST_HELD:
            need = held + _STEP + (_ELLIPTIC if held < _RSA_HELD else _RSA)
            known = self._known()
            # A few packets more or less are not worth an erase; that it never fits is not true any
            # more.
            if not need <= known + _STEP <= need + 4 * _STEP or self._known("told"):
                self._keep(need)

    def fail(self) -> None:
        """Note that the session just begun lacked memory."""
        known = self._known()
        need = known or UNKNOWN
        if self._free >= need:
            need = min(self._free + _STEP, _MOST)
        self.lack = self._host, need
        if need != known:
            self._keep(need)

    def sentence(self) -> str | None:
        """Return one clause about a lack that a new start does not repair; None without one."""
        if self.lack is None or self.lack[1] <= self._room or self.lack[1] > self._planned:
            return None
        host, need = self.lack
        return (
            "a connection to %s takes %d KB of memory, %d KB more than this board has left: a "
            "chip with more RAM helps, or an image with the agent inside"
        ) % (host, need // 1000, max((need - self._room) // 1000, 1))

    def tell(self) -> bool:
        """Return whether the owner has yet to be told of that, and note that it is done."""
        self._host, need = self.lack or ("", 0)
        if self._known("told"):
            return False
        self._keep(need, " told")
        return True

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

    def _known(self, mark=""):
        """Return the bytes of the file for the host, 0 for none; only of a line with this mark."""
        for words in self._lines():
            if words[0] == self._host and mark in words[-1]:
                return int(words[1])
        return 0

    def _lines(self):
        found = []
        if files.exists(self._path):
            with open(self._path) as lines:
                found = [line.split() for line in lines]
        return [words for words in found if len(words) > 1 and words[1].isdigit()]

    def _keep(self, need, mark=""):
        lines = [" ".join(words) for words in self._lines() if words[0] != self._host]
        lines = lines[1 - _HOSTS :] + ["%s %d%s" % (self._host, need, mark)]
        try:
            files.write_atomic(self._path, "\n".join(lines))
        except OSError as error:
            log("memory", "%s is not written: %s" % (self._path, error))

    def _give_up(self):
        held, self._held = self._held, None
        if held is not None:
            held.close()


class TlsSemaphore:
    """
    Holders (net.http.Http) keep their place as long as their TLS session lives. A waiting one asks
    them to give way: a long poll stops at once, but not for another one, an idle connection
    closes. `fits()`, if given, returns whether the memory has room now for one session more than
    `limit`.
    """

    def __init__(self, limit: int = 1, fits: "Callable[[], bool] | None" = None) -> None:
        #: Number of connections in a row that failed for lack of memory.
        self.shortages = 0
        #: The net.tls_reserve.Reserve of a chip without PSRAM, which holds a session's memory
        #: while there is none.
        self.reserve = None
        self._limit = limit
        self._fits = fits
        self._holders = []
        self._waiting = []  # long polls last

    async def acquire(self, holder: "Holder") -> None:
        """Wait for a place for `holder`; a long poll (`yields`) lets all others go first."""
        waiting = self._waiting
        waiting.insert(len(waiting) if holder.yields else 0, holder)
        try:
            while self._is_full() or (holder.yields and waiting[0] is not holder):
                # Repeatedly, since a connection becomes idle without a signal.
                for other in list(self._holders):
                    await other.give_way(holder.yields)
                await asyncio.sleep(0.05)
            self._holders.append(holder)
        finally:
            waiting.remove(holder)

    def _is_full(self):
        over = len(self._holders) - self._limit
        return over > 0 or (over == 0 and not (self._fits and self._fits()))

    def replace(self, holder: "Holder", other: "Holder") -> bool:
        """Give the place of `holder` to `other`; return False if that may wait for one itself."""
        if other in self._waiting:
            return False
        self._holders[self._holders.index(holder)] = other
        return True

    def release(self, holder: "Holder") -> None:
        """Free the place of `holder`."""
        self._holders.remove(holder)
        self.has_room()

    def fail(self, error: "Exception") -> None:
        """End the exchanges of all HTTP clients with `error`."""
        for holder in self._holders:
            if hasattr(holder, "fail"):
                holder.fail(error)

    def has_room(self) -> bool:
        """Return whether a session is open, or the reserve holds memory for the next one."""
        return bool(self._holders) or self.reserve is None or self.reserve.take()

    def lacked_memory(self, error: BaseException | None) -> bool:
        """Count and return whether a connection failed for lack of memory; `error` None is a
        success."""
        reserve = self.reserve
        lacked = is_short(error) or (
            isinstance(error, ValueError) and reserve is not None and reserve.was_tight()
        )
        if lacked or error is None:
            self.shortages = self.shortages + 1 if lacked else 0
        if lacked and reserve is not None and reserve.is_new:
            reserve.fail()
        return lacked

    def why(self) -> str | None:
        """Return the clause of Reserve.sentence; None without a lack."""
        return self.reserve and self.reserve.lack and self.reserve.sentence()
