# tenner net.http: one HTTP/1.1 exchange at a time over a stream, in constant memory.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The connection is kept after a body that was read to its end, so the rounds of a turn share one TLS
handshake. Whatever goes wrong, the socket is closed and the exception goes on to the caller.
"""

import asyncio
import gc

from tenner.port.compat import const, sleep_ms, ticks_diff, ticks_ms

_CHUNK = const(1024)  # one write and one drain each: two writes per drain lose bytes under TLS
_RESTARTS = const(3)

# The only response headers kept; a reply may bring dozens.
_WANTED = (
    "content-type",
    "content-length",
    "transfer-encoding",
    "connection",
    "retry-after",
    "location",
    "mcp-session-id",
)

if hasattr(asyncio.StreamReader, "readinto"):

    async def _read(reader, view):
        while True:
            count = await reader.readinto(view)
            # None: TLS had a record but no data in it yet.
            if count is not None:
                return count

    def _write(writer, view):
        writer.write(view)

    async def _close(writer):
        await writer.wait_closed()

else:  # CPython

    async def _read(reader, view):
        data = await reader.read(len(view))
        view[: len(data)] = data
        return len(data)

    def _write(writer, view):
        # A copy: the transport may keep what it is given while the buffer is filled anew.
        writer.write(bytes(view))

    async def _close(writer):
        # Not close(): over TLS that waits for a farewell from a peer that may be gone.
        writer.transport.abort()


class HttpError(OSError):
    """The server does not speak HTTP as it should, or a limit was passed. args[0] is a sentence."""


class Yielded(Exception):
    """The exchange gave its connection up because somebody else was waiting for the gate."""


def _bad(what):
    return HttpError("the server sent %s: check the address" % what)


class Http:
    """
    An HTTP client with at most one connection. `tls` is the SSLContext for https, or a function that
    returns it. `gate` (net.gate) is held while there is a TLS session; with `yields` true the exchange
    is a long poll that ends with Yielded when somebody else wants the gate.
    """

    #: Longest status line, and longest line of a header that is kept. Others are skipped.
    max_line = 2 * 1024

    #: Most headers of a response, and most lines after a chunked body.
    max_headers = 64

    #: All header lines together.
    max_head = 32 * 1024

    #: How long to wait for the end of a body whose reader has all it wants, to keep the connection.
    drain_s = 1

    #: How long a connection nobody uses is kept from a long poll that waits: to give it up between the
    #: rounds of a turn would cost a handshake each.
    idle_ms = 2000

    def __init__(self, tls=None, gate=None, yields=False):
        self.yields = yields
        #: Bytes of the body last sent.
        self.body_bytes = 0
        self._tls = tls
        self._gate = gate
        self._origin = None
        self._reader = self._writer = None
        self._gated = False
        self._task = None
        self._busy = False
        self._asked = False
        self._idle_since = 0
        # Gathers what is sent; then holds what was received past the part asked for.
        self._buf = bytearray(_CHUNK)
        self._start = self._end = 0

    async def exchange(self, method, url, headers, body, consume, timeout_s):
        """
        Send a request and return what `await consume(response)` returns. `headers` is a list of (name,
        value). `body` is None, bytes, or a function that returns a fresh iterator of bytes; it is called
        twice, to count and to send. asyncio.TimeoutError after `timeout_s`, counted from the moment
        the gate is open.
        """
        origin, path = parse_url(url)
        head = _head(method, origin, path, headers)
        if self._busy:
            raise RuntimeError("this Http is in the middle of another exchange")
        self._busy = True
        self._asked = False
        try:
            if origin != self._origin:
                await self._drop()
            if origin[0] and self._gate and not self._gated:
                await self._gate.acquire(self)
                self._gated = True
            self._task = asyncio.create_task(self._exchange(origin, head, body, consume))
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

    async def close(self):
        """Close the connection, if there is one."""
        if not self._busy:
            await self._drop()

    async def give_way(self, to_poll):
        """Called by the gate when somebody waits: a long poll stops, an idle connection closes."""
        if self._busy:
            if self.yields and not to_poll and self._task and not self._asked:
                self._asked = True
                self._task.cancel()
        elif not to_poll or ticks_diff(ticks_ms(), self._idle_since) > self.idle_ms:
            await self._drop()

    async def _exchange(self, origin, head, body, consume):
        restarts = 0
        while True:
            reused = self._writer is not None
            self._start = self._end = 0
            self._heard = False
            try:
                if not reused:
                    await self._connect(origin)
                if await self._send(head, body):
                    response = Response(self)
                    await response.begin()
                    break
                restarts += 1
                if restarts > _RESTARTS:
                    raise HttpError("the request changed while it was sent, %d times" % restarts)
                await self._drop_stream()
            except (OSError, EOFError):
                await self._drop_stream()
                # The server closed a kept connection in the meantime: nothing was answered yet.
                if not reused or self._heard:
                    raise
        result = await consume(response)
        if response.keep and not response.done:
            await self._drain(response)
        if not response.done or not response.keep or self._start != self._end:
            await self._drop()
        return result

    async def _connect(self, origin):
        secure, host, port = origin
        context = None
        if secure:
            context = self._tls() if callable(self._tls) else self._tls
            if context is None:
                raise HttpError("https needs certificates in /certs, and none were loaded")
            gc.collect()
        if context:
            streams = await asyncio.open_connection(host, port, ssl=context, server_hostname=host)
        else:
            streams = await asyncio.open_connection(host, port)
        self._reader, self._writer = streams
        self._origin = origin

    async def _send(self, head, body):
        """Send the request; return False when the body came out in another length the second time."""
        length = 0
        if callable(body):
            for count, piece in enumerate(body()):
                length += len(piece)
                if count & 63 == 63:
                    await sleep_ms(0)
        elif body:
            length = len(body)
        self.body_bytes = length
        if body is not None:
            head += b"Content-Length: %d\r\n" % length
        left = await self._gather(head + b"\r\n", body, length)
        return left == 0

    async def _gather(self, head, body, left):
        """Send `head` and the pieces of `body` in chunks; return how far the body is from `left` bytes."""
        view = memoryview(self._buf)
        used = 0
        left += len(head)
        pieces = _pieces(head, body)
        try:
            for piece in pieces:
                size = len(piece)
                left -= size
                if left < 0:
                    return left
                start = 0
                while start < size:
                    count = min(size - start, _CHUNK - used)
                    view[used : used + count] = piece[start : start + count]
                    start += count
                    used += count
                    if used == _CHUNK:
                        _write(self._writer, view)
                        await self._writer.drain()
                        used = 0
        finally:
            # A body that reads files closes them now, not when the garbage is collected.
            pieces.close()
        if used and not left:
            _write(self._writer, view[:used])
            await self._writer.drain()
        return left

    async def _fill(self):
        """Receive into the empty buffer; EOFError when the server closed."""
        self._start = self._end = 0
        self._end = await _read(self._reader, memoryview(self._buf))
        if not self._end:
            raise EOFError("the server closed the connection")
        self._heard = True

    async def _line(self, limit):
        """Return the next line without its end, but at most `limit` + 1 bytes of it."""
        line = b""
        total = 0
        while True:
            if self._start == self._end:
                await self._fill()
            stop = self._buf.find(b"\n", self._start, self._end)
            end = self._end if stop < 0 else stop
            room = limit + 1 - len(line)
            line += bytes(self._buf[self._start : min(end, self._start + room)])
            total += end - self._start
            self._start = end if stop < 0 else stop + 1
            if stop >= 0:
                if line[-1:] == b"\r":
                    line = line[:-1]
                return line
            if total > self.max_head:
                raise _bad("a line without end")

    async def _take(self, buf, limit):
        """Receive at most `limit` bytes of body into `buf`; 0 when the server closed."""
        count = min(len(buf), limit) if limit >= 0 else len(buf)
        ready = self._end - self._start
        if not ready:
            view = memoryview(buf)
            return await _read(self._reader, view if count == len(buf) else view[:count])
        count = min(count, ready)
        buf[:count] = self._buf[self._start : self._start + count]
        self._start += count
        return count

    async def _drain(self, response):
        """Read what is left of a body if it comes at once and is small, for the connection's sake."""
        rest = bytearray(64)

        async def drain():
            for _ in range(16):
                if not await response.readinto(rest):
                    return

        try:
            await asyncio.wait_for(drain(), self.drain_s)
        except (asyncio.TimeoutError, OSError, EOFError):
            response.keep = False

    async def _drop_stream(self):
        writer, self._reader, self._writer = self._writer, None, None
        self._origin = None
        if writer:
            await _close(writer)

    async def _drop(self):
        """Close the connection and leave the gate."""
        try:
            await self._drop_stream()
        finally:
            if self._gated:
                self._gated = False
                self._gate.release(self)


