# tenner net.jsonin: a JSON parser that is fed a stream and holds none of it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The document may be cut at any byte. Memory is one fixed buffer and the path of the current value,
whatever the document's size. Raw control characters inside strings are taken, as sloppy servers send
them; anything else that is not JSON is a ValueError.
"""

from tenner.net import utf8
from tenner.port.compat import const

_BUFFER = const(256)

# What may come next.
_VALUE = const(0)
_FIRST_VALUE = const(1)  # a value or ]
_FIRST_KEY = const(2)  # a key or }
_KEY = const(3)
_COLON = const(4)
_COMMA = const(5)  # , or the closing bracket
_DONE = const(6)  # nothing but space
# Inside a token.
_STRING = const(7)
_ESCAPE = const(8)  # after a backslash
_HEX = const(9)  # in the four digits of \u
_WORD = const(10)  # a number, true, false or null


class Scanner:
    """
    Calls `sink(path, value, more)` for every string, number, true, false and null. `path` is the list of
    keys (str) and indexes (int) that leads to it; it is reused, so do not keep it. A string of at most
    256 bytes arrives whole; a longer one in pieces, with `more` true for all but the last. Empty objects
    and arrays are silent.
    """

    #: Brackets inside each other; a deeper document is an error.
    max_depth = 24

    def __init__(self, sink):
        self._sink = sink
        self._buf = bytearray(_BUFFER)
        self.reset()

    def reset(self):
        """Be ready for the next document."""
        self._path = []
        self._state = _VALUE
        self._used = 0
        self._is_key = False
        self._high = 0  # the first half of a surrogate pair, waiting for the second
        self._hex = 0

    def feed(self, data):
        """Take the next bytes, cut anywhere."""
        if not isinstance(data, (bytes, bytearray)):
            data = bytes(data)
        i = 0
        size = len(data)
        while i < size:
            state = self._state
            if state == _STRING:
                i = self._string(data, i, size)
                continue
            byte = data[i]
            if state == _WORD:
                start = i
                # A word ends where something begins that cannot be in it.
                while 0x2C < byte < 0x7B and byte not in b":[]" or byte == 0x2B:
                    i += 1
                    if i == size:
                        break
                    byte = data[i]
                self._copy(data, start, i)
                if i < size:
                    self._word()
                continue
            i += 1
            # The most frequent first: this loop is what a board spends its time in.
            if byte == 0x22 and state <= _KEY:
                self._is_key = state >= _FIRST_KEY
                self._state = _STRING
            elif byte == 0x3A and state == _COLON:
                self._state = _VALUE
            elif byte == 0x2C and state == _COMMA:
                if isinstance(self._path[-1], int):
                    self._path[-1] += 1
                    self._state = _VALUE
                else:
                    self._state = _KEY
            elif state == _ESCAPE:
                self._escape(byte)
            elif state == _HEX:
                self._digit(byte)
            elif byte not in b" \n\r\t":
                self._token(byte, state)

    def end(self):
        """The document is over; ValueError when it is not complete."""
        if self._state == _WORD:
            self._word()
        if self._state != _DONE:
            raise ValueError("the JSON ends in the middle")

    def _token(self, byte, state):
        """Take one byte between values."""
        path = self._path
        if state <= _FIRST_VALUE and (byte == 0x7B or byte == 0x5B):
            if len(path) >= self.max_depth:
                raise ValueError("the JSON is nested deeper than %d" % self.max_depth)
            path.append("" if byte == 0x7B else 0)
            self._state = _FIRST_KEY if byte == 0x7B else _FIRST_VALUE
        elif state <= _FIRST_VALUE and 0x2C < byte < 0x7B and byte not in b":]":
            self._state = _WORD
            self._append(byte)
        elif (state == _FIRST_VALUE or state == _FIRST_KEY or state == _COMMA) and byte == (
            0x5D if isinstance(path[-1], int) else 0x7D
        ):
            path.pop()
            self._after()
        else:
            _garbage(byte)

    def _after(self):
        self._state = _COMMA if self._path else _DONE

    # --- strings

    def _string(self, data, i, size):
        """Take the plain stretch at `i` up to a quote or backslash; return where to go on."""
        end = data.find(b'"', i)
        back = data.find(b"\\", i, size if end < 0 else end)
        if 0 <= end <= i + _BUFFER and back < 0 and not self._used and not self._high:
            # Nearly every string is short and plain, and arrives whole.
            self._give(utf8.decode(data[i:end]), False)
            return end + 1
        if end < 0:
            end = size
        if back >= 0:
            end = back
        if end > i:
            if self._high:
                self._code(0xFFFD)
            self._copy(data, i, end)
        if end == size:
            return end
        if back >= 0:
            self._state = _ESCAPE
        else:
            if self._high:
                self._code(0xFFFD)
            self._flush(False)
        return end + 1

    def _copy(self, data, i, end):
        """Append a stretch to the buffer."""
        while i < end:
            count = min(end - i, _BUFFER - self._used)
            if count:
                self._buf[self._used : self._used + count] = data[i : i + count]
                self._used += count
                i += count
            else:
                self._flush(True)

    def _escape(self, byte):
        if byte == 0x75:
            self._state = _HEX
            self._hex = 1  # a leading one counts the digits
            return
        place = b'"\\/bfnrt'.find(bytes((byte,)))
        if place < 0:
            _garbage(byte)
        if self._high:
            self._code(0xFFFD)
        self._append(b'"\\/\b\f\n\r\t'[place])
        self._state = _STRING

    def _digit(self, byte):
        """Take one digit of \\uXXXX."""
        place = b"0123456789abcdefABCDEF".find(bytes((byte,)))
        if place < 0:
            _garbage(byte)
        self._hex = self._hex * 16 + (place if place < 16 else place - 6)
        if self._hex < 0x10000:
            return
        self._state = _STRING
        code = self._hex - 0x10000
        high = self._high
        if high and 0xDC00 <= code < 0xE000:
            self._high = 0
            self._code(0x10000 + ((high - 0xD800) << 10) + code - 0xDC00)
            return
        if high:
            self._code(0xFFFD)
        if 0xD800 <= code < 0xDC00:
            self._high = code
        else:
            self._code(0xFFFD if 0xDC00 <= code < 0xE000 else code)

    def _code(self, code):
        """Append one character; U+FFFD here stands for a lost first half."""
        self._high = 0
        for byte in chr(code).encode():
            self._append(byte)

    def _append(self, byte):
        if self._used == _BUFFER:
            self._flush(True)
        self._buf[self._used] = byte
        self._used += 1

    def _flush(self, more):
        """Hand over the buffer, but for a UTF-8 sequence that is cut off by the buffer's end."""
        if more and (self._is_key or self._state == _WORD):
            raise ValueError("a key or number in the JSON is longer than %d bytes" % _BUFFER)
        buf = self._buf
        used = self._used
        rest = utf8.cut(buf, used) if more else 0
        text = utf8.decode(memoryview(buf)[: used - rest])
        for k in range(rest):
            buf[k] = buf[used - rest + k]
        self._used = rest
        self._give(text, more)

    def _give(self, text, more):
        """Hand over a string, or a piece of one."""
        if self._is_key:
            self._path[-1] = text
            self._state = _COLON
            return
        if not more:
            self._after()
        self._sink(self._path, text, more)

    # --- numbers and the three words

    def _word(self):
        """A word is complete: hand it over."""
        text = utf8.decode(memoryview(self._buf)[: self._used])
        self._used = 0
        self._after()
        if text == "true":
            value = True
        elif text == "false":
            value = False
        elif text == "null":
            value = None
        else:
            value = _number(text)
        self._sink(self._path, value, False)


def _number(text):
    digits = text[1:] if text[0] == "-" else text
    point = digits.find(".") + 1
    # float() is laxer than JSON; what it refuses itself is not asked here.
    if (
        not "0" <= digits[:1] <= "9"
        or (digits[0] == "0" and "0" <= digits[1:2] <= "9")
        or (point and not "0" <= digits[point : point + 1] <= "9")
        or "_" in digits
    ):
        raise ValueError("the JSON has a wrong word: %s" % text[:20])
    return int(text) if digits.isdigit() else float(text)


def _garbage(byte):
    raise ValueError("the JSON has an unexpected byte 0x%02x" % byte)
