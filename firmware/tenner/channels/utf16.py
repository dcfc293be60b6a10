# tenner channels.utf16: text as Telegram counts it, and as UTF-8 that nobody refuses.
# MIT license; Copyright (c) 2026 the tenner authors


def units(raw):
    """Return how many UTF-16 units the UTF-8 bytes `raw` make."""
    # The only lead bytes of characters that take two.
    return len(raw.decode()) + sum(
        raw.count(lead) for lead in (b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4")
    )


def clean(text):
    """Return `text` as valid UTF-8 with plain line ends: half a surrogate pair would be refused."""
    if isinstance(text, str):
        try:
            text = text.encode()
        except UnicodeError:  # CPython; MicroPython encodes a surrogate as if it were a character
            text = text.encode("utf-8", "surrogatepass")
    if b"\xed" in text:
        from tenner.net.jsonout import valid

        text = valid(text)
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\x00", b"")
