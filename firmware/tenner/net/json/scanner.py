# tenner net.json.scanner: a JSON parser for streams that never holds a document.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The pieces may be cut at any byte. Memory is one fixed buffer and the path of the current value,
for any size of the document. The scanner accepts raw control characters inside strings, since some
servers send them; anything else that is not JSON raises ValueError.
"""

from tenner.net.json.writer import cut, decode
from tenner.port.compat import const
from tenner.store.json_strict import unescape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Scalar = bool | int | float | str | None
    Sink = Callable[[list[int | str], Scalar, bool], None]

_BUFFER = const(256)

# The state: the kind of token that may come next.
_VALUE = const(0)
_FIRST_VALUE = const(1)  # a value or ]
_FIRST_KEY = const(2)  # a key or }
_KEY = const(3)
_COLON = const(4)
_COMMA = const(5)  # , or the closing bracket
_DONE = const(6)  # nothing but space
_STRING = const(7)  # the rest of a string

_STOPS = (b",", b"}", b"]")
_SPACE = b" \n\r\t"  # fewer than `strip` removes by default
_WORDS = {b"null": None, b"true": True, b"false": False}


class Scanner:
    """
    Calls `sink(path, value, more)` for every string, number, true, false and null; with `wanted`
    only for those in these members of the document. `path` is the list of keys (str) and indexes
    (int) of the value; it is reused, so copy it to keep it. A string of at most 256 bytes arrives
    complete, a longer one in pieces, with `more` true for all but the last. Empty objects and
    arrays make no call.
    """

    #: Maximum nesting of brackets; a deeper document is an error.
    max_depth = 24

    def __init__(self, sink: "Sink", wanted: "Sequence[str] | None" = None) -> None:
        self._sink = sink
        self._wanted = wanted
        self._buf = bytearray(_BUFFER)  # the current string
        self.reset()

    def reset(self) -> None:
        """Prepare for the next document."""
        self._path = []
        self._state = _VALUE
        self._is_key = False
        self._told = True  # is this member wanted?
        self._used = 0
        self._held = b""  # the beginning of a word or an escape that the piece cuts

    def feed(self, data: bytes | memoryview) -> None:
        """Parse the next bytes, cut anywhere."""
        # A board spends most of its time in this loop: frequent cases first, attributes in local
        # variables.
        data = self._held + data
        self._held = b""
        find = data.find
        size = len(data)
        path = self._path
        state = self._state
        is_list = bool(path) and isinstance(path[-1], int)
        i = 0
        if state == _STRING:
            i = self._strings(data, 0, size)
            state = self._state
        while i < size:
            byte = data[i]
            if byte == 0x22:
                if state > _KEY:
                    raise _unexpected(byte)
                i += 1
                end = find(b'"', i)
                if end < 0 or end - i > _BUFFER or find(b"\\", i, end) >= 0:
                    self._is_key = state >= _FIRST_KEY
                    self._state = _STRING
                    i = self._strings(data, i, size)
                    state = self._state
                elif state >= _FIRST_KEY:
                    path[-1] = decode(data[i:end])
                    if self._wanted and len(path) == 1:
                        self._told = path[0] in self._wanted
                    i = end + 1
                    state = _COLON
                    if i < size and data[i] == 0x3A:
                        i += 1
                        state = _VALUE
                else:
                    state = _COMMA if path else _DONE
                    if self._told:
                        self._sink(path, decode(data[i:end]), False)
                    i = end + 1
            elif byte == 0x2C and state == _COMMA:
                i += 1
                if is_list:
                    path[-1] += 1
                    state = _VALUE
                else:
                    state = _KEY
            elif byte == 0x7B or byte == 0x5B:
                if state > _FIRST_VALUE:
                    raise _unexpected(byte)
                if len(path) >= self.max_depth:
                    raise _wrong("is nested deeper than %d" % self.max_depth)
                i += 1
                is_list = byte == 0x5B
                path.append(0 if is_list else "")
                state = _FIRST_VALUE if is_list else _FIRST_KEY
            elif byte == 0x7D or byte == 0x5D:
                if (
                    state != _COMMA and state != (_FIRST_VALUE if is_list else _FIRST_KEY)
                ) or is_list != (byte == 0x5D):
                    raise _unexpected(byte)
                i += 1
                path.pop()
                is_list = bool(path) and isinstance(path[-1], int)
                state = _COMMA if path else _DONE
            elif byte in _SPACE:
                i += 1
            elif state <= _FIRST_VALUE:
                self._state = state
                i = self._take_word(data, i, size)
                state = self._state
            elif byte == 0x3A and state == _COLON:
                i += 1
                state = _VALUE
            else:
                raise _unexpected(byte)
        self._state = state

    def end(self) -> None:
        """End the document; raise ValueError when it is incomplete."""
        if self._held and self._state == _VALUE and not self._path:
            self._state = _DONE
            self._sink(self._path, _word(self._held.strip(_SPACE)), False)
        if self._state != _DONE:
            raise _wrong("ends in the middle")

    def _take_word(self, data, i, size):
        """Parse the number, true, false or null at `i`; return the offset after it."""
        end = size
        for stop in _STOPS:
            place = data.find(stop, i, end)
            if place >= 0:
                end = place
        word = data[i:end].strip(_SPACE)
        if len(word) > _BUFFER:
            raise _wrong("has a word longer than %d bytes" % _BUFFER)
        if end == size:
            self._held = word if data[-1] == word[-1] else word + b" "
        else:
            self._state = _COMMA if self._path else _DONE
            value = _word(word)
            if self._told:
                self._sink(self._path, value, False)
        return end

    # --- strings

    def _strings(self, data, i, size):
        """Parse this piece of a string that is cut, long, or has escapes; return the offset after
        it."""
        while i < size and self._state == _STRING:
            i = self._string(data, i, size)
        return i

    def _string(self, data, i, size):
        """Copy the stretch at `i` up to a quote, or to the end of an escape; return the offset
        after it."""
        end = data.find(b'"', i)
        back = data.find(b"\\", i, size if end < 0 else end)
        stop = back if back >= 0 else end if end >= 0 else size
        self._copy(data, i, stop)
        if back >= 0:
            try:
                char, i = unescape(data, back)
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
        """Hand over the buffer, except a UTF-8 sequence that the buffer's end cuts."""
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
            if self._wanted and len(self._path) == 1:
                self._told = text in self._wanted
        else:
            if not more:
                self._state = _COMMA if self._path else _DONE
            if self._told:
                self._sink(self._path, text, more)


def _wrong(what):
    return ValueError("the JSON " + what)


def _unexpected(byte):
    return _wrong("has an unexpected byte 0x%02x" % byte)


def _word(word):
    """Return the value of a number, or of one of the three words."""
    if word in _WORDS:
        return _WORDS[word]
    if word.isdigit() and (word[0] != 0x30 or len(word) == 1):
        return int(word)
    text = decode(word)
    digits = text[1:] if text[:1] == "-" else text
    point = digits.find(".") + 1
    # float() accepts more than JSON: reject the difference here.
    if (
        not "0" <= digits[:1] <= "9"
        or (digits[0] == "0" and "0" <= digits[1:2] <= "9")
        or (point and not "0" <= digits[point : point + 1] <= "9")
        or "_" in digits
    ):
        raise _wrong("has a wrong word: %s" % text[:20])
    return int(text) if digits.isdigit() else float(text)
