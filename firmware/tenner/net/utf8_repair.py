# tenner net.utf8_repair: the slow, exact UTF-8 decoder for the rare piece that needs one.
# MIT license; Copyright (c) 2026 the tenner authors


def repair(data):
    """Decode bytes; each longest wrong beginning of a sequence becomes one U+FFFD, as CPython does it."""
    parts = []
    good = i = 0
    size = len(data)
    while i < size:
        step, valid = _sequence(data, i, size)
        if not valid:
            parts.append(str(data[good:i], "utf-8"))
            parts.append("\ufffd")
            good = i + step
        i += step
    parts.append(str(data[good:], "utf-8"))
    return "".join(parts)


def _sequence(data, i, size):
    """Return (length, is it valid) of the sequence at `data[i]`."""
    lead = data[i]
    if lead < 0x80:
        return 1, True
    if lead < 0xC2 or lead > 0xF4:
        return 1, False
    need = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    # The second byte rules out overlong forms, surrogates and numbers past U+10FFFF.
    low = 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80
    high = 0x9F if lead == 0xED else 0x8F if lead == 0xF4 else 0xBF
    for k in range(1, need):
        if i + k >= size or not low <= data[i + k] <= high:
            return k, False
        low, high = 0x80, 0xBF
    return need, True
