# tenner llm.records: cuts neutral history lines and pictures into the parts of a wire format.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The records stay JSON text all the way: strings and argument objects are copied unchanged, without
parsing, and no long line is complete in memory.
"""

import json
from binascii import b2a_base64, crc32

from tenner.net.json.writer import valid
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.llm.types import Candidate, Request


# More lines than a block holds (agent.history_lines).
_TURNS = const(b"uauauauauauauauauauauauauauauauauauauaua")

# A multiple of three bytes has no padding.
_BLOCK = const(384)


def model_tag(candidate: "Candidate") -> bytes:
    """Return the tag of a model at its address, a JSON string: it marks the fields it wants
    back."""
    text = "%s %s %s" % (candidate.api, candidate.base_url, candidate.model)
    return b'"%08x"' % (crc32(text.encode()) & 0xFFFFFFFF)


def own(line: list, candidate: "Candidate", quirks: str) -> tuple[bool, bytes]:
    """Return (whether this model does not take the line, its id in the form that it takes)."""
    kind, id, _ = line
    if kind in "ox":
        # The fields of another model mean nothing to this one.
        return "n" in quirks or id != model_tag(candidate), id
    return False, nine_letters(id) if "i" in quirks and kind in "ct" else id


def nine_letters(id: bytes) -> bytes:
    """Return an id of a call, a JSON string, as one of nine letters and digits."""
    return b'"c%08x"' % (crc32(id) & 0xFFFFFFFF)


def is_dialog(block: bytes) -> bool:
    """
    Return whether a block holds only complete lines of people and models (u and a) that an API
    accepts unchanged. It checks the whole block at once, since long histories are full of them.
    """
    count = block.count(b"\n")
    if block.count(b'\n["u","') + block.count(b'\n["a","') != count - 1 or (
        block[:6] != b'["u","' and block[:6] != b'["a","'
    ):
        return False
    text = block
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"").replace(b"\\n", b"")
        if b"\\" in text:
            return False
    # Each line has four quotes of its own; one more would end a text early.
    if text.count(b'"]\n') != count or text.count(b'"') != 4 * count or text[-1] != 0x0A:
        return False
    return min(text.replace(b"\n", b"")) >= 0x20 and valid(block) == block


def dialog_end(block: bytes, before: str) -> str | None:
    """
    Return the kind of the last line of a block of a checked history, or None. The block must hold
    complete, non-empty lines of people and models that alternate, after a line of the kind
    `before`.
    """
    if block[:2] != b'["' or block[-3:] != b'"]\n' or b',""]\n' in block:
        return None
    # The letters of the lines, without a step of Python for each: history is long.
    kinds = bytes(map(next, map(iter, block[2:].split(b'\n["'))))
    if kinds not in _TURNS or chr(kinds[0]) == before:
        return None
    return chr(kinds[-1])


class Splitter:
    """Cuts history lines, which come in blocks or in pieces, into parts."""

    def __init__(self) -> None:
        self._held = b""
        self._kind = None

    def parts(self, piece: bytes) -> "Iterator[tuple[list | None, bytes, bool]]":
        """
        Yield (line, part, last) for a piece of the records: `part` is from the line's content, the
        inside of a JSON string or a call's whole arguments object, and may be empty. `line` is
        [kind, id, name], and None unless a line begins; id and name are JSON strings with their
        quotes. The line of a picture comes in one piece: `id` is its type, `part` its path. Of
        fields for a model, `id` is its tag, and `part` is from the inside of the object or list.
        """
        start = end = 0
        while start < len(piece):
            end = piece.find(b"\n", start) + 1 or len(piece)
            yield self._part(piece[start:end])
            start = end

    def _part(self, piece):
        # A piece may cut the line's end, `"]` and a newline: hold two bytes back.
        piece = self._held + piece
        line = None
        start = 0
        kind = self._kind
        if kind is None:
            kind = piece[2:3].decode()
            line = [kind, b"", b""]
            start = 6
            if kind in "ctiox":
                end = _string_end(piece, 5)
                line[1] = piece[5:end]
                start = end + 2
            if kind == "c":
                start = end + 1
                end = _string_end(piece, start)
                line[2] = piece[start:end]
                start = end + 1
        if piece.endswith(b"\n"):
            self._held = b""
            self._kind = None
            return line, piece[start : -2 if kind == "c" else -3], True
        end = max(start, len(piece) - 2)
        self._held = piece[end:]
        self._kind = kind
        return line, piece[start:end], False


def _string_end(data, start):
    """Return the place after the closing quote of the JSON string that opens at `data[start]`."""
    end = start
    while True:
        end = data.find(b'"', end + 1)
        if end < 0:
            raise ValueError("a history line is torn")
        back = end - 1
        while data[back] == 0x5C:
            back -= 1
        if (end - back) & 1:
            return end + 1


def max_tokens(candidate: "Candidate", request: "Request") -> int:
    """Return the smaller of the limits of the request and the candidate; 0 is no limit."""
    limits = [limit for limit in (candidate.max_tokens, request.max_tokens) if limit]
    return min(limits) if limits else 0


def base64(path: bytes) -> "Iterator[bytes]":
    """Yield the file at `path`, the inside of a JSON string, as base64 in pieces."""
    with open(json.loads('"%s"' % path.decode()), "rb") as file:
        while True:
            block = file.read(_BLOCK)
            if not block:
                return
            yield b2a_base64(block)[:-1]
