# tenner net.utf8: turn bytes from outside into text that is always valid UTF-8.
# MIT license; Copyright (c) 2026 the tenner authors
"""
One bad byte in a stored history makes every later request fail, so what cannot be decoded becomes
U+FFFD here, once. MicroPython's own decoder lets overlong forms, surrogates and numbers past U+10FFFF
through and has no "replace"; valid text takes the fast way all the same.
"""


def cut(data, size):
    """Return how many of the last bytes of `data[:size]` begin a sequence that is not complete yet."""
    for back in (1, 2, 3):
        if back > size:
            break
        byte = data[size - back]
        if byte >= 0xC0:
            return back if back < (2 if byte < 0xE0 else 3 if byte < 0xF0 else 4) else 0
        if byte < 0x80:
            break
    return 0


def decode(data):
    """Return bytes-like `data` as str, with U+FFFD in place of what is not UTF-8."""
    try:
        text = str(data, "utf-8")
        if len(text) == len(data) or not _doubtful(data):
            return text
    except UnicodeError:
        pass
    from tenner.net.utf8_repair import repair

    return repair(bytes(data))


def _doubtful(data):
    """Tell whether a lead byte occurs of which only some sequences are valid."""
    data = bytes(data)
    for lead in b"\xed\xe0\xf0\xf4\xc0\xc1\xf5\xf6\xf7":
        if lead in data:
            return True
    return False
