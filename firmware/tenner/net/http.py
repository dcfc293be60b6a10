# tenner net.http: one HTTP/1.1 exchange at a time over a stream, in constant memory.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The connection is kept after a body that was read to its end, so the rounds of a turn share one TLS
handshake. Whatever goes wrong, the socket is closed and the exception goes on to the caller.
"""

import asyncio
import gc

from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.store.modules import fleeting

_CHUNK = const(512)  # one write and one drain each: two writes per drain lose bytes under TLS
_RESTARTS = const(3)
_MAX_LINE = const(2048)  # longest line that is kept
_MAX_SKIPPED = const(32768)  # longest header line that is passed over
_MAX_HEADERS = const(64)  # in a head, or after a chunked body

# The only response headers kept; a reply may bring dozens.
_WANTED = const(
    b" content-type content-length content-encoding transfer-encoding connection retry-after location"
    b" mcp-session-id "
)


class HttpError(OSError):
    """The server does not speak HTTP as it should, or a limit was passed. args[0] is a sentence."""


class Yielded(Exception):
    """The exchange gave its connection up because somebody else was waiting for the gate."""


class Http:
    """
    An HTTP client with at most one connection. `tls` is a function that returns the SSLContext. `gate`
    (net.gate) is held while there is a TLS session; with `yields` true the exchange is a long poll
    that ends with Yielded when somebody else wants the gate.
    `consume` gets the client itself: `status`, `header(name)`, and the body by `readinto` or `read_text`.
    """

    #: How long a connection nobody uses is kept from a long poll that waits: to give it up between the
    #: rounds of a turn would cost a handshake each.
    idle_ms = 2000

    #: An async function of (host, port) that returns the address to connect to, or raises OSError.
    resolve = None

    def __init__(self, tls=None, gate=None, yields=False):
        self.yields = yields
        #: Bytes of the body last sent.
        self.body_bytes = 0
        self._tls = tls
        self._gate = gate
        self._gated = False
        self._origin = None
        self._stream = None
        self._task = None
        self._busy = False
        self._asked = False
        self._idle_since = 0
        # Gathers what is sent; then holds what was received past the part asked for.
        self._buf = bytearray(_CHUNK)
        self._start = self._end = 0

    # --- one exchange

    async def exchange(self, method, url, headers, body, consume, timeout_s):
        """
        Send a request and return what `await consume(self)` returns. `headers` is a list of (name,
        value). `body` is None, bytes, or a function that returns a fresh generator of bytes; it is called
        twice, to count and to send. asyncio.TimeoutError after `timeout_s`, counted from the moment
        the gate is open.
        """
        origin, path = parse_url(url)
        head = _head(method, origin, path, headers)
        if self._busy:
            raise RuntimeError("this connection is busy")
        self._busy = True
        self._asked = False
        try:
            if origin != self._origin:
                await self._drop()
            if origin[0] and self._gate and not self._gated:
                await self._gate.acquire(self)
                self._gated = True
            work = [lambda: self._exchange(origin, head, body, consume)]
            self._task = asyncio.create_task(fleeting(work))
            return await asyncio.wait_for(self._task, timeout_s)
        except BaseException as error:
            await self._drop()
            if self._asked and isinstance(error, asyncio.CancelledError):
                raise Yielded
            raise
        finally:
            self._busy = False
            self._task = None
            self._idle_since = ticks_ms()

    async def _exchange(self, origin, head, body, consume):
        for _ in range(1 + _RESTARTS):
            reused = self._stream is not None
            self._start = self._end = 0
            try:
                if not reused:
                    await self._connect(origin)
                if await self._send(head, body):
                    await self._receive_head()
                    break
            except (OSError, EOFError):
                # The server closed a kept connection in the meantime: nothing was answered yet.
                if not reused or self._end:
                    raise
            await self._disconnect()
        else:
            raise HttpError("the request changed each time while it was sent")
        result = await consume(self)
        if self._keep and not self._done:
            try:
                # Often it is but the end of the body that is missing.
                await asyncio.wait_for(self.read_text(256), 1)
            except (OSError, EOFError, asyncio.TimeoutError):
                self._keep = False
        if not self._keep or not self._done or self._start != self._end:
            await self._drop()
        return result

    # --- the connection

    async def close(self):
        """Close the connection, if there is one."""
        if not self._busy:
            await self._drop()

    async def give_way(self, to_poll):
        """Called by the gate when somebody waits: a long poll stops, an idle connection closes."""
        if self._busy:
            if self.yields and not to_poll and self._task:
                self._asked = True
                self._task.cancel()
        elif not to_poll or ticks_diff(ticks_ms(), self._idle_since) > self.idle_ms:
            await self._drop()

    async def _connect(self, origin):
        from tenner.port.compat import open_connection

        secure, host, port = origin
        context = None
        if secure:
            if self._tls is None:
                raise HttpError("https needs certificates")
            context = self._tls()
            gc.collect()
        address = await self.resolve(host, port) if self.resolve else host
        self._stream, _ = await open_connection(
            address, port, ssl=context, server_hostname=context and host
        )
        self._origin = origin

    async def _disconnect(self):
        stream, self._stream = self._stream, None
        self._origin = None
        if stream:
            await stream.wait_closed()

    async def _drop(self):
        """Close the connection and leave the gate."""
        try:
            await self._disconnect()
        finally:
            if self._gated:
                self._gated = False
                self._gate.release(self)

    # --- the request

    async def _send(self, head, body):
        """Send the request; return False when the body came out in another length the second time."""
        left = 0
        for count, piece in enumerate(_pieces(b"", body)):
            left += len(piece)
            if count & 63 == 63:
                await asyncio.sleep(0)
        self.body_bytes = left
        if body is not None:
            head += b"Content-Length: %d\r\n" % left
        head += b"\r\n"
        left += len(head)
        view = memoryview(self._buf)
        used = 0
        pieces = _pieces(head, body)
        try:
            for piece in pieces:
                size = len(piece)
                left -= size
                if left < 0:
                    return False
                start = 0
                while start < size:
                    count = min(size - start, _CHUNK - used)
                    view[used : used + count] = piece[start : start + count]
                    start += count
                    used += count
                    if used == _CHUNK:
                        self._stream.write(view)
                        await self._stream.drain()
                        used = 0
        finally:
            # A body that reads files closes them now, not when the garbage is collected.
            pieces.close()
        if used and not left:
            self._stream.write(view[:used])
            await self._stream.drain()
        return left == 0

    # --- the response

    async def _receive(self, view):
        while True:
            count = await self._stream.readinto(view)
            # None: TLS had a record but no data in it yet.
            if count is not None:
                return count

    async def _line(self):
        """Return the next line without its end, but at most `_MAX_LINE` + 1 bytes of it."""
        line = b""
        total = 0
        while total < _MAX_SKIPPED:
            if self._start == self._end:
                count = await self._receive(memoryview(self._buf))
                if not count:
                    raise EOFError("the server closed the connection")
                self._start = 0
                self._end = count
            stop = self._buf.find(b"\n", self._start, self._end) + 1
            end = stop or self._end
            line = (line + self._buf[self._start : end])[: _MAX_LINE + 1]
            total += end - self._start
            self._start = end
            if stop:
                return line.rstrip(b"\r\n")
        raise _bad("a line without end")

    async def _receive_head(self):
        """Read the head of the response; interim ones are skipped."""
        self.status = 100
        while self.status < 200:
            line = await self._line()
            status = line[9:12]
            if line[:7] != b"HTTP/1." or not status.isdigit() or status == b"101":
                raise _bad("no HTTP/1.1")
            self.status = int(status)
            self._keep = line[7:8] != b"0"
            self._headers = {}
            await self._receive_headers()
        # The end of the body is known by chunks, by its length, or by the connection's end.
        coding = (self.header("transfer-encoding") or "identity").lower()
        length = self.header("content-length")
        self._chunked = coding == "chunked"
        self._left = -1
        if self._chunked or self.status in (204, 304):
            self._left = 0
        elif coding != "identity":
            raise _bad("a body in " + coding)
        elif length is not None:
            if not length.isdigit() or len(length) > 12:
                raise _bad("a wrong content-length")
            self._left = int(length)
        self._done = not self._left and not self._chunked
        if self._left < 0 or "close" in (self.header("connection") or "").lower():
            self._keep = False

    async def _receive_headers(self):
        """Read lines up to an empty one: those of a head, or those after the last chunk of a body."""
        for _ in range(_MAX_HEADERS + 1):
            line = await self._line()
            if not line:
                return
            name, _, value = line.partition(b":")
            name = name.lower()
            if b" %s " % name in _WANTED:
                name = name.decode()
                value = value.strip().decode()
                if len(line) > _MAX_LINE or (
                    self._headers.setdefault(name, value) != value and name == "content-length"
                ):
                    raise _bad("a wrong " + name)
        raise _bad("too many headers")

    def header(self, name):
        """Return a header by its lower-case name, or None. Only those in `_WANTED` are there."""
        return self._headers.get(name)

    async def readinto(self, buf):
        """Read the next bytes of the body into `buf`; return how many, 0 at the end of the body."""
        if self._chunked and not self._left and not self._done:
            size = (await self._line()).split(b";")[0].strip().lower()
            if not 0 < len(size) < 9 or size.strip(b"0123456789abcdef"):
                raise _bad("a wrong chunk size")
            self._left = int(size, 16)
            if not self._left:
                await self._receive_headers()
                self._done = True
        if self._done or not len(buf):
            return 0
        view = memoryview(buf)
        if self._left >= 0:
            view = view[: self._left]
        count = min(len(view), self._end - self._start)
        if count:
            view[:count] = self._buf[self._start : self._start + count]
            self._start += count
        else:
            count = await self._receive(view)
        if self._left < 0:
            self._done = not count
        elif not count:
            raise EOFError("the reply was cut off")
        else:
            self._left -= count
            if not self._left:
                self._done = not self._chunked
                if self._chunked and await self._line():
                    raise _bad("a wrong chunk size")
        return count

    async def read_text(self, limit):
        """Return at most `limit` bytes of the body as text."""
        from tenner.net.jsonout import decode

        view = memoryview(bytearray(limit))
        used = 0
        while used < limit:
            count = await self.readinto(view[used:])
            if not count:
                break
            used += count
        return decode(view[:used])


def _bad(what):
    return HttpError("the server sent %s: check the address" % what)


def parse_url(url):
    """Return ((is it https, host, port), path) of an http or https URL; ValueError when it is none."""
    scheme, _, rest = url.partition("://")
    secure = scheme.lower() == "https"
    rest = rest.split("#")[0]
    host = rest.split("/")[0].split("?")[0]
    path = rest[len(host) :]
    if path[:1] != "/":
        path = "/" + path
    colon = host.rfind(":")
    port = "443" if secure else "80"
    if colon > host.rfind("]"):
        port = host[colon + 1 :]
        host = host[:colon]
    host = host.strip("[]").lower()
    if (
        not (secure or scheme.lower() == "http")
        or not host
        or "@" in host
        or not "!" <= min(url) <= max(url) <= "~"
        or not port.isdigit()
        or not 0 < int(port) < 65536
    ):
        # What stands before an @ may be a password.
        raise ValueError("no http or https address: " + url.split("@")[-1][:80])
    return (secure, host, int(port)), path


def _head(method, origin, path, headers):
    """Return the head of a request as bytes, up to the place of Content-Length."""
    secure, host, port = origin
    if ":" in host:
        host = "[" + host + "]"
    if port != (443 if secure else 80):
        host += ":%d" % port
    head = "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: tenner\r\n" % (method, path, host)
    for header in headers:
        head += "%s: %s\r\n" % header
    # A line break in a value would let it forge headers of its own.
    if "\0" in head or not head.count("\r") == head.count("\n") == 3 + len(headers):
        raise ValueError("a header has a line break")
    return head.encode()


def _pieces(head, body):
    yield head
    if callable(body):
        yield from body()
    elif body:
        yield body
