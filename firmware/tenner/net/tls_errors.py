# tenner net.tls_errors: explains TLS failures to the owner.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.net.shortage import SENTENCE, is_short

# Words of a message in lower case, and their meaning: of mbedTLS on MicroPython, of OpenSSL on
# CPython.
_MESSAGES = (
    ("not yet valid|in the future", "is not valid yet: check the board's clock"),
    ("expired", "has expired: check the board's clock, and tell the server's owner"),
    ("common name|mismatch", "is for another host name: check the address in config.json"),
    # Before the next: mbedTLS says "signed with an unacceptable hash", too.
    (
        "unacceptable|too weak|too small",
        "has a key or a signature that is too weak: tell the server's owner",
    ),
    (
        "signed|signature|unable to get",
        "is signed by an authority that is not in /certs, or its chain is wrong: `tenner doctor`",
    ),
    ("certificate", "was refused: check the address in config.json"),
)

_REFUSED = (
    "the server refused the handshake: it takes none of this board's TLS versions and ciphers; a "
    "chip has no TLS 1.3 and no DHE"
)

_PLAIN = "the server speaks no TLS there: write http:// instead of https://, or its TLS port"

# mbedTLS numbers, which MicroPython raises as OSError.
_NUMBERS = {
    -29184: _PLAIN,
    -30592: _REFUSED,
    -28288: _REFUSED,
    -26112: (
        "the TLS handshake failed (-26112), as in Mbed TLS 3.6.6 at a server with an RSA "
        "certificate and no TLS 1.3: `tenner deploy` brings a newer library"
    ),
}
# X509 numbers, without the reason that is added to them: no such feature, algorithm or signature.
_UNREADABLE = (-0x2080, -0x2300, -0x2600)


def explain(error: BaseException) -> str | None:
    """Return one sentence for a TLS failure or a lack of memory, None for another kind of
    `error`."""
    if is_short(error):
        # net.http adds the missing amount; a system adds its own words.
        text = str(error.args[1]) if len(error.args) > 1 else ""
        return text if " KB " in text else SENTENCE
    number = error.args[0] if error.args else 0
    name = type(error).__name__
    # A cut connection is a network failure, also under TLS.
    if number == -29312 or name in ("SSLEOFError", "SSLZeroReturnError"):
        return None
    if isinstance(number, int) and number < -0x2000:
        if -(-number & 0x7F80) in _UNREADABLE:
            return (
                "the server's certificate has a signature that this board cannot read (RSA-PSS?)"
            )
        return _NUMBERS.get(number) or "the TLS handshake failed (%d): try again later" % number
    if not isinstance(error, ValueError) and not name.startswith("SSL"):
        return None
    text = str(error).lower()
    if "wrong_version_number" in text or "record layer failure" in text:
        return _PLAIN
    for words, meaning in _MESSAGES:
        for word in words.split("|"):
            if word in text:
                return "the server's certificate " + meaning
    if "alert" in text or "unsupported_protocol" in text:
        return _REFUSED
    if isinstance(error, OSError):
        return "the server broke the TLS handshake off: check that its address speaks TLS"
    return None
