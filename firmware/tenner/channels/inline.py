# tenner channels.inline: the marks inside one line of Markdown, to Telegram HTML.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A mark that may open is put down as text and remembered; when its partner comes, both become tags and
what was opened between them and never closed stays text. So every tag is closed, and in order.
Telegram lets nothing stand inside `code` and no `code` inside other marks, so those are closed
before a piece of code and opened again behind it.
"""

from tenner.port.compat import const

_STAR = const(0x2A)
_UNDERSCORE = const(0x5F)
_TILDE = const(0x7E)
_TICK = const(0x60)
_BACKSLASH = const(0x5C)
_OPEN_BRACKET = const(0x5B)
_BANG = const(0x21)
_LESS = const(0x3C)
_LETTER_H = const(0x68)

_SPECIAL = b"*_~`\\[!<h"
_PUNCTUATION = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_URL_END = b' \t*<>()[]`"|'
_SCHEMES = (b"https://", b"http://", b"tg://", b"mailto:")

# Kinds of what a line is made of.
_TEXT = const(0)
_OPEN = const(1)
_CLOSE = const(2)
_CODE = const(3)
_LINK = const(4)


def escape(text):
    """Return bytes of text with what HTML would take for its own replaced."""
    return text.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")


def html(line, bold=False):
    """Return one line as HTML; `bold` puts all of it in bold, as a heading."""
    parts = _parse(line, True, None)
    if bold:
        parts.insert(0, (_OPEN, b"b"))
        parts.append((_CLOSE, b"b"))
    return _render(parts)


def spans(line):
    """Return the (start, end) of everything in the line that must not be cut."""
    found = []
    _parse(line, True, found)
    return found


def _render(parts):
    out = []
    wanted = []  # tags open at this place
    opened = 0  # how many of them are written
    for kind, text in parts:
        if kind == _OPEN:
            wanted.append(text)
        elif kind == _CLOSE:
            if opened == len(wanted):
                if text not in wanted[:-1]:
                    out.append(b"</" + text + b">")
                opened -= 1
            wanted.pop()
        else:
            if kind == _CODE:
                while opened:
                    opened -= 1
                    if wanted[opened] not in wanted[:opened]:
                        out.append(b"</" + wanted[opened] + b">")
            else:
                # A tag is written only when there is text for it, so that none is empty.
                while opened < len(wanted):
                    if wanted[opened] not in wanted[:opened]:
                        out.append(b"<" + wanted[opened] + b">")
                    opened += 1
            out.append(text)
    return b"".join(out)


def _parse(line, links, found):
    """Return the (kind, bytes) that make up `line`; cuttable stretches are noted in the list `found`."""
    parts = []
    stack = []  # opened marks: (mark, its place in parts, its place in line)
    at = plain = 0
    while at < len(line):
        byte = line[at]
        if byte not in _SPECIAL:
            at += 1
            continue
        end = at
        piece = None
        if byte == _BACKSLASH:
            if at + 1 < len(line) and line[at + 1] in _PUNCTUATION:
                end = at + 2
                piece = (_TEXT, escape(line[at + 1 : end]))
        elif byte == _TICK:
            end, piece = _code(line, at, links)
        elif byte == _OPEN_BRACKET or byte == _BANG or byte == _LESS:
            if links:
                end, piece = _link(line, at)
        elif byte == _LETTER_H:
            # Marks inside an address belong to it; Telegram finds the address by itself.
            if line.startswith(b"http://", at) or line.startswith(b"https://", at):
                end = at + 7
                while end < len(line) and line[end] not in _URL_END:
                    end += 1
                piece = (_TEXT, escape(line[at:end]))
        else:
            end = at
            while end < len(line) and line[end] == byte:
                end += 1
            if at > plain:
                parts.append((_TEXT, escape(line[plain:at])))
            _marks(line, at, end, parts, stack, found)
            at = plain = end
            continue
        if piece is None:
            at += 1
            continue
        if at > plain:
            parts.append((_TEXT, escape(line[plain:at])))
        parts.append(piece)
        if found is not None and end - at > 1:
            found.append((at, end))
        at = plain = end
    if plain < len(line):
        parts.append((_TEXT, escape(line[plain:])))
    return parts


def _marks(line, start, end, parts, stack, found):
    """Deal with a run of one mark: close what it can, open what is left."""
    byte = line[start]
    mark = line[start : start + 1]
    before = line[start - 1] if start else 0x20
    after = line[end] if end < len(line) else 0x20
    can_open = after not in b" \t"
    can_close = before not in b" \t"
    count = end - start
    if byte == _TILDE:
        if count != 2:
            can_open = can_close = False
    elif byte == _UNDERSCORE or count == 1:
        # snake_case and 2*3*4 are no marks.
        can_open = can_open and not _is_word(before, byte)
        can_close = can_close and not _is_word(after, byte)
    elif count == 2 and _is_digit(before) and _is_digit(after):
        can_open = can_close = False  # a power: 2**3
    if count > 3:
        can_open = can_close = False
    at = start
    while can_close and count:
        depth = len(stack) - 1
        while depth >= 0 and (stack[depth][0][:1] != mark or len(stack[depth][0]) > count):
            depth -= 1
        if depth < 0:
            break
        opened, place, where = stack[depth]
        if where + len(opened) >= start:
            break
        size = len(opened)
        tag = b"s" if byte == _TILDE else b"b" if size == 2 else b"i"
        parts[place] = (_OPEN, tag)
        parts.append((_CLOSE, tag))
        del stack[depth:]
        at += size
        count -= size
        if found is not None:
            found.append((where, at))
    while count:
        size = 2 if count > 1 else 1
        if can_open:
            stack.append((mark * size, len(parts), at))
        parts.append((_TEXT, mark * size))
        at += size
        count -= size


def _is_word(byte, mark):
    """Is `byte` part of a word, so that `mark` beside it is no mark? Between CJK letters a star is."""
    if byte >= 0x80:
        return mark == _UNDERSCORE
    return _is_digit(byte) or 0x41 <= byte < 0x5B or 0x61 <= byte < 0x7B


def _is_digit(byte):
    return 0x30 <= byte < 0x3A


def _code(line, at, tags):
    """Read `code` at a backtick: (end, piece); without its partner the whole run is text."""
    start = at
    while start < len(line) and line[start] == _TICK:
        start += 1
    run = line[at:start]
    end = start
    while True:
        end = line.find(run, end)
        if end < 0:
            return start, (_TEXT, run)
        after = end
        while after < len(line) and line[after] == _TICK:
            after += 1
        if after - end == len(run):
            break
        end = after
    text = line[start:end]
    if text[:1] == b" " and text[-1:] == b" " and text.strip():
        text = text[1:-1]
    if not text.strip():
        return after, (_TEXT, line[at:after])
    text = escape(text)
    return after, ((_CODE, b"<code>" + text + b"</code>") if tags else (_TEXT, text))


def _link(line, at):
    """Read [text](address), ![text](address) or <address> at `at`: (end, piece), piece None if it is none."""
    if line[at] == _LESS:
        end = line.find(b">", at)
        url = line[at + 1 : end] if end > 0 else b""
        if not _is_address(url):
            return at, None
        return end + 1, (_LINK, _anchor(url, escape(url)))
    start = at + 1 if line[at] == _BANG else at
    if line[start : start + 1] != b"[":
        return at, None
    close = _partner(line, start, b"[]")
    if close < 0 or line[close + 1 : close + 2] != b"(":
        return at, None
    end = _partner(line, close + 1, b"()")
    if end < 0:
        return at, None
    url = line[close + 2 : end].strip()
    space = url.find(b" ")
    if space > 0 and url[-1:] in (b'"', b"'"):
        url = url[:space]  # without the title
    if url[:1] == b"<" and url[-1:] == b">":
        url = url[1:-1]
    if not _is_address(url):
        return at, None
    words = line[start + 1 : close].strip()
    text = _render(_parse(words, False, None)) if words else escape(url)
    return end + 1, (_LINK, _anchor(url, text))


def _partner(line, at, pair):
    """Return the place of the bracket that closes the one at `at`, or -1."""
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
    if b" " in url or b"\t" in url:
        return False
    for scheme in _SCHEMES:
        if url.startswith(scheme) and len(url) > len(scheme):
            return True
    return False


def _anchor(url, text):
    return b'<a href="' + escape(url).replace(b'"', b"&quot;") + b'">' + text + b"</a>"