class Response:
    """What `consume` gets: `status`, `header(name)`, and the body by `readinto` or `read_text`."""

    def __init__(self, http):
        self._http = http
        self.status = 0
        #: The body was read to its end.
        self.done = False
        #: The connection may be used again once `done`.
        self.keep = True

    def header(self, name):
        """Return a header by its lower-case name, or None. Only those in `_WANTED` are there."""
        return self._headers.get(name)

    async def begin(self):
        """Read the head; interim responses are skipped."""
        while True:
            await self._read_head()
            if not 100 <= self.status < 200:
                break
            if self.status == 101:
                raise _bad("another protocol")
        self._frame()

    async def _read_head(self):
        http = self._http
        line = await http._line(http.max_line)
        parts = line.split(None, 2)
        if (
            len(parts) < 2
            or line[:7] != b"HTTP/1."
            or len(parts[1]) != 3
            or not parts[1].isdigit()
        ):
            raise _bad("no HTTP/1.1")
        self.status = int(parts[1])
        if parts[0] == b"HTTP/1.0":
            self.keep = False
        self._headers = {}
        total = 0
        for _ in range(http.max_headers + 1):
            line = await http._line(http.max_line)
            if not line:
                return
            total += len(line)
            if total > http.max_head:
                break
            self._keep_header(line, http.max_line)
        raise _bad("too many headers")

    def _keep_header(self, line, limit):
        colon = line.find(b":")
        # Longer than any wanted name: do not even make a string of it.
        if not 0 < colon <= 17:
            return
        name = _ascii(line[:colon]).lower()
        if name not in _WANTED:
            return
        if len(line) > limit:
            raise _bad("too long a " + name)
        value = _ascii(line[colon + 1 :].strip())
        known = self._headers.get(name)
        if known not in (None, value) and name != "connection":
            raise _bad("two of " + name)
        self._headers[name] = value

    def _frame(self):
        """Decide how the end of the body is known: by length, by chunks, or by the connection's end."""
        self._chunked = False
        self._first = True
        self._left = -1
        coding = self._headers.get("transfer-encoding", "identity").lower()
        length = self._headers.get("content-length")
        if self.status in (204, 304):
            self._left = 0
        elif coding == "chunked":
            self._chunked = True
            self._left = 0
        elif coding != "identity":
            raise _bad("transfer-encoding " + coding)
        elif length is not None:
            if not length or len(length) > 12 or length.strip("0123456789"):
                raise _bad("a wrong content-length")
            self._left = int(length)
        self.done = not self._left and not self._chunked
        if self._left < 0 or self._headers.get("connection", "").lower().find("close") >= 0:
            self.keep = False

    async def readinto(self, buf):
        """Read the next bytes of the body into `buf`; return how many, 0 at the end of the body."""
        if self.done or not len(buf):
            return 0
        http = self._http
        if self._chunked and not self._left:
            await self._next_chunk()
            if self.done:
                return 0
        count = await http._take(buf, self._left)
        if self._left < 0:
            self.done = not count
        elif not count:
            raise EOFError("the reply was cut off")
        else:
            self._left -= count
            self.done = not self._left and not self._chunked
        return count

    async def _next_chunk(self):
        http = self._http
        if not self._first and await http._line(http.max_line):
            raise _bad("a chunk longer than its size")
        self._first = False
        size = (await http._line(http.max_line)).split(b";")[0].strip().lower()
        if not size or len(size) > 8 or size.strip(b"0123456789abcdef"):
            raise _bad("a wrong chunk size")
        self._left = int(size, 16)
        if not self._left:
            for _ in range(http.max_headers + 1):
                if not await http._line(http.max_line):
                    self.done = True
                    return
            raise _bad("too many trailers")

    async def read_text(self, limit):
        """Return at most `limit` bytes of the body as text."""
        from tenner.net.utf8 import decode

        data = bytearray(limit)
        view = memoryview(data)
        used = 0
        while used < limit:
            count = await self.readinto(view[used:])
            if not count:
                break
            used += count
        return decode(view[:used])


