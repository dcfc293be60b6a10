# tenner channels.utf16: text as Telegram counts it, and as UTF-8 that nobody refuses.
# MIT license; Copyright (c) 2026 the tenner authors


def units(raw):
    """Return how many UTF-16 units the UTF-8 bytes `raw` make."""
    # The only lead bytes of characters that take two.
    return len(raw.decode()) + sum(
        raw.count(lead) for lead in (b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4")
    )


def clean(text):
    """Return `text` as valid UTF-8: pairs of surrogates joined, single ones replaced, no CR or NUL."""
    if isinstance(text, str):
        try:
            text = text.encode()
        except UnicodeError:  # CPython; MicroPython encodes a surrogate as if it were a character
            text = text.encode("utf-8", "surrogatepass")
    text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\x00", b"")
    at = text.find(b"\xed")
    while at >= 0:
        if text[at + 1] >= 0xA0:
            low = text[at + 3 : at + 6]
            if text[at + 1] < 0xB0 and low[:1] == b"\xed" and low[1] >= 0xB0:
                code = (text[at + 1] & 0x0F) << 16 | (text[at + 2] & 0x3F) << 10
                code += 0x10000 | (low[1] & 0x0F) << 6 | (low[2] & 0x3F)
                text = text[:at] + chr(code).encode() + text[at + 6 :]
            else:
                text = text[:at] + b"\xef\xbf\xbd" + text[at + 3 :]
        at = text.find(b"\xed", at + 1)
    return text
