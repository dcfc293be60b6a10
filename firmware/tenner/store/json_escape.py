# tenner store.json_escape: decodes the escapes of a JSON string.
# MIT license; Copyright (c) 2026 the tenner authors

_SHORT = b'"\\/bfnrt'
_MEANING = b'"\\/\b\f\n\r\t'
_HEX = b"0123456789abcdefABCDEF"


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
