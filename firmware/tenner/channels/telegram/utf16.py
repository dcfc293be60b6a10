# tenner channels.telegram.utf16: counts the characters of a text as Telegram does.
# MIT license; Copyright (c) 2026 the tenner authors
"""Texts are UTF-8 bytes. They are read in pieces: a used heap has few long stretches."""

from tenner.port.compat import const

_PIECE = const(256)


def units(raw: bytes) -> int:
    """Return the number of UTF-16 units in the UTF-8 bytes `raw`."""
    total = at = 0
    while at < len(raw):
        end = at + _PIECE
        while end < len(raw) and raw[end] & 0xC0 == 0x80:
            end -= 1
        total += len(raw[at:end].decode())
        at = end
    for lead in (b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4"):
        total += raw.count(lead)  # lead bytes of characters with two units
    return total


def visible_units(html: bytes) -> int:
    """Return the UTF-16 units that Telegram counts in the HTML of `pieces`, without tags and
    escapes."""
    total = _unescaped_units(html)
    at = html.find(b"<")
    while at >= 0:
        end = html.find(b">", at) + 1
        total -= _unescaped_units(html[at:end])
        at = html.find(b"<", end)
    return total


def _unescaped_units(html):
    escaped = 4 * html.count(b"&amp;") + 3 * (html.count(b"&lt;") + html.count(b"&gt;"))
    return units(html) - escaped
