# tenner llm.literals: reads and writes values in JSON and in the models' variants of it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Keys may have no quotes, `=` or `=>` may stand for the colon, and a list may end in a comma.
Offsets count the bytes of UTF-8.
"""

import json

from tenner.net.json.writer import quote
from tenner.port.compat import const
from tenner.store.json_strict import unescape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.net.json.scanner import Scalar

_DEPTH = const(10)
SPACE = b" \t\r\n"
_WORDS = {
    b"true": True,
    b"false": False,
    b"null": None,
    b"True": True,
    b"False": False,
    b"None": None,
    b"undefined": None,
}


def literal(data: bytes, i: int, depth: int = 0) -> "tuple[Any, int]":
    """
    Return (value, offset after it) of the value at `data[i]`, in JSON or as Python and some
    models write it; ValueError or IndexError for anything else.
    """
    if depth > _DEPTH:
        raise ValueError
    i = skip(data, i)
    byte = data[i]
    if byte in b"\"'":
        return _string(data, i)
    if byte == 0x7B:
        found: dict = {}
        i = skip(data, i + 1)
        while data[i] != 0x7D:
            key, i = _string(data, i) if data[i] in b"\"'" else key_at(data, i)
            i = skip(data, i)
            if data[i] not in b":=":
                raise ValueError
            i += 2 if data[i : i + 2] == b"=>" else 1
            found[key], i = literal(data, i, depth + 1)
            i = after(data, i, 0x7D)
        return found, i + 1
    if byte == 0x5B:
        items = []
        i = skip(data, i + 1)
        while data[i] != 0x5D:
            item, i = literal(data, i, depth + 1)
            items.append(item)
            i = after(data, i, 0x5D)
        return items, i + 1
    end = i
    while end < len(data) and data[end] not in b",]})<> \t\r\n":
        end += 1
    word = data[i:end]
    if word in _WORDS:
        return _WORDS[word], end
    if not word or word[0] not in b"-0123456789":
        raise ValueError
    text = str(word, "utf-8")
    return (int(text) if text.lstrip("-").isdigit() else float(text)), end


def after(data: bytes, i: int, close: int) -> int:
    """Return the offset of the next item, or of the closing bracket `close`."""
    i = skip(data, i)
    if data[i] == 0x2C:
        return skip(data, i + 1)
    if data[i] != close:
        raise ValueError
    return i


def key_at(data: bytes, i: int) -> tuple[str, int]:
    """Return (key without quotes, offset after it)."""
    start = i
    while data[i : i + 1].isalpha() or data[i] in b"_0123456789-":
        i += 1
    if i == start:
        raise ValueError
    return str(data[start:i], "utf-8"), i


def _string(data, i):
    quote = data[i : i + 1]
    i += 1
    parts = []
    while True:
        end = data.index(quote, i)
        back = data.find(b"\\", i, end)
        if back < 0:
            parts.append(data[i:end])
            return str(b"".join(parts), "utf-8"), end + 1
        parts.append(data[i:back])
        if data[back + 1 : back + 2] == b"'":
            char, i = b"'", back + 2
        else:
            char, i = unescape(data, back)
        parts.append(char)


def skip(data: bytes, i: int) -> int:
    """Return the offset of the next byte that is no space."""
    while i < len(data) and data[i] in SPACE:
        i += 1
    return i


# For the rare server that sends tool arguments as an object where the format has text, or sends no
# stream. Empty objects and arrays inside are lost, since the scanner does not report them.
class ArgumentsBuilder:
    def __init__(self) -> None:
        self._open = []  # the path of the last value
        self._inside = False  # a string that comes in pieces

    def add(self, path: list[int | str], value: "Scalar", more: bool) -> str:
        """Return the text that this value adds; `path` leads to it from the object itself."""
        if isinstance(value, str):
            text = quote(value).decode()
            if self._inside:
                text = text[1:]
            if more:
                text = text[:-1]
        else:
            text = json.dumps(value)
        if not self._inside:
            old, self._open = self._open, path
            same = 0
            while same < len(old) - 1 and same < len(path) - 1 and old[same] == path[same]:
                same += 1
            if old:
                text = (
                    _closing(old[same + 1 :])
                    + ","
                    + _key(path[same])
                    + _opening(path[same + 1 :])
                    + text
                )
            else:
                text = _opening(path) + text
        self._inside = more
        return text

    def end(self) -> str:
        """Return the closing brackets of all open objects and arrays."""
        return _closing(self._open)


def _key(step):
    return "" if isinstance(step, int) else quote(step).decode() + ":"


def _opening(path):
    return "".join([("[" if isinstance(step, int) else "{") + _key(step) for step in path])


def _closing(path):
    return "".join(["]" if isinstance(step, int) else "}" for step in reversed(path)])
