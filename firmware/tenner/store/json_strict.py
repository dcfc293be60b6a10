# tenner store.json_strict: small JSON texts read strictly, with the line of the first mistake.
# MIT license; Copyright (c) 2026 the tenner authors
"""
There are two parsers: this one returns the value of an entire text, of a few kilobytes at most,
and names the line of a mistake; `net.json.scanner` is fed a stream of any length and holds none of
it. MicroPython's own `json` accepts `{"a" 1,}`, some versions even an object whose end is cut off,
leaves surrogate pairs unjoined, and names no line. So this parser reads texts of people and
models, such as the settings. For their sake it allows `//` comments and a comma after the last
entry.
"""

import re

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEPTH = const(16)

_WORD = re.compile(rb"[-+.0-9A-Za-z]*")
_NUMBER = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$")
_NAMED = {b"true": True, b"false": False, b"null": None}

_SHORT = b'"\\/bfnrt'
_MEANING = b'"\\/\b\f\n\r\t'
_HEX = b"0123456789abcdefABCDEF"


def loads(text: str | bytes) -> "Any":
    """Return the value of a JSON text (str or bytes); ValueError("line 3: expected ...") if it is
    none."""
    data = text.encode() if isinstance(text, str) else text
    # Editors of Windows begin with the mark, and a lost power supply ends with the zeros.
    data = data.rstrip(b"\0")
    if 0 in data[:4]:
        raise ValueError("it is not UTF-8 text: save it as UTF-8")
    reader = _Reader(data[3:] if data[:3] == b"\xef\xbb\xbf" else data)
    value = reader.value(0)
    if reader.next():
        reader.fail("nothing more")
    return value


class _Reader:
    """A cursor over the bytes; indexing bytes is cheap where indexing non-ASCII text is not."""

    def __init__(self, data):
        self.data = data
        self.pos = 0

    def fail(self, expected):
        # Lines of an old Mac end with a CR alone.
        before = self.data[: self.pos]
        line = max(before.count(b"\n"), before.count(b"\r")) + 1
        raise ValueError("line %d: expected %s" % (line, expected))

    def next(self):
        """Skip white space and comments; return the next byte, b"" at the end."""
        data = self.data
        while True:
            byte = data[self.pos : self.pos + 1]
            if byte == b"/" and data[self.pos + 1 : self.pos + 2] == b"/":
                while data[self.pos : self.pos + 1] not in b"\r\n":
                    self.pos += 1
            elif byte and byte in b" \t\r\n":
                self.pos += 1
            else:
                return byte

    def value(self, depth):
        byte = self.next()
        if depth > _DEPTH:
            self.fail("fewer brackets inside each other")
        if byte == b"{":
            return self.members(depth)
        if byte == b"[":
            return self.items(depth)
        if byte == b'"':
            return self.string()
        word = _WORD.match(self.data[self.pos : self.pos + 64]).group(0)
        if word not in _NAMED and not _NUMBER.match(word):
            self.fail("a value: text in quotes, a number, true, false or null")
        self.pos += len(word)
        if word in _NAMED:
            return _NAMED[word]
        word = word.decode()
        return int(word) if word.lstrip("-").isdigit() else float(word)

    def members(self, depth):
        result = {}
        self.pos += 1
        while self.more(not result, b"}"):
            if self.next() != b'"':
                self.fail("a name in double quotes")
            name = self.string()
            if self.next() != b":":
                self.fail("':' after \"%s\"" % name)
            self.pos += 1
            known, value = result.get(name), self.value(depth + 1)
            if isinstance(known, dict) and isinstance(value, dict):
                # People add a section that the file has already.
                known.update(value)
            else:
                result[name] = value
        return result

    def items(self, depth):
        result = []
        self.pos += 1
        while self.more(not result, b"]"):
            result.append(self.value(depth + 1))
        return result

    def more(self, first, closing):
        """Is there another member before the closing bracket? Takes the comma."""
        byte = self.next()
        if not first and byte != closing:
            if byte != b",":
                self.fail("',' or '%s'" % closing.decode())
            self.pos += 1
            byte = self.next()
        if byte == closing:
            self.pos += 1
        return byte != closing

    def string(self):
        """Read a string; the plain stretches between escapes are found, not walked."""
        data = self.data
        start = self.pos + 1
        text = []
        while True:
            quote = data.find(b'"', start)
            if quote < 0:
                self.fail('a closing "')
            escape = data.find(b"\\", start, quote)
            end = quote if escape < 0 else escape
            plain = data[start:end]
            if plain and min(plain) < 0x20:
                if b"\n" in plain or b"\r" in plain:
                    self.fail('a closing "')
                self.fail("no control character in a text: write a tab as \\t")
            try:
                text.append(plain.decode())
            except UnicodeError:
                self.fail("text in UTF-8")
            self.pos = end
            if escape < 0:
                self.pos += 1
                return "".join(text)
            try:
                char, start = unescape(data, escape)
            except (IndexError, ValueError):
                self.fail("a known escape such as \\n, or four hex digits after \\u")
            text.append(char.decode())


def unescape(data: bytes, i: int) -> tuple[bytes, int]:
    """
    Return (character in UTF-8, place after it) of the escape at `data[i]`. A surrogate pair is
    joined; half of one becomes U+FFFD, for it has no UTF-8 and would poison every later request.
    IndexError if cut off, ValueError if it is none.
    """
    byte = data[i + 1]
    if byte != 0x75:
        place = _SHORT.find(bytes((byte,)))
        if place < 0:
            raise ValueError("the JSON has an unknown escape")
        return _MEANING[place : place + 1], i + 2
    return _unicode(data, i)


def utf8(code: int) -> bytes:
    """Return the character of this number in UTF-8. `chr` would keep each one in RAM for good, and
    so would a loop over the characters of a text."""
    last = 0x80 | code & 0x3F
    if code < 0x80:
        return bytes((code,))
    if code < 0x800:
        return bytes((0xC0 | code >> 6, last))
    middle = 0x80 | code >> 6 & 0x3F
    if code < 0x10000:
        return bytes((0xE0 | code >> 12, middle, last))
    return bytes((0xF0 | code >> 18, 0x80 | code >> 12 & 0x3F, middle, last))


def _unicode(data, i):
    code = _unit(data, i)
    i += 6
    # The second half of a surrogate pair follows the first, or neither means anything.
    if 0xD800 <= code < 0xDC00 and data[i] == 0x5C and data[i + 1] == 0x75:
        low = _unit(data, i)
        if 0xDC00 <= low < 0xE000:
            return utf8(0x10000 + ((code - 0xD800) << 10) + low - 0xDC00), i + 6
    return utf8(0xFFFD if 0xD800 <= code < 0xE000 else code), i


def _unit(data, i):
    """Return the number in \\uXXXX."""
    code = 0
    for k in range(i + 2, i + 6):
        place = _HEX.find(bytes((data[k],)))
        if place < 0:
            raise ValueError("the JSON has a wrong \\u")
        code = code * 16 + (place if place < 16 else place - 6)
    return code
