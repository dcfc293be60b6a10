# tenner agent.history_lines: reads and writes the lines of a chat's history in pieces.
# MIT license; Copyright (c) 2026 the tenner authors

import gc
import json

from tenner.log import redact, secrets, visible
from tenner.net.json.writer import quote
from tenner.port.compat import const
from tenner.tools import untrusted, wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

# Small, since the heap has few long free blocks; large enough for the longest id and name of a
# call in one piece.
PIECE = 256
# A small heap has no free stretch for the messages that more lines become.
_BLOCK = PIECE if hasattr(gc, "mem_free") and gc.mem_free() + gc.mem_alloc() < 65536 else 320

_OLD_RESULT = const(200)  # characters of a tool result after its turn
#: A text of so many characters is long.
LONG = const(512)
_PIECE = const(256)  # characters
# People see so many of a turn's calls, the newest, and so many characters of each and its result.
_TOLD = const(8)
_TOLD_CALL = const(100)
_TOLD_RESULT = const(60)


def line_pieces(file: "BinaryIO", end: int) -> "Iterator[bytes]":
    """Yield the lines of `file` up to offset `end` in pieces; the last piece of a line ends in a
    newline."""
    left = end - file.tell()
    while left > 0:
        piece = file.readline(min(PIECE, left))
        if not piece:
            return
        left -= len(piece)
        yield piece


def line_blocks(file: "BinaryIO", end: int) -> "Iterator[bytes]":
    """
    Yield the lines of `file` up to offset `end` in blocks of complete lines, which is faster for
    long histories. A long line comes in pieces, the first of at least PIECE bytes; the last ends
    in a newline.
    """
    left = end - file.tell()
    held = b""
    is_long = False
    while True:
        block = held
        if left > 0:
            block += file.read(min(_BLOCK - len(held), left))
            left -= len(block) - len(held)
        if not block:
            return
        cut = (block.find(b"\n") if is_long else block.rfind(b"\n")) + 1
        is_long = not cut
        if is_long:
            cut = len(block)
        yield block[:cut]
        held = block[cut:]


def record(kind: str, text: str, id: str | None = None) -> bytes:
    """Return one history line of `kind` u, n, a, s (text) or t (id and result). A request may also
    have the line i of a picture (type and path)."""
    middle = quote(id) + b"," if id is not None else b""
    if len(text) >= LONG:
        # Joined only once: a used heap has few long stretches.
        return b"".join(record_pieces(kind, text, middle))
    return b'["%s",%s%s]\n' % (kind.encode(), middle, quote(text))


def record_pieces(kind: str, text: "str | list[str]", middle: bytes = b"") -> list[bytes]:
    """Return a history line of a long text, or of the parts of one, in pieces."""
    pieces = [b'["%s",%s"' % (kind.encode(), middle)]
    for part in [text] if isinstance(text, str) else text:
        pieces += [quote(part[at : at + _PIECE])[1:-1] for at in range(0, len(part), _PIECE)]
    pieces.append(b'"]\n')
    return pieces


def call_record(id: str, name: str, text: str) -> bytes:
    """Return the line of a tool call; `text` is the JSON of its arguments, an object, kept
    verbatim."""
    data = bytearray(text.encode())
    if min(data) < 0x20:
        # No API accepts them raw in a string, and a newline elsewhere must not end this line.
        for i, byte in enumerate(data):
            if byte < 0x20:
                data[i] = 0x20
    return b'["c",' + quote(id) + b"," + quote(plain(name)) + b"," + bytes(data) + b"]\n"


def plain(name: str) -> str:
    """Return `name` with the letters, digits, _ and - that APIs and file systems accept."""
    return (
        "".join(
            [
                c if c < "\x7f" and (c.isalpha() or c.isdigit() or c == "-") else "_"
                for c in name[:64]
            ]
        )
        or "_"
    )


def shorten(line: bytes) -> bytes:
    """Return a history line for later turns: a tool's result cut to 200 characters."""
    if not line.startswith(b'["t",') or len(line) < _OLD_RESULT + 40:
        return line
    # Only the beginning is decoded: a used heap has few long stretches.
    head = line
    if len(line) > LONG:
        head = _beginning(line)
    _, call_id, text = json.loads(head)
    if len(text) <= _OLD_RESULT:
        return line
    kept = text[:_OLD_RESULT] + " [cut]"
    mark = untrusted.DATA
    if mark.encode() in line and mark not in kept:
        # Later turns need the mark.
        kept = untrusted.mark_untrusted("of old", kept)
    return record("t", kept, call_id)


def _beginning(line):
    """Return the line with only the beginning of its text."""
    for end in range(LONG, LONG - 12, -1):
        # Not inside a letter or an escape.
        try:
            head = line[:end] + b'"]'
            json.loads(head)
            return head
        except ValueError:
            pass
    return line


def calls_of(lines: "Sequence[bytes]") -> "list[dict[str, str]]":
    """Return {"call": name and arguments, "result": text} of the newest tool calls in a turn's
    records, each cut, and without secrets."""
    ids: list[bytes] = []
    found: list[dict[str, str]] = []
    for line in lines:
        kind = line[:5]
        if kind not in (b'["c",', b'["t",'):
            continue
        id = line[6 : line.find(b'","', 6)]
        if kind == b'["c",':
            del ids[: 1 - _TOLD], found[: 1 - _TOLD]
            ids.append(id)
            found.append({"call": _call(line, len(id) + 9), "result": ""})
        elif id in ids:
            text = json.loads(line if len(line) <= LONG else _beginning(line))[2]
            found[ids.index(id)]["result"] = _one_line(text[:_OLD_RESULT])[:_TOLD_RESULT]
    return found


def _call(line, start):
    """Return the call whose name begins at an offset of its line."""
    end = line.find(b'"', start)
    longest = max([len(secret.encode()) for secret in secrets()] or [0])
    # A secret that begins in the part that is shown is whole: half of one would not be known.
    raw = line[end + 2 : end + 2 + 4 * _TOLD_CALL + longest]
    is_cut = end + 2 + len(raw) < len(line)
    while is_cut and raw[-1] & 0x80:
        raw = raw[:-1]
    text = redact((raw if is_cut else raw[:-2]).decode())[:_TOLD_CALL]
    if is_cut and "***" in text:
        # Redacting has drawn later text into the part that is shown.
        text = text[: text.find("***") + 3]
    return _one_line(line[start:end].decode() + " " + wording.arguments(text))


def _one_line(text):
    return visible(" ".join(text.split()))
