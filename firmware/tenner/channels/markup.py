# tenner channels.markup: Markdown as models write it, to the HTML subset that Telegram accepts.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Telegram refuses a whole message for one tag that is not closed, so a mark becomes a tag only when its
partner is found; anything else stays the text it is. Marks are matched within a line: a message may
then be cut between any two lines. Everything works on UTF-8 bytes, since all marks are ASCII and
indexing non-ASCII text walks it from the start on MicroPython.

One idea per module: lines and blocks are here, marks inside a line in `channels.inline`, tables in
`channels.table`.
"""

from tenner.channels.inline import escape, html
from tenner.channels.utf16 import clean, units
from tenner.port.compat import const

_LONGEST_FENCE = const(64)
_BULLETS = b"-*+"
# Taking these off both ends leaves nothing of a language's name.
_LANGUAGE = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-#_."


def to_html(text):
    """Return `text` (str or bytes of Markdown) as Telegram HTML."""
    return b"".join(pieces(text)).decode()


def visible_units(markup):
    """UTF-16 units Telegram counts in HTML made by `pieces` (bytes), with tags and escapes resolved."""
    total = at = 0
    while at < len(markup):
        end = markup.find(b"<", at)
        text = markup[at:end] if end >= 0 else markup[at:]
        total += units(text) - 3 * (text.count(b"&lt;") + text.count(b"&gt;"))
        total -= 4 * text.count(b"&amp;")
        if end < 0:
            break
        at = markup.find(b">", end) + 1
    return total


def fence_of(line):
    """Return the run of marks that opens a code fence on this line, or b"" if it opens none."""
    body = line.strip(b" ")
    for mark in (b"```", b"~~~"):
        # No language has a name as long as that.
        if body.startswith(mark) and len(body) <= _LONGEST_FENCE:
            run = len(body) - len(body.lstrip(mark[:1]))
            # A backtick in what follows makes it code within the line: ```x```.
            if mark == b"~~~" or body.find(b"`", run) < 0:
                return body[:run]
    return b""


def closes(line, fence):
    """Does this line close the code fence opened by the run `fence`?"""
    body = line.strip()
    return len(body) >= len(fence) and body == fence[:1] * len(body)


def lines_of(raw):
    """Yield the lines of `raw` without their ends."""
    at = 0
    while True:
        end = raw.find(b"\n", at)
        if end < 0:
            yield raw[at:]
            return
        yield raw[at:end]
        at = end + 1


def pieces(text):
    """Yield the HTML of `text` line by line, as bytes; line ends are pieces of their own."""
    fence = b""  # the marks that opened the code block we are in
    end_tag = gap = b""
    indent = 0
    rows = []  # of a table, until it ends
    quoting = False
    joint = b""  # what stands between the last line and the next
    for line in lines_of(clean(text)):
        if fence:
            if closes(line, fence):
                yield end_tag
                fence = b""
            else:
                yield gap
                # A fence in a list is indented, and so is what stands in it.
                shift = min(indent, _indent(line))
                yield escape(line[shift:])
                gap = b"\n"
            continue
        if rows:
            if _is_row(line):
                rows.append(line)
                continue
            for piece in _table(rows):
                yield piece
            rows = []
        if quoting and line[:1] != b">":
            yield b"</blockquote>"
            quoting = False
        yield joint
        joint = b"\n"
        fence = fence_of(line)
        if fence:
            indent = _indent(line)
            start_tag, end_tag = _pre_tags(line.strip(b"`~ "))
            yield start_tag
            gap = b""
        elif _is_row(line):
            rows.append(line)
        elif line[:1] == b">":
            if not quoting:
                yield b"<blockquote>"
            quoting = True
            yield _line(line.lstrip(b"> "))
        else:
            yield _line(line)
    if fence:
        yield end_tag
    for piece in _table(rows):
        yield piece
    if quoting:
        yield b"</blockquote>"


def _indent(line):
    return len(line) - len(line.lstrip(b" "))


def _pre_tags(info):
    """Return the tags round a code block; `info` is what stands behind the fence marks."""
    word = info.split(b" ")[0] if info else b""
    if not word or word.strip(_LANGUAGE):
        return b"<pre>", b"</pre>"
    return b'<pre><code class="language-' + word + b'">', b"</code></pre>"


def _is_row(line):
    body = line.strip()
    return len(body) > 2 and body[:1] == b"|" and body[-1:] == b"|"


def _table(rows):
    """Rows are a table when the second one is its ruler; else they are lines like others."""
    if len(rows) > 1:
        from tenner.channels import table

        if table.is_ruler(rows[1]):
            yield b"<pre>"
            yield escape(table.aligned(rows))
            yield b"</pre>"
            return
    joint = b""
    for row in rows:
        yield joint
        yield _line(row)
        joint = b"\n"


def _line(line):
    """Return the HTML of a line outside any block."""
    body = line.lstrip(b" \t")
    indent = line[: len(line) - len(body)]
    first = body[:1]
    if first == b"#":
        words = body.lstrip(b"#")
        if len(body) - len(words) <= 6 and words[:1] == b" ":
            title = words.strip()
            bare = title.rstrip(b"#")
            if bare[-1:] == b" ":
                title = bare.rstrip(b" ")
            if title:
                return indent + html(title, True)
    if first and first in b"-*_":
        bare = body.replace(b" ", b"")
        if len(bare) > 2 and bare == first * len(bare):
            return indent + b"\xe2\x80\x94" * 3  # a rule, as three em dashes
    if first and first in _BULLETS and body[1:2] in (b" ", b"\t"):
        words = body[2:].lstrip(b" ")
        box = words[:4].lower()
        if box == b"[ ] ":
            return indent + b"\xe2\x98\x90 " + html(words[4:])
        if box == b"[x] ":
            return indent + b"\xe2\x98\x91 " + html(words[4:])
        return indent + b"\xe2\x80\xa2 " + html(words)
    return indent + html(body)
