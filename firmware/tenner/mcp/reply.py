# tenner mcp.reply: reads the answer of an MCP server as it arrives, and makes it text for a model.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.net.json.scanner import Scanner
from tenner.net.sse import SseReader
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.net.http import Http
    from tenner.net.json.scanner import Scalar, Sink

_BUFFER = const(512)
_MAX_DEPTH = const(64)
_MAX_BODY = const(1024 * 1024)
_MESSAGE = const(300)

_TEXT = const(2000)
_NAMED = const(120)


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


class McpError(OSError):
    """args[0] is a sentence with the server, the problem and the remedy."""


class Refused(McpError):
    """The server has answered with an error; args[0] is its text."""


class Content:
    """The result of a call: its texts, up to a limit, and a line for each other item."""

    def __init__(self) -> None:
        self._texts = []
        self._other = []
        self._room = _TEXT
        self._total = 0
        self._item = {}
        self._index: int | str = -1
        self._open = False
        #: Does the tool report a failure?
        self.is_error: Scalar = False

    def __call__(self, path: list[int | str], value: "Scalar", more: bool) -> None:
        if path[1] == "isError":
            self.is_error = value
        elif path[1] == "structuredContent":
            self._structured(path, value, more)
        elif path[1] == "content" and (len(path) == 4 or path[3:4] == ["resource"]):
            if path[2] != self._index:
                self._end()
                self._index = path[2]
            self._member(path[-1], value, more)

    def _member(self, name, value, more):
        if name == "text":
            self._add(value)
        elif name in ("data", "blob"):
            self._item["data"] = self._item.get("data", 0) + len(value)
        elif name in ("type", "mimeType", "uri", "name"):
            self._item[name] = (self._item.get(name, "") + str(value))[:_NAMED]

    def _add(self, text):
        self._total += len(text)
        if self._room > 0:
            self._texts.append(text[: self._room])
            self._room -= len(self._texts[-1])

    def _structured(self, path, value, more):
        """Collect the structured form, one value a line; it is used where the result has no
        text."""
        if self._open and len(self._other[-1]) < _TEXT:
            self._other[-1] += value
        elif not self._open and len(self._other) < _NAMED:
            self._other.append("%s: %s" % (".".join([str(key) for key in path[2:]]), value))
        self._open = more

    def _end(self):
        """End an item: put a newline after a text, and add a line that names any other item."""
        item, self._item = self._item, {}
        kind = item.get("type")
        if kind == "text":
            self._add("\n")
        elif kind:
            what = " ".join([item[key] for key in ("name", "uri", "mimeType") if key in item])
            # Four characters of base64 are three bytes.
            size = ", %d bytes, not shown" % (item["data"] * 3 // 4) if "data" in item else ""
            self._add("[%s %s%s]\n" % (kind, what, size))

    def text(self) -> str:
        """Return the result as text, with a note about omitted parts."""
        self._end()
        text = "".join(self._texts).rstrip("\n")
        if not text:
            for line in self._other:
                self._add(line + "\n")
            text = "".join(self._texts).rstrip("\n") or "(nothing)"
        if self._room <= 0 and self._total > _TEXT:
            text += "\n[cut after %d of %d characters: ask for less]" % (_TEXT, self._total)
        return text
