# tenner mcp.reply: reads the answer of an MCP server as it arrives.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.net.json.scanner import Scanner
from tenner.net.sse import SseReader
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.net.http import Http
    from tenner.net.json.scanner import Sink

_BUFFER = const(512)
_MAX_DEPTH = const(64)
_MAX_BODY = const(1024 * 1024)
_MESSAGE = const(300)


class Reply:
    """
    The answer to one request: JSON, or an event stream that may hold other messages before it.
    `sink(path, value, more)` gets the values below "result"; if it has `raw`, that gets the bytes
    of all messages.
    """

    def __init__(self, sink: "Sink | None" = None) -> None:
        self.status = 0
        #: Of a JSON-RPC error; `supported` are the server's versions when it does not have ours.
        self.code = None
        self.message = ""
        self.supported = []
        #: resultType, and protocolVersion of the answer to `initialize`.
        self.kind = "complete"
        self.version = None
        self.sink = sink
        self._raw = getattr(sink, "raw", None)
        self._scanner = Scanner(self._sink)
        self._scanner.max_depth = _MAX_DEPTH
        self._answer = self._done = False

    async def read(self, http: "Http") -> None:
        """Consume the body of a response (see net.http)."""
        self.status = http.status
        kind = (http.header("content-type") or "").lower()
        if self.status in (202, 204):
            return
        stream = None
        if "event-stream" in kind:
            stream = SseReader(self._feed, self._event_end)
        elif "json" not in kind:
            if self.status < 300:
                raise ValueError("it sent %s, no MCP" % (kind or "nothing"))
            return
        buf = memoryview(bytearray(_BUFFER))
        total = 0
        try:
            while not self._done:
                count = await http.readinto(buf)
                if not count:
                    break
                total += count
                if total > _MAX_BODY:
                    raise ValueError("its answer is over %d KB" % (_MAX_BODY // 1024))
                (stream.feed if stream else self._feed)(bytes(buf[:count]))
            if stream:
                if not self._done:
                    stream.end()
                if not self._done:
                    raise EOFError
            else:
                self._scanner.end()
        except ValueError:
            # An error page, not JSON.
            if self.status < 400:
                raise

    def _feed(self, data):
        self._scanner.feed(data)
        if self._raw:
            self._raw(data)

    def _event_end(self):
        self._scanner.end()
        self._scanner.reset()
        # Notifications and requests of the server have a method; none needs an answer from us.
        self._done = self._done or self._answer
        self._answer = False

    def _sink(self, path, value, more):
        head = path[0] if path else None
        if head == "id":
            self._answer = True
        elif head == "method":
            self._answer = False
        elif len(path) < 2:
            pass
        elif head == "result":
            name = path[1] if len(path) == 2 else None
            if name == "resultType":
                self.kind = value
            elif name == "protocolVersion":
                self.version = value
            elif self.sink:
                self.sink(path, value, more)
        elif head == "error":
            if path[1] == "code":
                self.code = value
            elif path[1] == "message":
                self.message = (self.message + str(value))[:_MESSAGE]
            elif path[1:3] == ["data", "supported"] and len(self.supported) < 8:
                self.supported.append(value)
            self._answer = True
