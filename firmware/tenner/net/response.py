# tenner net.response: reads head and body of an HTTP/1.1 response in constant memory.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.net.http_errors import HttpError
from tenner.net.json.writer import decode
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port.cpython import Stream

_BUFFER = const(512)
_MAX_LINE = const(2048)  # longest line to keep
_MAX_SKIPPED = const(32768)  # longest header line to skip
_MAX_BODY = const(0x3FFFFFFF)  # a body or a chunk that any port can count
_MAX_HEADERS = const(64)  # in a head, or after a chunked body

# The only response headers kept; a reply may bring dozens.
_WANTED = (
    b"\ncontent-type:",
    b"\ncontent-length:",
    b"\ncontent-encoding:",
    b"\ntransfer-encoding:",
    b"\nconnection:",
    b"\nretry-after:",
    b"\nretry-after-ms:",
    b"\nlocation:",
    b"\netag:",
    b"\nmcp-session-id:",
)


class Response:
    """
    A response to read: `status`, `header(name)`, and the body by `readinto` or `read_text`.
    """

    def __init__(self) -> None:
        self.stream: "Stream | None" = None
        #: Holds, from `start` to `end`, received bytes that are not read yet.
        self.buffer = bytearray(_BUFFER)
        self.start = self.end = 0
        #: May the connection stay open, and was the body read to its end?
        self.keep = self.done = False

    def attach(self, stream: "Stream | None") -> None:
        """Read from `stream` from now on; None for no stream."""
        self.stream = stream
        self.keep = False

    async def _receive(self, view):
        while True:
            count = await self.stream.readinto(view)
            # None: TLS received a record without data.
            if count is not None:
                return count

    async def _fill(self):
        """Receive the next bytes into the empty buffer."""
        view = memoryview(self.buffer)
        count = await self.stream.readinto(view)
        if count is None:
            count = await self._receive(view)
        if not count:
            raise EOFError("the server closed the connection")
        self.start = 0
        self.end = count

    async def _line(self):
        """Return the next line without its end, but at most `_MAX_LINE` + 1 bytes of it."""
        line = b""
        total = 0
        while total < _MAX_SKIPPED:
            if self.start == self.end:
                await self._fill()
            stop = self.buffer.find(b"\n", self.start, self.end) + 1
            end = stop or self.end
            line = (line + self.buffer[self.start : end])[: _MAX_LINE + 1]
            total += end - self.start
            self.start = end
            if stop:
                return line.rstrip(b"\r\n")
        raise _bad("a line without end")

    async def receive_head(self) -> None:
        """Read the head of the response, and skip interim ones."""
        self.status = 100
        while self.status < 200:
            if self.start == self.end:
                await self._fill()
            self._headers = {}
            line = self._take_head()
            if line is not None:
                self._take_status(line)
            else:
                self._take_status(await self._line())
                self._headers = {}
                await self._receive_headers()
        # Chunks, a length, or the end of the connection mark the end of the body.
        get = self._headers.get
        coding = get("transfer-encoding")
        length = get("content-length")
        left = -1
        chunked = False
        if coding is not None:
            coding = coding.lower()
            chunked = coding == "chunked"
        if chunked or self.status in (204, 304):
            left = 0
        elif coding not in (None, "identity"):
            raise _bad("a body in " + coding)
        elif length is not None:
            if not 0 < len(length) < 13 or length.strip("0123456789"):
                raise _bad("a wrong content-length")
            left = _bounded(int(length))
        self._left = left
        self._chunked = chunked
        self.done = not (left or chunked)
        if left < 0 or "connection" in self._headers and "close" in get("connection").lower():
            self.keep = False

    def _take_status(self, line):
        status = line[9:12]
        if line[:7] != b"HTTP/1." or not status.isdigit() or status == b"101":
            raise _bad("no HTTP/1.1")
        self.status = int(status)
        self.keep = line[7:8] != b"0"

    def _take_head(self):
        """Parse a complete, ordinary head in the buffer; return its first line, None when lines
        must be read."""
        end = self.buffer.find(b"\r\n\r\n", self.start, self.end)
        if end < 0:
            return None
        head = bytes(self.buffer[self.start : end + 2])
        if not head.count(b"\n") == head.count(b"\r") == head.count(b"\r\n"):
            return None
        find = head.lower().find
        for name in _WANTED:
            start = find(name)
            if start >= 0:
                if find(name, start + 1) >= 0:
                    return None
                value = head[start + len(name) : head.find(b"\r", start)]
                self._headers[name[1:-1].decode()] = _text(value.strip())
        self.start = end + 4
        return head[: head.find(b"\r")]

    async def _receive_headers(self):
        """Read the lines of the head up to an empty one."""
        for _ in range(_MAX_HEADERS + 1):
            line = await self._line()
            if not line:
                return
            name, colon, value = line.partition(b":")
            name = name.lower()
            if b"\n" + name + colon in _WANTED:
                name = name.decode()
                value = _text(value.strip())
                if len(line) > _MAX_LINE or (
                    self._headers.setdefault(name, value) != value and name == "content-length"
                ):
                    raise _bad("a wrong " + name)
        raise _bad("too many headers")

    async def _skip_lines(self):
        """Skip the lines after the last chunk of a body."""
        for _ in range(_MAX_HEADERS + 1):
            if not await self._line():
                return
        raise _bad("too many headers")

    def header(self, name: str) -> str | None:
        """Return a header by its lower-case name, or None. Only those in `_WANTED` are kept."""
        return self._headers.get(name)

    async def readinto(self, buf: bytearray | memoryview) -> int:
        """Read the next bytes of the body into `buf`; return their number, 0 at the end of the
        body."""
        if self._chunked and not self._left and not self.done:
            size = (await self._line()).split(b";")[0].strip().lower()
            if not 0 < len(size) < 9 or size.strip(b"0123456789abcdef"):
                raise _bad("a wrong chunk size")
            self._left = _bounded(int(size, 16))
            if not self._left:
                await self._skip_lines()
                self.done = True
        if self.done or not len(buf):
            return 0
        view = memoryview(buf)
        if self._left >= 0:
            view = view[: self._left]
        count = min(len(view), self.end - self.start)
        if count:
            view[:count] = self.buffer[self.start : self.start + count]
            self.start += count
        else:
            count = await self._receive(view)
        if self._left < 0:
            self.done = not count
        elif not count:
            raise EOFError("the reply was cut off")
        else:
            self._left -= count
            if not self._left:
                self.done = not self._chunked
                if self._chunked and await self._line():
                    raise _bad("a wrong chunk size")
        return count

    async def read_text(self, limit: int) -> str:
        """Return at most `limit` bytes of the body as text."""
        view = memoryview(bytearray(limit))
        used = 0
        while used < limit:
            count = await self.readinto(view[used:])
            if not count:
                break
            used += count
        return decode(view[:used])


def _bounded(size):
    # A slice with a big integer raises OverflowError, which no caller expects.
    if size > _MAX_BODY:
        raise _bad("a body of %d bytes" % size)
    return size


def _bad(what):
    return HttpError("the server sent %s: check the address" % what)


def _text(value):
    """Return the text of a header. Bytes that are no UTF-8 become the escapes of an address, for a
    redirect to a page with a Latin-1 name."""
    try:
        return value.decode()
    except UnicodeError:
        return "".join([chr(byte) if byte < 128 else "%%%02X" % byte for byte in value])
