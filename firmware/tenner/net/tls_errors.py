# tenner net.tls_errors: explains TLS failures to the owner.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.net.shortage import SENTENCE, is_short

# Words of a message in lower case, and their meaning: of mbedTLS on MicroPython, of OpenSSL on
# CPython.
_MESSAGES = (
    ("not yet valid|in the future", "is not valid yet: check the board's clock"),
    ("expired", "has expired: check the board's clock, and tell the server's owner"),
    ("common name|mismatch", "is for another host name: check the address in config.json"),
    ("signed|unable to get", "is signed by an authority that is not in /certs: add its DER file"),
    ("certificate", "was refused: check the address in config.json"),
)

_OLD = "the server refused the handshake: it may speak only TLS 1.3, and this board needs TLS 1.2"

_PLAIN = "the server speaks no TLS there: write http:// instead of https://, or its TLS port"

# mbedTLS numbers, which MicroPython raises as OSError; the last two mean a rejected version.
_NUMBERS = {
    -29184: _PLAIN,
    -30592: _OLD,
    -28288: _OLD,
}


def explain(error: BaseException) -> str | None:
    """Return one sentence for a TLS failure or a lack of memory, None for another kind of
    `error`."""
    if is_short(error):
        return SENTENCE
    number = error.args[0] if error.args else 0
    name = type(error).__name__
    # A cut connection is a network failure, also under TLS.
    if number == -29312 or name in ("SSLEOFError", "SSLZeroReturnError"):
        return None
    if isinstance(number, int) and number < -0x2000:
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
    if isinstance(error, OSError):
        return "the server broke the TLS handshake off: check that its address speaks TLS"
    return None
