# tenner net.utf8_repair: the slow, exact UTF-8 decoder for the rare piece that needs one.
# MIT license; Copyright (c) 2026 the tenner authors


def repair(data: bytes | bytearray | memoryview) -> str:
    """Decode bytes; each longest invalid prefix of a sequence becomes one U+FFFD, as in
    CPython."""
    parts = []
    good = i = 0
    size = len(data)
    while i < size:
        start = i
        lead = data[i]
        i += 1
        if lead < 0x80:
            continue
        left = 0 if lead < 0xC2 or lead > 0xF4 else 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        wrong = left == 0
        # The second byte rules out overlong forms, surrogates and numbers past U+10FFFF.
        low = 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80
        high = 0x9F if lead == 0xED else 0x8F if lead == 0xF4 else 0xBF
        while left and i < size and low <= data[i] <= high:
            low = 0x80
            high = 0xBF
            left -= 1
            i += 1
        if left or wrong:
            parts.append(str(data[good:start], "utf-8"))
            parts.append("\ufffd")
            good = i
    parts.append(str(data[good:], "utf-8"))
    return "".join(parts)
