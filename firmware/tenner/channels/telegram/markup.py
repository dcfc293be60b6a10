# tenner channels.telegram.markup: converts the Markdown of models to the HTML subset of Telegram.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Telegram rejects a whole message for one unclosed tag, so a mark becomes a tag only with its
partner; other marks stay text. Partners stand in the same line, so that a message may be cut
between any two lines. Everything works on UTF-8 bytes, since all marks are ASCII and MicroPython
walks non-ASCII text from the start to index it.
"""

from tenner.channels import table
from tenner.net.json.writer import valid
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_STAR = const(0x2A)
_UNDERSCORE = const(0x5F)
_TILDE = const(0x7E)
_TICK = const(0x60)
_BACKSLASH = const(0x5C)
_OPEN_BRACKET = const(0x5B)
_BANG = const(0x21)
_LESS = const(0x3C)
_LETTER_H = const(0x68)

_LONGEST_FENCE = const(64)


def clean(text: str | bytes) -> bytes:
    """Return `text` as valid UTF-8 with plain line ends; Telegram rejects half surrogates."""
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    if b"\xed" in text:
        text = valid(text)
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\0", b"")


def escape(text: bytes) -> bytes:
    """Return the bytes of a text with the special characters of HTML escaped."""
    return text.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")


# --- lines and blocks


def fence_of(line: bytes) -> bytes:
    """Return the run of marks that opens a code fence on this line, or b"" if it opens none."""
    body = line.strip(b" ")
    mark = body[:3]
    # No language has such a long name.
    if mark in (b"```", b"~~~") and len(body) <= _LONGEST_FENCE:
        run = len(body) - len(body.lstrip(mark))
        # A further backtick makes it code within the line: ```x```.
        if mark == b"~~~" or body.find(b"`", run) < 0:
            return body[:run]
    return b""


def closes(line: bytes, fence: bytes) -> bool:
    """Return whether this line closes the code fence opened by the run `fence`."""
    body = line.strip()
    return len(body) >= len(fence) and body == fence[:1] * len(body)


def _lines(raw):
    at = end = 0
    while end >= 0:
        end = raw.find(b"\n", at)
        yield raw[at : end if end >= 0 else len(raw)]
        at = end + 1


def pieces(raw: bytes) -> "Iterator[bytes]":
    """Yield the HTML of `raw`, a result of `clean`, line by line; line ends are separate
    pieces."""
    fence = b""  # the marks that opened the code block we are in
    tail = b""  # closes the block we are in
    rows = []  # of a table, until it ends
    joint = b""  # between the last line and the next
    indent = 0
    for line in _lines(raw):
        if fence:
            if closes(line, fence):
                yield tail
                fence = tail = b""
            else:
                # A fence in a list is indented together with its content.
                yield joint + escape(line[min(indent, _indent(line)) :])
            joint = b"\n"
            continue
        body = line.strip()
        is_row = len(body) > 2 and body[:1] == body[-1:] == b"|"
        if rows:
            if is_row:
                rows.append(line)
                continue
            yield _table(rows)
            rows = []
        quoted = line[:1] == b">"
        if tail and not quoted:
            yield tail
            tail = b""
        yield joint
        joint = b"\n"
        fence = fence_of(line)
        if fence:
            indent = _indent(line)
            word = body.strip(b"`~ ").split(b" ")[0]
            if word and escape(word) == word and b'"' not in word:
                tail = b"</code></pre>"
                yield b'<pre><code class="language-' + word + b'">'
            else:
                tail = b"</pre>"
                yield b"<pre>"
            joint = b""
        elif is_row:
            rows.append(line)
        else:
            if quoted:
                if not tail:
                    tail = b"</blockquote>"
                    yield b"<blockquote>"
                line = line.lstrip(b"> ")
            yield _line(line)
    yield _table(rows)
    yield tail


def _indent(line):
    return len(line) - len(line.lstrip(b" "))


def _table(rows):
    """Return the HTML of a table, or of plain lines if the second row is no ruler."""
    if len(rows) > 1:
        text = table.aligned(rows)
        if text is not None:
            return b"<pre>" + escape(text) + b"</pre>"
    return b"\n".join([_line(row) for row in rows])


def _line(line):
    """Return the HTML of a line outside any block."""
    body = line.lstrip(b" \t")
    lead = line[: len(line) - len(body)]
    mark, _, words = body.partition(b" ")
    if mark and len(mark) <= 6 and not mark.strip(b"#"):
        title = words.strip()
        bare = title.rstrip(b"#")
        if bare[-1:] == b" ":
            title = bare.rstrip(b" ")
        if title:
            return lead + _render([b"<b>"] + parse(title, []) + [b"</b>"])
    mark = body[:1]
    if mark and mark in b"-*_+":
        bare = body.replace(b" ", b"")
        if mark != b"+" and len(bare) > 2 and not bare.strip(mark):
            return lead + b"\xe2\x80\x94" * 3  # a rule, as three em dashes
        if mark != b"_" and body[1:2] in (b" ", b"\t"):
            body = body[2:].lstrip(b" ")
            box = body[:4].lower()
            bullet = b"\xe2\x80\xa2 "
            if box in (b"[ ] ", b"[x] "):
                body = body[4:]
                bullet = b"\xe2\x98\x90 " if box == b"[ ] " else b"\xe2\x98\x91 "
            lead += bullet
    return lead + _render(parse(body, []))


# --- marks inside a line
#
# A line becomes a list of bytes: tags such as <b> and </b>, and pieces of HTML between them. A
# possible opening mark is stored as text and remembered; with its partner both become tags, and
# unclosed marks between them stay text. So every tag is closed, and in order.


def _render(parts):
    """
    Join the result of `parse`. Telegram allows no code inside other tags, so those are closed
    before it and opened again after it; no tag is nested in its own kind, or empty.
    """
    out = []
    wanted = []  # tags open at this place
    opened = 0  # number of written ones
    for part in parts:
        # Escaped text has no "<": a part that begins with one is a tag.
        is_tag = part[:1] == b"<"
        if is_tag and len(part) == 3:
            wanted.append(part)
            continue
        if is_tag and len(part) == 4:
            keep = len(wanted) - 1
        else:
            keep = 0 if part[:6] == b"<code>" else len(wanted)
        while opened > keep:
            opened -= 1
            if wanted[opened] not in wanted[:opened]:
                out.append(b"</" + wanted[opened][1:])
        if is_tag and len(part) == 4:
            wanted.pop()
            continue
        while opened < keep:
            if wanted[opened] not in wanted[:opened]:
                out.append(wanted[opened])
            opened += 1
        out.append(part)
    return b"".join(out)


def parse(line: bytes, found: list, links: bool = True) -> list[bytes]:
    """Return the parts of `line`, and add to the list `found` the spans that must not be cut."""
    parts = []
    stack = []  # opened marks: (their length, place in parts, place in line)
    at = plain = 0
    while at < len(line):
        byte = line[at]
        if byte not in b"*_~`\\[!<h":
            at += 1
            continue
        end = at + 1
        piece = None
        if byte == _BACKSLASH:
            after = line[end : end + 1]
            if after and after in b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~":
                end += 1
                piece = escape(after)
        elif byte == _TICK:
            end, piece = _code(line, at, links)
        elif byte == _OPEN_BRACKET or byte == _BANG or byte == _LESS:
            if links:
                end, piece = _link(line, at)
        elif byte == _LETTER_H:
            # Marks inside an address belong to it; Telegram detects the address.
            if _is_address(line[at : at + 9]):
                while end < len(line) and line[end] not in b' \t*<>()[]`"|':
                    end += 1
                piece = escape(line[at:end])
        else:
            end = _run(line, at)
            piece = b""  # `_marks` decides below
        if piece is None:
            at += 1
            continue
        if at > plain:
            parts.append(escape(line[plain:at]))
        if piece:
            parts.append(piece)
            found.append((at, end))
        else:
            _marks(line, at, end, parts, stack, found)
        at = plain = end
    if plain < len(line):
        parts.append(escape(line[plain:]))
    return parts


def _run(line, at):
    """Return the end of the run of one byte that begins at `at`."""
    end = at + 1
    while end < len(line) and line[end] == line[at]:
        end += 1
    return end


def _marks(line, at, end, parts, stack, found):
    """Use a run of one mark to close open marks, and the rest of it to open new ones."""
    byte = line[at]
    count = end - at
    before = line[at - 1 : at] or b" "
    after = line[end : end + 1] or b" "
    can_open = after not in b" \t"
    can_close = before not in b" \t"
    if count > 3 or (byte == _TILDE and count != 2):
        can_open = can_close = False
    elif byte == _UNDERSCORE or count == 1:
        # snake_case and 2*3*4 are no marks.
        can_open = can_open and not _is_word(before, byte)
        can_close = can_close and not _is_word(after, byte)
    elif byte == _STAR and count == 2 and before.isdigit() and after.isdigit():
        can_open = can_close = False  # a power: 2**3
    start = at
    depth = len(stack) if can_close else 0
    while depth and at < end:
        depth -= 1
        size, place, where = stack[depth]
        if line[where] != byte or size > end - at:
            continue
        if where + size >= start:
            break
        tag = b"<s>" if byte == _TILDE else b"<b>" if size == 2 else b"<i>"
        parts[place] = tag
        parts.append(b"</" + tag[1:])
        del stack[depth:]
        at += size
        found.append((where, at))
    while at < end:
        size = min(2, end - at)
        if can_open:
            stack.append((size, len(parts), at))
        parts.append(line[at : at + size])
        at += size


def _is_word(letter, mark):
    """Return whether `letter` is part of a word, so that `mark` beside it is text. A star beside
    CJK is a mark."""
    if letter >= b"\x80":
        return mark == _UNDERSCORE
    return letter.isalpha() or letter.isdigit()


def _code(line, at, tags):
    """Read `code` at a backtick; return (end, piece). Without a partner the entire run is text."""
    start = _run(line, at)
    run = line[at:start]
    end = line.find(run, start)
    while end >= 0:
        after = _run(line, end)
        if after - end == len(run):
            text = line[start:end]
            if not text.strip():
                return after, line[at:after]
            if text[:1] == text[-1:] == b" ":
                text = text[1:-1]
            text = escape(text)
            return after, b"<code>" + text + b"</code>" if tags else text
        end = line.find(run, after)
    return start, run


def _link(line, at):
    """Read [text](address), ![text](address) or <address> at `at`; return (end, piece), piece None
    for others."""
    words = b""
    if line[at] == _LESS:
        end = line.find(b">", at)
        url = line[at + 1 : max(end, 0)]
    else:
        start = at + (line[at] == _BANG)
        close = _partner(line, start, b"[]")
        end = _partner(line, close + 1, b"()") if close > 0 else -1
        words = line[start + 1 : max(close, 0)].strip()
        url = line[close + 2 : max(end, 0)].strip()
        space = url.find(b" ")
        if space > 0 and url[-1:] in b"\"'":
            url = url[:space]  # without the title
        if url[:1] == b"<" and url[-1:] == b">":
            url = url[1:-1]
    if not _is_address(url) or b" " in url or b"\t" in url:
        return at, None
    text = _render(parse(words, [], False)) if words else escape(url)
    url = escape(url).replace(b'"', b"&quot;")
    return end + 1, b'<a href="' + url + b'">' + text + b"</a>"


def _partner(line, at, pair):
    """Return the place of the bracket that closes the one at `at`, or -1."""
    if line[at : at + 1] != pair[:1]:
        return -1
    depth = 0
    while at < len(line):
        byte = line[at]
        if byte == _BACKSLASH:
            at += 1
        elif byte == pair[0]:
            depth += 1
        elif byte == pair[1]:
            depth -= 1
            if not depth:
                return at
        at += 1
    return -1


def _is_address(url):
    for scheme in (b"https://", b"http://", b"tg://", b"mailto:"):
        if url.startswith(scheme) and len(url) > len(scheme):
            return True
    return False