def parse_url(url):
    """Return ((is it https, host, port), path) of an http or https URL; ValueError when it is none."""
    scheme, _, rest = url.partition("://")
    scheme = scheme.lower()
    if scheme not in ("http", "https"):
        raise _bad_url(url, "must begin with http:// or https://")
    rest = rest.split("#")[0]
    host = rest.split("/")[0].split("?")[0]
    path = rest[len(host) :]
    if "@" in host:
        raise _bad_url(host.split("@")[-1], "must not hold a user name or password")
    if url and not "!" <= min(url) <= max(url) <= "~":
        raise _bad_url(url, "must not hold spaces or special characters")
    port = "443" if scheme == "https" else "80"
    colon = host.rfind(":")
    if colon > host.rfind("]"):
        port = host[colon + 1 :]
        host = host[:colon]
    host = host.strip("[]").lower()
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise _bad_url(url, "has no proper host and port")
    return (scheme == "https", host, int(port)), path if path[:1] == "/" else "/" + path


def _bad_url(url, what):
    return ValueError("the URL %s: %s" % (what, url[:80]))


def _head(method, origin, path, headers):
    """Return the head of a request as bytes, up to the place of Content-Length."""
    secure, host, port = origin
    if ":" in host:
        host = "[" + host + "]"
    if port != (443 if secure else 80):
        host += ":%d" % port
    lines = [method + " " + path + " HTTP/1.1", "Host: " + host, "User-Agent: tenner"]
    for name, value in headers:
        lines.append(name + ": " + value)
    for line in lines:
        # A line break in a value would let it forge headers of its own.
        if "\r" in line or "\n" in line or "\0" in line:
            raise ValueError(
                "a header must not hold a line break: " + line.split(":")[0][:20].strip()
            )
    lines.append("")
    return "\r\n".join(lines).encode()


def _pieces(head, body):
    yield head
    if callable(body):
        yield from body()
    elif body:
        yield body


def _ascii(data):
    """Header bytes as str; a server may send any byte, and only these few are compared or shown."""
    return "".join([chr(byte) for byte in data if 0x20 <= byte < 0x7F])
