# tenner llm.tail: keeps the fields of a reply that its server wants back in the next request.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Reasoning, signatures and unknown fields of calls go back unchanged, or the server refuses the
results of its calls. They may have kilobytes, so they go to flash while they arrive.
"""

import json

from tenner.llm.literals import ArgumentsBuilder
from tenner.log import log
from tenner.net.json.writer import escape, quote
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.net.json.scanner import Scalar

_MOST = const(32768)  # bytes of one reply
_IN_MEMORY = const(256)
_PLACES = const(64)  # of all parts: each takes memory
#: The long members of an element, and those that go on in the next element of a stream.
_LONG = ("text", "summary", "data", "signature", "thinking")
_JOINS = ("text", "summary", "thinking")


class Tail:
    """
    The parts of one reply, in the file `path` from offset `start` on. Each is JSON: an object with
    one member of the assistant's message, by the member's name; the list of its blocks, by `""`;
    or an object with the other members of a call, by a number.
    """

    def __init__(self, path: str | None, start: int) -> None:
        #: The places of each part, [start, end, start, end ...]; empty if it was too long.
        self.parts: dict = {}
        self._path = path
        self._start = self._end = start  # of the bytes so far
        self._data = bytearray()  # the last of them
        self._text: str | None = None  # the member of pieces of reasoning
        self._builders: dict = {}
        self._calls = 0
        self._places = 0
        # The open element of a list: its short members, and the names of the long ones. The number
        # of the event's element, its short members, and whether a long one has come.
        self._list: str | None = None
        self._short: dict = {}
        self._keys: list = []
        self._next: dict = {}
        self._number = -1
        self._going = False

    def _put(self, name, data):
        """Add bytes to a part."""
        places = self.parts.setdefault(name, [self._end, self._end])
        if not places:
            return
        if places[-1] != self._end:
            places += [self._end, self._end]
            self._places += 1
        if self._end + len(data) - self._start > _MOST or self._places > _PLACES:
            places[:] = ()
            return
        self._end += len(data)
        places[-1] = self._end
        self._data.extend(data)
        if len(self._data) > _IN_MEMORY:
            self._flush()

    def _flush(self):
        """Move the bytes in memory to flash; without it, give up all parts."""
        data, self._data = self._data, bytearray()
        at = self._end - len(data)
        try:
            if self._path is None:
                raise OSError("no file")
            if not at:
                files.make_dirs(self._path.rsplit("/", 1)[0])
            with files.open_own(self._path, "r+b" if at else "wb") as file:
                file.seek(at)
                files.put(file, data)
        except OSError as error:
            log("llm", "reasoning is not kept: %s" % error)
            for places in self.parts.values():
                places[:] = ()
            self._path = None

    def reason(self, name: str) -> bool:
        """Choose the member of pieces of reasoning; return False where another, better one has
        them too."""
        if name != self._text:
            if "reasoning_details" in self.parts or self._text == "reasoning_content":
                return False
            self.parts.pop(self._text, None)
            self._text = name
            self._put(name, b'{"%s":"' % name.encode())
        return True

    def add(self, piece: str) -> None:
        """Take a piece of reasoning."""
        self._put(self._text, escape(piece.encode()))

    def call(self) -> int:
        """Return the number for the members of a call."""
        self._calls += 1
        return self._calls

    def value(self, name: str | int, path: "list[int | str]", value: "Scalar", more: bool) -> None:
        """Take a value at `path` of an object."""
        builder = self._builders.get(name)
        if builder is None:
            # Once more in another event: the last one counts.
            self.parts.pop(name, None)
            builder = self._builders[name] = ArgumentsBuilder()
        self._put(name, builder.add(path, value, more).encode())

    def event_end(self) -> None:
        """End the objects of an event."""
        for name in self._builders:
            self._put(name, self._builders[name].end().encode())
        self._builders = {}
        self._settle(-1)

    def detail(self, number: int, key: str, value: "Scalar") -> None:
        """Take a member of element `number` of an event's `reasoning_details`."""
        if number != self._number:
            self._settle(number)
        if key not in _LONG or not isinstance(value, str):
            self._next[key] = value
            return
        if not self._going:
            self._going = True
            # A stream has each piece of a text in an element of its own.
            old = self._short
            same = self._keys and all(
                old.get(name, new) == new for name, new in self._next.items()
            )
            joins = key in _JOINS and key == self._keys[-1] if same else False
            if not joins and not (same and key == "signature" and key not in self._keys):
                self.parts.pop(self._text, None)  # it has the same in another form
                self.begin("reasoning_details", {})
        self.member(key, value)

    def _settle(self, number):
        """End an element of an event; its short members may follow the long ones."""
        if self._going:
            self._short.update(self._next)
        self._next = {}
        self._number = number
        self._going = False

    def begin(self, name: str, short: dict) -> None:
        """Begin an element of a list."""
        self._close()
        opening = b'{"%s":[{' % name.encode() if name else b"[{"
        self._put(name, b",{" if name in self.parts else opening)
        self._list = name
        self._short = short
        self._keys = []

    def member(self, key: str, piece: str) -> None:
        """Take a piece of a long member of the open element."""
        if self._list is None or key in self._keys[:-1]:
            self.begin(self._list or "", {"type": "thinking"})
        if key not in self._keys:
            self._put(self._list, b'%s"%s":"' % (b'",' if self._keys else b"", key.encode()))
            self._keys.append(key)
        self._put(self._list, escape(piece.encode()))

    def think(self, piece: str) -> None:
        """Take a piece of a block of thinking."""
        self.member("thinking", piece)

    def _close(self):
        """Close the open element."""
        if self._list is None:
            return
        short = self._short
        if not self._list and short["type"] == "thinking":
            # The API wants both members, also where they are empty.
            for key in ("thinking", "signature"):
                if key not in self._keys:
                    self.member(key, "")
        data = b'"'
        for key in short:
            value = short[key]
            data += b',"%s":%s' % (
                key.encode(),
                quote(value) if isinstance(value, str) else json.dumps(value).encode(),
            )
        self._put(self._list, data + b"}")

    def end(self) -> int:
        """End all parts, and replace their places by their bytes if flash has none of them; return
        the end of the file."""
        self.event_end()
        self._close()
        parts = self.parts
        for name, ending in ((self._text, b'"}'), (self._list, b"]}" if self._list else b"]")):
            if name in parts:
                self._put(name, ending)
        if self._end - self._start > len(self._data):
            self._flush()
            return self._end
        for name in parts:
            places = parts[name]
            if places:
                parts[name] = b"".join(
                    [
                        self._data[places[i] - self._start : places[i + 1] - self._start]
                        for i in range(0, len(places), 2)
                    ]
                )
        return self._start
