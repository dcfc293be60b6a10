# tenner agent.history_records: writes the lines of a chat's history.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.net.json.writer import quote
from tenner.port.compat import const
from tenner.tools import untrusted

_OLD_RESULT = const(200)  # characters of a tool result after its turn
#: A text of so many characters is long.
LONG = const(512)
_PIECE = const(256)  # characters


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
