# tenner channels.split: cuts long text into parts that fit a message, and counts as Telegram does.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The limit counts UTF-16 units, as Telegram does. A cut falls between paragraphs, else between
lines, else between words, else anywhere, and drops only white space. A part closes a code fence
that it cuts, and the next part opens it again. No cut falls inside a mark of a line, such as a
link or bold words, unless that alone is longer than a message.
"""

from tenner.channels.telegram.markup import clean, closes, fence_of, parse
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE = const(256)


def parts(text: str, limit: int = 4096) -> "Iterator[str]":
    """Yield `text` (str or bytes of Markdown) in parts of at most `limit` UTF-16 units each, 2 or
    more."""
    raw = clean(text)
    at = 0
    head = b""  # the line that opened the fence we are in
    while at < len(raw):
        head = _affordable(head, limit)
        # A unit has at most three bytes: a long rest is known to be long without a copy.
        if len(raw) - at <= 3 * limit and _units_after(head) + units(raw[at:]) <= limit:
            end, after, opener = len(raw), len(raw), b""
        else:
            begin = at if head else _skip_blank(raw, at)
            if begin != at:
                at = begin
                continue
            end, after, opener = _cut(raw, at, limit, head)
        body = raw[at:end]
        if body.strip():
            if head:
                body = head + b"\n" + body
            if opener:
                body += b"\n" + fence_of(opener)
            yield body.decode()
        at = after
        head = opener


def _affordable(head, limit):
    """Return the line `head`, or its bare marks, if a part has room to open the fence again, else
    b""."""
    for line in (head, fence_of(head)):
        if _units_after(line) + len(fence_of(head)) + 3 <= limit:
            return line
    return b""


def _units_after(head):
    """Return the units needed to open the fence again."""
    return units(head) + 1 if head else 0


def _skip_blank(raw, at):
    """Return the start of the first line at or after `at` that is not blank."""
    while True:
        end = raw.find(b"\n", at)
        if end < 0 or raw[at:end].strip():
            return at
        at = end + 1


def _cut(raw, start, limit, head):
    """
    Find the cut for the part that starts at `start` inside the fence opened by the line `head`
    (b"" if outside): (end of the part, start of the next, the line that opened the fence we cut,
    or b"").
    """
    used = _units_after(head)
    opener = head
    fresh = not head  # the fence has only its opening line so far
    paragraph = line = inside = -1
    inside_opener = b""
    at = start
    while True:
        end = raw.find(b"\n", at)
        if end < 0:
            end = len(raw)
        body = raw[at:end]
        if at > start:
            if opener:
                if not fresh:
                    inside = at - 1
                    inside_opener = opener
            elif body.strip():
                line = at - 1
            else:
                paragraph = at - 1
        behind = opener  # the open fence after this line
        if opener:
            if closes(body, fence_of(opener)):
                behind = b""
        elif fence_of(body):
            behind = body.strip()
        # A part needs room to close its fence.
        size = units(body) + (len(fence_of(behind)) + 1 if behind else 0)
        if used + size > limit:
            break
        used += units(body) + 1
        fresh = bool(behind) and not opener
        opener = behind
        at = end + 1
    if paragraph > start:
        return paragraph, _skip_blank(raw, paragraph + 1), b""
    if line > start:
        return line, line + 1, b""
    if inside > start:
        return inside, inside + 1, inside_opener
    return _cut_line(raw, at, end, limit - used, opener, start)


def _cut_line(raw, at, end, room, opener, start):
    """Cut inside the line raw[at:end], of which `room` units fit."""
    if opener:
        room -= len(fence_of(opener)) + 1
        if room < 2 and at > start:
            return at - 1, at, opener
        if room < 2:
            return _forward(raw, at, 2), _forward(raw, at, 2), b""
    stop = _forward(raw, at, room)
    if opener:
        return stop, stop, opener
    # A line may be long and only marks near the cut matter: look one message ahead.
    taken = []
    parse(raw[at : min(end, 2 * stop - at)], taken)
    best = stop
    for first, last in taken:
        if at + first < best < at + last:
            best = at + first
    if best <= at:
        best, taken = stop, ()  # type: ignore[assignment]
    space = raw.rfind(b" ", at, best + 1)
    while space > at:
        if not any(first < space - at < last for first, last in taken):
            return space, space + 1, b""
        space = raw.rfind(b" ", at, space)
    return best, best, b""


def _forward(raw, at, room):
    """Return the end of the characters from `at` that fit `room` units, at least one."""
    stop = at
    while stop < len(raw):
        lead = raw[stop]
        size = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        room -= 2 if size == 4 else 1
        if room < 0 and stop > at:
            return stop
        stop += size
    return stop


# Texts are UTF-8 bytes. They are read in pieces: a used heap has few long stretches.
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
