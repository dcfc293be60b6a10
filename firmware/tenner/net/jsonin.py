# tenner net.jsonin: a JSON parser that is fed a stream and holds none of it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The document may be cut at any byte. Memory is one fixed buffer and the path of the current value,
whatever the document's size. Raw control characters inside strings are taken, as sloppy servers send
them; anything else that is not JSON is a ValueError.
"""

from tenner.net.jsonout import cut, decode
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
_STRING = const(7)  # the rest of a string


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
        self._buf = bytearray(_BUFFER)  # the current string
        self.reset()

    def reset(self):
        """Be ready for the next document."""
        self._path = []
        self._state = _VALUE
        self._is_key = False
        self._used = 0
        self._held = b""  # the beginning of a word or an escape that is cut off

    def feed(self, data):
        """Take the next bytes, cut anywhere."""
        data = self._held + data
        self._held = b""
        size = len(data)
        path = self._path
        i = 0
        while i < size:
            state = self._state
            if state == _STRING:
                i = self._string(data, i, size)
                continue
            byte = data[i]
            i += 1
            # The most frequent first: this loop is what a board spends its time in.
            if byte == 0x22 and state <= _KEY:
                self._is_key = state >= _FIRST_KEY
                self._state = _STRING
            elif byte == 0x3A and state == _COLON:
                self._state = _VALUE
            elif byte == 0x2C and state == _COMMA:
                if isinstance(path[-1], int):
                    path[-1] += 1
                    self._state = _VALUE
                else:
                    self._state = _KEY
            elif byte in b" \n\r\t":
                pass
            elif (byte == 0x7B or byte == 0x5B) and state <= _FIRST_VALUE:
                if len(path) >= self.max_depth:
                    raise _wrong("is nested deeper than %d" % self.max_depth)
                path.append("" if byte == 0x7B else 0)
                self._state = _FIRST_KEY if byte == 0x7B else _FIRST_VALUE
            elif (state == _FIRST_VALUE or state == _FIRST_KEY or state == _COMMA) and byte == (
                0x5D if isinstance(path[-1], int) else 0x7D
            ):
                path.pop()
                self._state = _COMMA if path else _DONE
            elif state <= _FIRST_VALUE:
                start = i - 1
                while i < size and data[i] not in b",]} \n\r\t":
                    i += 1
                if i - start > _BUFFER:
                    raise _wrong("has a word longer than %d bytes" % _BUFFER)
                if i == size:
                    self._held = data[start:]
                else:
                    self._state = _COMMA if path else _DONE
                    self._sink(path, _word(decode(data[start:i])), False)
            else:
                raise _wrong("has an unexpected byte 0x%02x" % byte)

    def end(self):
        """The document is over; ValueError when it is not complete."""
        if self._held:
            self.feed(b" ")
        if self._state != _DONE:
            raise _wrong("ends in the middle")

    # --- strings

    def _string(self, data, i, size):
        """Take the stretch at `i` up to a quote, or to the end of an escape; return where to go on."""
        end = data.find(b'"', i)
        back = data.find(b"\\", i, size if end < 0 else end)
        if 0 <= end <= i + _BUFFER and back < 0 and not self._used:
            # Nearly every string is short and plain, and arrives whole.
            self._give(decode(data[i:end]), False)
            return end + 1
        stop = back if back >= 0 else end if end >= 0 else size
        self._copy(data, i, stop)
        if back >= 0:
            try:
                char, i = _unescape(data, back)
            except IndexError:
                self._held = data[back:]
                return size
            self._copy(char, 0, len(char))
            return i
        if end >= 0:
            self._flush(False)
        return stop + 1

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

    def _flush(self, more):
        """Hand over the buffer, but for a UTF-8 sequence that is cut off by the buffer's end."""
        if more and self._is_key:
            raise _wrong("has a key longer than %d bytes" % _BUFFER)
        buf = self._buf
        used = self._used
        rest = cut(buf, used) if more else 0
        text = decode(memoryview(buf)[: used - rest])
        buf[:rest] = buf[used - rest : used]
        self._used = rest
        self._give(text, more)

    def _give(self, text, more):
        """Hand over a string, or a piece of one."""
        if self._is_key:
            self._path[-1] = text
            self._state = _COLON
        else:
            if not more:
                self._state = _COMMA if self._path else _DONE
            self._sink(self._path, text, more)


def _wrong(what):
    return ValueError("the JSON " + what)


def _unescape(data, i):
    """Return (character in UTF-8, place after it) of the escape at `data[i]`; IndexError if it is cut off."""
    byte = data[i + 1]
    if byte != 0x75:
        place = b'"\\/bfnrt'.find(bytes((byte,)))
        if place < 0:
            raise _wrong("has an unknown escape")
        return b'"\\/\b\f\n\r\t'[place : place + 1], i + 2
    code = _unit(data, i)
    i += 6
    # The second half of a surrogate pair follows the first, or neither means anything.
    if 0xD800 <= code < 0xDC00 and data[i] == 0x5C and data[i + 1] == 0x75:
        low = _unit(data, i)
        if 0xDC00 <= low < 0xE000:
            return chr(0x10000 + ((code - 0xD800) << 10) + low - 0xDC00).encode(), i + 6
    return chr(0xFFFD if 0xD800 <= code < 0xE000 else code).encode(), i


def _unit(data, i):
    """Return the number in \\uXXXX."""
    code = 0
    for k in range(i + 2, i + 6):
        place = b"0123456789abcdefABCDEF".find(bytes((data[k],)))
        if place < 0:
            raise _wrong("has a wrong \\u")
        code = code * 16 + (place if place < 16 else place - 6)
    return code


def _word(text):
    """Return the value of a number, or of one of the three words."""
    if text == "true":
        return True
    if text == "false":
        return False
    if text == "null":
        return None
    digits = text[1:] if text[0] == "-" else text
    point = digits.find(".") + 1
    # float() is laxer than JSON; what it refuses itself is not asked here.
    if (
        not "0" <= digits[:1] <= "9"
        or (digits[0] == "0" and "0" <= digits[1:2] <= "9")
        or (point and not "0" <= digits[point : point + 1] <= "9")
        or "_" in digits
    ):
        raise _wrong("has a wrong word: %s" % text[:20])
    return int(text) if digits.isdigit() else float(text)
