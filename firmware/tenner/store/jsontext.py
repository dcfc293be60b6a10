# tenner store.jsontext: small JSON texts read strictly, with the line of the first mistake.
# MIT license; Copyright (c) 2026 the tenner authors
"""
MicroPython's own `json` takes `{"a" 1,}` for good, some versions even an object whose end is cut off,
leaves surrogate pairs unjoined, and names no line. So whatever a person or a model wrote is read here:
settings, sensors, jobs, tool arguments. For the commented settings file, `//` comments and a comma after
the last entry are allowed.
Whole texts of a few kilobytes only; what streams belongs to `net.jsonin`.
"""

from tenner.port.compat import const

_DEPTH = const(16)
_QUOTE = const(0x22)


def loads(text):
    """Return the value of a JSON text (str or bytes); ValueError("line 3: expected ...") if it is none."""
    reader = _Reader(text.encode() if isinstance(text, str) else text)
    value = reader.value(0)
    if reader.space() is not None:
        reader.fail("nothing more")
    return value


class _Reader:
    """A cursor over the bytes; indexing bytes is cheap where indexing non-ASCII text is not."""

    def __init__(self, data):
        self.data = data
        self.pos = 0

    def fail(self, expected):
        line = self.data[: self.pos].count(b"\n") + 1
        raise ValueError("line %d: expected %s" % (line, expected))

    def space(self):
        """Skip white space and comments; return the next byte, or None at the end."""
        data = self.data
        while self.pos < len(data):
            byte = data[self.pos]
            if byte in b" \t\r\n":
                self.pos += 1
            elif byte == 0x2F and data[self.pos : self.pos + 2] == b"//":
                end = data.find(b"\n", self.pos)
                self.pos = end if end >= 0 else len(data)
            else:
                return byte
        return None

    def value(self, depth):
        byte = self.space()
        if byte is None:
            self.fail("a value")
        if depth > _DEPTH:
            self.fail("fewer brackets inside each other")
        if byte == 0x7B:
            return self.members(depth)
        if byte == 0x5B:
            return self.items(depth)
        if byte == _QUOTE:
            return self.string()
        for word, meaning in ((b"true", True), (b"false", False), (b"null", None)):
            if self.data[self.pos : self.pos + len(word)] == word:
                self.pos += len(word)
                return meaning
        return self.number()

    def more(self, first, close):
        """Is there another member before the closing bracket `close`? Takes the comma."""
        byte = self.space()
        if byte == close:
            self.pos += 1
            return False
        if not first:
            if byte != 0x2C:
                self.fail("',' or '%s'" % chr(close))
            self.pos += 1
            if self.space() == close:
                self.pos += 1
                return False
        return True

    def members(self, depth):
        result = {}
        first = True
        self.pos += 1
        while self.more(first, 0x7D):
            first = False
            if self.space() != _QUOTE:
                self.fail("a name in double quotes")
            name = self.string()
            if self.space() != 0x3A:
                self.fail("':' after \"%s\"" % name)
            self.pos += 1
            result[name] = self.value(depth + 1)
        return result

    def items(self, depth):
        result = []
        self.pos += 1
        while self.more(not result, 0x5D):
            result.append(self.value(depth + 1))
        return result

    def number(self):
        data = self.data
        start = end = self.pos
        while end < len(data) and data[end] in b"+-.0123456789eE":
            end += 1
        text = data[start:end].decode()
        digits = text[1:] if text[:1] == "-" else text
        bad = not (digits[:1].isdigit() and digits[-1:].isdigit())
        if bad or (digits[0] == "0" and digits[1:2].isdigit()):
            self.fail("a value")
        self.pos = end
        try:
            return int(text) if digits.isdigit() else float(text)
        except ValueError:
            self.pos = start
            self.fail("a number")

    def string(self):
        """Read a string; the plain stretches between escapes are found, not walked."""
        data = self.data
        start = self.pos + 1
        parts = []
        while True:
            quote = data.find(b'"', start)
            if quote < 0 or data.find(b"\n", start, quote) >= 0:
                self.fail('a closing "')
            escape = data.find(b"\\", start, quote)
            end = quote if escape < 0 else escape
            if end > start:
                parts.append(self.text(start, end))
            if escape < 0:
                self.pos = quote + 1
                return parts[0] if len(parts) == 1 else "".join(parts)
            self.pos = escape
            parts.append(self.escaped())
            start = self.pos

    def text(self, start, end):
        try:
            return self.data[start:end].decode()
        except UnicodeError:
            self.fail("text in UTF-8")

    def escaped(self):
        letter = self.data[self.pos + 1 : self.pos + 2]
        if letter == b"u":
            code = self.unit()
            if 0xD800 <= code < 0xDC00 and self.data[self.pos : self.pos + 2] == b"\\u":
                low = self.unit()
                if 0xDC00 <= low < 0xE000:
                    return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))
                self.pos -= 6
            # Half a pair has no UTF-8; stored, it would poison every later request.
            return chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd"
        place = b'"\\/bfnrt'.find(letter) if letter else -1
        if place < 0:
            self.fail('a known escape such as \\n or \\"')
        self.pos += 2
        return '"\\/\b\f\n\r\t'[place]

    def unit(self):
        """Take one \\uXXXX and return its number."""
        code = 0
        for digit in self.data[self.pos + 2 : self.pos + 6]:
            place = b"0123456789abcdef".find(bytes((digit | 0x20 if digit > 0x39 else digit,)))
            code = (code << 4) + place if place >= 0 else -0x100000
        if code < 0 or self.pos + 6 > len(self.data):
            self.fail("four hex digits after \\u")
        self.pos += 6
        return code
