# tenner tools.mcp_reply: what an MCP server answers, read as it arrives.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.net.jsonin import Scanner
from tenner.port.compat import const
from tenner.tools import ToolError

_BUFFER = const(512)
_MAX_DEPTH = const(64)
_MAX_BODY = const(1024 * 1024)
_MESSAGE = const(300)
_TEXT = const(2000)
_NAMED = const(120)


class Reply:
    """
    The answer to one request, JSON or an event stream, in which others may stand before it. `sink(path,
    value, more)` gets what is below "result"; if it has `raw`, that gets the bytes of all messages.
    """

    def __init__(self, sink=None):
        self.status = 0
        #: Of a JSON-RPC error; the versions a server has when it does not have ours.
        self.code = None
        self.message = ""
        self.supported = []
        #: resultType, and protocolVersion of the answer to `initialize`.
        self.kind = "complete"
        self.version = None
        self._take = sink
        self._raw = getattr(sink, "raw", None)
        self._scanner = Scanner(self._sink)
        self._scanner.max_depth = _MAX_DEPTH
        self._answer = self._done = False

    async def read(self, http):
        """Consume the body of a response (see net.http)."""
        self.status = http.status
        kind = (http.header("content-type") or "").lower()
        if self.status in (202, 204):
            return
        stream = None
        if "event-stream" in kind:
            from tenner.net.sse import SseReader

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
            # An error page by another name.
            if self.status < 400:
                raise

    def _feed(self, data):
        self._scanner.feed(data)
        if self._raw:
            self._raw(data)

    def _event_end(self):
        self._scanner.end()
        self._scanner.reset()
        # Notes and requests of the server have a method; none of them wants an answer of ours.
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
            elif self._take:
                self._take(path, value, more)
        elif head == "error":
            if path[1] == "code":
                self.code = value
            elif path[1] == "message":
                self.message = (self.message + str(value))[:_MESSAGE]
            elif path[1:3] == ["data", "supported"] and len(self.supported) < 8:
                self.supported.append(value)
            self._answer = True


class Content:
    """The result of a call: its texts, up to a limit; what is no text is named."""

    def __init__(self):
        self._texts = []
        self._other = []
        self._room = _TEXT
        self._total = 0
        self._item = {}
        self._index = -1
        self._open = False
        self._is_error = False

    def __call__(self, path, value, more):
        if path[1] == "isError":
            self._is_error = value
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
        """The same for programs; shown, one value a line, where there is no text."""
        if self._open and len(self._other[-1]) < _TEXT:
            self._other[-1] += value
        elif not self._open and len(self._other) < _NAMED:
            self._other.append("%s: %s" % (".".join([str(key) for key in path[2:]]), value))
        self._open = more

    def _end(self):
        """An item is over: what is no text is named; the texts of two items are two lines."""
        item, self._item = self._item, {}
        kind = item.get("type")
        if kind == "text":
            self._add("\n")
        elif kind:
            what = " ".join([item[key] for key in ("name", "uri", "mimeType") if key in item])
            # Four letters of base64 are three bytes.
            size = (
                ", %d bytes that are not shown" % (item["data"] * 3 // 4) if "data" in item else ""
            )
            self._add("[%s %s%s]\n" % (kind, what, size))

    def text(self, mark):
        """Return the whole as text, `mark`ed as data; ToolError when the tool says that it failed."""
        self._end()
        text = "".join(self._texts).rstrip("\n")
        if not text:
            for line in self._other:
                self._add(line + "\n")
            text = "".join(self._texts).rstrip("\n") or "(nothing)"
        if self._room <= 0 and self._total > _TEXT:
            text += "\n[cut after %d of %d characters: ask for less]" % (_TEXT, self._total)
        text = mark(text)
        if self._is_error:
            raise ToolError(text)
        return text
