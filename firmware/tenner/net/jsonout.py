# tenner net.jsonout: write JSON strings piece by piece.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.net import utf8


def escape(piece):
    """Return `piece` (bytes of valid UTF-8) as the inside of a JSON string; itself when nothing changes."""
    if b"\\" in piece:
        piece = piece.replace(b"\\", b"\\\\")
    if b'"' in piece:
        piece = piece.replace(b'"', b'\\"')
    if piece and min(piece) < 0x20:
        piece = piece.replace(b"\n", b"\\n").replace(b"\r", b"\\r").replace(b"\t", b"\\t")
        if min(piece) < 0x20:
            piece = b"".join(
                [b"\\u%04x" % byte if byte < 0x20 else bytes((byte,)) for byte in piece]
            )
    return piece


def quote(text):
    """Return text (str, or bytes that may be invalid UTF-8) as a JSON string with its quotes."""
    return b'"' + escape(valid(text.encode() if isinstance(text, str) else bytes(text))) + b'"'


def valid(data):
    """Return `data` itself when it is UTF-8, else a repaired copy."""
    if not data or max(data) < 0x80:
        return data
    return utf8.decode(data).encode()


class Escaper:
    """Escapes a byte stream that may be cut anywhere, also inside a UTF-8 sequence, or be no UTF-8 at all."""

    def __init__(self):
        self._tail = b""

    def feed(self, piece):
        """Return the escaped bytes of what is complete so far."""
        if self._tail:
            piece = self._tail + piece
            self._tail = b""
        count = utf8.cut(piece, len(piece))
        if count:
            self._tail = bytes(piece[len(piece) - count :])
            piece = piece[: len(piece) - count]
        return escape(valid(piece))

    def end(self):
        """Return what an unfinished sequence at the end becomes, and start over."""
        tail, self._tail = self._tail, b""
        return valid(tail)
