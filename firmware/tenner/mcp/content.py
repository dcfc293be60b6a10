# tenner mcp.content: turns the result of an MCP server's tool into text for a model.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.net.json.scanner import Scalar

_TEXT = const(2000)
_NAMED = const(120)


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
