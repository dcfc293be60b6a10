# tenner net.http: makes one HTTP/1.1 exchange at a time over a stream, in constant memory.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The connection stays open after a body read to its end, so the rounds of a turn share one TLS
handshake. Every failure closes the socket and raises an exception for the caller.
"""

import asyncio
import gc

from tenner import overlay
from tenner.net import http_send
from tenner.net.http_errors import HttpError, Yielded
from tenner.net.response import Response
from tenner.net.tls import ENOMEM
from tenner.net.url import is_plain, parse_url, request_head
from tenner.port.compat import const, has_input, open_connection, ticks_diff, ticks_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from typing import Any

    from tenner.net.tls_reserve import TlsContext, TlsSemaphore

_RESTARTS = const(3)
# The places in Http.work behind the head and the body.
_CONSUME = const(2)
_REPEATS = const(3)
_PHASES = const(4)


class Http(Response):
    """
    An HTTP client with at most one connection. `tls` is a function that returns the SSLContext.
    The client holds `semaphore` (net.tls_reserve) while it has a TLS session; with `yields` true
    the exchange is a long poll that ends with Yielded when another client wants the semaphore.
    `consume` gets the client itself: `status`, `header(name)`, and the body by `readinto` or
    `read_text`.
    """

    #: An idle connection gives way to a long poll only after this time: closing it between the
    #: rounds of a turn would cost a handshake each.
    idle_ms = 2000

    #: An async function of (host, port) that returns the address to connect to, or raises OSError.
    resolve: "Callable[[str, int], Awaitable[str]] | None" = None

    #: (head, body, consume, repeats, phases); (body, quiet) of a poll.
    work: tuple | None
    _task: "asyncio.Task | None"
    _result: "Any"
    _asked: "Exception | None"

    def __init__(
        self,
        tls: "Callable[[], TlsContext] | None" = None,
        semaphore: "TlsSemaphore | None" = None,
        yields: bool = False,
    ) -> None:
        super().__init__()
        self.yields = yields
        #: Bytes of the body last sent.
        self.body_bytes = 0
        #: Has the last byte of a request left, so that the server may have executed it?
        self.is_sent = False
        #: The time when an exchange began; the reader of a long reply sets it for each piece.
        self.heard_ms = 0
        #: The head of the request that `poll` sends; None before `open`.
        self.head: bytes | None = None
        #: Does the buffer hold the beginning of the reply to `poll`?
        self.came = False
        self.tls = tls
        self._semaphore = semaphore
        self._has_place = False
        #: The beginning of the last URL, and its origin.
        self._known: tuple[str, tuple | None] = "", None
        self._origin = None
        self._task = self.work = self._result = None
        #: Does an exchange or a poll run?
        self.busy = False
        #: The exception that ends the exchange on request.
        self._asked = None
        self._idle_since = 0

    # --- one exchange

    async def exchange(
        self,
        method: str,
        url: str,
        headers: "Sequence[tuple[str, str]]",
        body: "bytes | Callable[[], Iterator[bytes]] | None",
        consume: "Callable[[Http], Awaitable] | None",
        timeout_s: float,
        repeats: bool = False,
        phases: "tuple[str, str] | None" = None,
    ) -> "Any":
        """
        Send a request and return the result of `await consume(self)`. `headers` is a list of
        (name, value). `body` is None, bytes, or a function that returns a fresh generator of
        bytes; it is called twice, to count and to send. asyncio.TimeoutError after `timeout_s`,
        counted from the moment it has a connection. If a reused connection closes without an
        answer, the request is repeated only for a GET, or if `repeats` declares it harmless.
        `phases`: of the memory (tenner.overlay), for sending and for reading.
        """
        origin, head = self._request(method, url, headers)
        if self.busy:
            raise RuntimeError("this connection is busy")
        self.busy = True
        self._asked = None
        self.is_sent = False
        self.work = head, body, consume, repeats or method == "GET", phases
        try:
            if origin != self._origin or self.came:
                await self._drop()
            await self._enter(origin)
        except BaseException as error:
            self.busy = False
            raise self._reason(error) if isinstance(error, (OSError, ValueError)) else error
        result = await self._watch(self._exchange, (origin,), timeout_s)
        if self._semaphore and self._semaphore.shortages:
            self._semaphore.lacked_memory(None)
        return result

    def _request(self, method, url, headers):
        """Return the origin and the head of a request."""
        base, origin = self._known
        path = url[len(base) :]
        # Most requests go to the same server: reuse its parsed origin.
        if not base or path[:1] != "/" or not url.startswith(base) or not is_plain(path):
            origin, path = parse_url(url)
            base = url[: url.find("/", 8)] if "/" in url[8:] else "?"
            self._known = ("", None) if "?" in base else (base, origin)
        return origin, request_head(method, origin, path, headers)

    async def _watch(self, work, args, timeout_s):
        """Return the result that `work(*args)` sets; close the connection on any exception."""
        self.busy = True
        self.heard_ms = ticks_ms()
        try:
            self._task = overlay.start(work(*args))
            await asyncio.wait_for(self._task, timeout_s)
            return self._result
        except BaseException as error:
            await self._drop()
            if self._asked and isinstance(error, asyncio.CancelledError):
                error = self._asked
            raise self._reason(error) if isinstance(error, (OSError, ValueError)) else error
        finally:
            self._idle_since = ticks_ms()
            self.busy = False
            self._task = self.work = self._result = None

    # Its callers ask for errors of the network alone: after a MemoryError its code, which is in
    # another overlay, would find no room.
    def _reason(self, error):
        """Return the exception to raise for `error`: ENOMEM for a lack of memory."""
        if self._semaphore and self._semaphore.lacked_memory(error):
            return OSError(ENOMEM, self._semaphore.why())
        return error

    async def _exchange(self, origin):
        for _ in range(1 + _RESTARTS):
            if self.stream is not None and has_input(self.stream):
                # The server has closed it, or the bytes are no answer to this request.
                await self._disconnect()
            reused = self.stream is not None
            self.start = self.end = 0
            try:
                if not reused:
                    await self._connect(origin)
                await overlay.stage(self.work[_PHASES], 0)
                if await http_send.send(self):
                    await overlay.stage(self.work[_PHASES], 1)
                    await self.receive_head()
                    reserve = self._semaphore and self._semaphore.reserve
                    if reserve and reserve.is_new:
                        reserve.learn()
                    await overlay.stage(self.work[_PHASES], 1)
                    break
            except (OSError, EOFError):
                # The server closed the reused connection without an answer; it may have executed
                # the request.
                if not reused or self.end or self.is_sent and not self.work[_REPEATS]:
                    raise
            await self._disconnect()
        else:
            raise HttpError("the request changed each time while it was sent")
        await self._finish()

    async def _finish(self):
        await self._consume()
        if self.keep and not self.done:
            try:
                # Often only the end of the body is missing.
                await asyncio.wait_for(overlay.start(self.read_text(256)), 1)
            except (OSError, EOFError, asyncio.TimeoutError):
                self.keep = False
        if not self.keep or not self.done or self.start != self.end:
            await self._drop()

    async def _consume(self):
        # Not in the task's own frame, whose stack would keep a reference to the result.
        self._result = await self.work[_CONSUME](self)

    # --- long polls, also on the open connection of an exchange

    async def open(
        self, method: str, url: str, headers: "Sequence[tuple[str, str]]", timeout_s: float
    ) -> None:
        """Set the request of `poll`, and connect as soon as the semaphore lets it; the timeout
        starts then."""
        self._asked = None
        origin, self.head = self._request(method, url, headers)
        if self.stream is None:
            await self._enter(origin)
            await self._watch(self._connect, (origin,), timeout_s)

    async def _enter(self, origin):
        if origin[0] and self._semaphore and not self._has_place:
            await self._semaphore.acquire(self)
            self._has_place = True

    async def poll(self, body: bytes, quiet: bytes, timeout_s: float) -> bool | None:
        """
        Send the request of `open` with `body` and wait for the reply. Return True if its body
        equals `quiet`, False for another one, which `answer` reads, None if the server has closed
        a connection it had answered on. This waits all day, so its code is minimal.
        """
        self._asked = None
        self.work = body, quiet
        return await self._watch(self._poll, (), timeout_s)

    async def _poll(self):
        body, quiet = self.work
        length = b": %d\r\n" % len(quiet)
        buffer = self.buffer
        view = memoryview(buffer)
        end = start = 0
        self._result = False
        try:
            await self.write(self.head + b"Content-Length: %d\r\n\r\n" % len(body) + body, True)
            while True:
                count = await self.stream.readinto(view[end:])
                if count is None:
                    continue
                end += count
                start = buffer.find(b"\r\n\r\n", 0, end) + 4
                if start > 3:
                    if (
                        buffer.find(length, 0, start) < 0
                        or quiet[: end - start] != view[start:end]
                    ):
                        break
                    if end - start == len(quiet):
                        self._result = buffer[9:12] == b"200"
                        break
                if not count or end == len(buffer):
                    break
        except OSError:
            if end or not self.keep:
                raise
        if not end:
            if not self.keep:
                # A new connection was not idle: this raises the error it has.
                await self._fill()
            self._result = None
            await self._drop()
            return
        self.keep = True
        self.came = not self._result
        self.start = 0
        self.end = end if self.came else 0

    async def answer(self, consume: "Callable[[Http], Awaitable]", timeout_s: float) -> "Any":
        """Return the result of `await consume(self)` for the reply to `poll`."""
        self._asked = None
        self.work = None, None, consume
        return await self._watch(self._answer, (), timeout_s)

    async def _answer(self):
        self.came = False
        await self.receive_head()
        await self._finish()
        # Short texts that would split the free memory until the next reply.
        self._headers.clear()

    # --- the connection

    async def close(self) -> None:
        """Close the connection, if there is one."""
        if not self.busy:
            await self._drop()

    def take_over(self, other: "Http") -> bool:
        """Continue on the idle connection of `other`, to the same server; return whether it has
        one."""
        if other.stream is None or other.busy or other.came or self.stream:
            return False
        if other._has_place:
            if not self._semaphore.replace(other, self):
                return False
            other._has_place, self._has_place = False, True
        self.attach(other.stream)
        self.keep = other.keep
        self._origin = other._origin
        other.attach(None)
        other._origin = None
        return True

    async def give_way(self, to_poll: bool) -> None:
        """Stop a long poll, or close an idle connection; the semaphore calls this when another
        client waits."""
        if self.busy:
            if self.yields and not to_poll and self._task:
                self._asked = Yielded()
                self._task.cancel()
        elif not to_poll or ticks_diff(ticks_ms(), self._idle_since) > self.idle_ms:
            await self._drop()

    def fail(self, error: "Exception") -> None:
        """End the exchange, if one is running, with `error`."""
        if self.busy and self._task:
            self._asked = error
            self._task.cancel()

    async def _connect(self, origin):
        secure, host, port = origin
        context: Any = None
        if secure:
            if self.tls is None:
                raise HttpError("https needs certificates")
            context = self.tls()
            gc.collect()
        address = await self.resolve(host, port) if self.resolve else host
        stream, _ = await open_connection(
            address, port, ssl=context, server_hostname=context and host
        )
        self.attach(stream)
        self._origin = origin

    async def _disconnect(self):
        stream = self.stream
        self.attach(None)
        self._origin = None
        self.came = False
        if stream:
            await stream.wait_closed()

    async def _drop(self):
        """Close the connection and release the semaphore."""
        try:
            await self._disconnect()
        finally:
            if self._has_place:
                self._has_place = False
                self._semaphore.release(self)

    # --- the request

    async def write(self, chunk: bytes | memoryview, last: bool) -> None:
        """Send a chunk and drain it. `last`: it completes the request."""
        self.stream.write(chunk)
        # MicroPython keeps here the bytes that have not left: all of them before the handshake. If
        # none are left, draining would only cost a pass of the loop.
        waits = getattr(self.stream, "out_buf", None)
        self.is_sent = last and not waits
        if waits != b"":
            await self.stream.drain()
            self.is_sent = last
