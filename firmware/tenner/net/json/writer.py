# tenner net.json.writer: writes JSON strings piece by piece, from bytes that may be no UTF-8.
# MIT license; Copyright (c) 2026 the tenner authors
"""
One bad byte in a stored history makes every later request fail, so `decode` replaces invalid bytes
with U+FFFD, once. MicroPython's own decoder accepts overlong forms, surrogates and numbers past
U+10FFFF and has no "replace". Valid text still takes the fast path.
"""

from tenner.net.sse import repair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def cut(data: bytes | bytearray, size: int) -> int:
    """Return how many of the last bytes of `data[:size]` begin an incomplete sequence."""
    for back in range(1, min(size, 3) + 1):
        byte = data[size - back]
        if byte >= 0xC0:
            return back if back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else 0
        if byte < 0x80:
            break
    return 0


def decode(data: bytes | bytearray | memoryview) -> str:
    """Return bytes-like `data` as str, with U+FFFD in place of invalid UTF-8."""
    try:
        text = str(data, "utf-8")
        if len(text) == len(data):
            return text
        data = bytes(data)
        for lead in b"\xed\xe0\xf0\xf4\xc0\xc1\xf5\xf6\xf7":
            # Only some sequences with these bytes are valid.
            if lead in data:
                break
        else:
            return text
    except UnicodeError:
        pass
    return repair(bytes(data))


def valid(data: bytes) -> bytes:
    """Return `data` itself when it is UTF-8, else a repaired copy."""
    if not data or max(data) < 0x80:
        return data
    return decode(data).encode()


def escape(piece: bytes) -> bytes:
    """Return `piece` (bytes of valid UTF-8) as the inside of a JSON string; `piece` itself when
    nothing changes."""
    if b"\\" in piece:
        piece = piece.replace(b"\\", b"\\\\")
    if b'"' in piece:
        piece = piece.replace(b'"', b'\\"')
    if piece and min(piece) < 0x20:
        piece = piece.replace(b"\n", b"\\n").replace(b"\r", b"\\r").replace(b"\t", b"\\t")
        if min(piece) < 0x20:
            parts = [b"\\u%04x" % byte if byte < 0x20 else bytes((byte,)) for byte in piece]
            piece = b"".join(parts)
    return piece


def quote(text: str | bytes) -> bytes:
    """Return text (str, or bytes that may be invalid UTF-8) as a JSON string with its quotes."""
    return b'"%s"' % escape(valid(text.encode() if isinstance(text, str) else bytes(text)))


def escaped(pieces: "Iterable[bytes]") -> "Iterator[bytes]":
    """Yield the inside of a JSON string for pieces of text, cut anywhere and possibly no UTF-8."""
    tail = b""
    for piece in pieces:
        piece = tail + piece
        size = len(piece)
        rest = cut(piece, size)
        tail = b""
        if rest:
            tail = piece[size - rest :]
            piece = piece[: size - rest]
        yield escape(valid(piece))
    yield valid(tail)
