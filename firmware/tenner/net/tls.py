# tenner net.tls: makes the TLS context, which always verifies, and explains failures.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from ssl import SSLContext

try:
    import ssl
except ImportError:
    # Some builds of MicroPython have the built-in module without its wrapper.
    import tls as ssl


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

ENOMEM = const(12)

#: For a person; this memory is not Python's heap.
SENTENCE = (
    "the board has too little memory left for a connection; it restarts itself if that lasts"
)

# ENOMEM, lwIP's name look-up, and mbedTLS numbers ending in ALLOC_FAILED: SSL, X509, PK, ECP, MD,
# cipher, PEM.
_LACKS = (ENOMEM, -203, -32512, -10368, -16256, -19840, -20864, -24960, -4480)
# The low part of mbedTLS numbers that are the sum of two: big integers and ASN.1 without memory.
_LOW = (0x10, 0x6A)
_FIRST_SUM = const(-0x1000)


def context(
    certs_dir: str, system: "Callable[[Callable[[bytes], None]], int] | None" = None
) -> "SSLContext":
    """
    Return a client context that trusts the certificate authorities in `certs_dir`, one DER file
    each. If the folder has none, it trusts those of the system: CPython finds them; elsewhere
    `system(take)` calls `take` with each, and returns their number. OSError when there is no
    certificate at all: a context without one could not verify anything.
    """
    names = []
    try:
        names = [name for name in os.listdir(certs_dir) if name.endswith(".der")]
    except OSError:
        names = []  # no folder counts as an empty one
    if not names and hasattr(ssl, "create_default_context"):
        return ssl.create_default_context()
    result = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # MicroPython's default depends on the module; CPython also checks the host name by default.
    result.verify_mode = ssl.CERT_REQUIRED
    for name in names:
        with open(certs_dir + "/" + name, "rb") as file:
            data = file.read()
        try:
            _trust(result, data)
        except (OSError, ValueError) as error:
            raise OSError("%s/%s is no certificate in DER form: %s" % (certs_dir, name, error))
    if not names and not (system and system(lambda data: _trust(result, data))):
        raise OSError("there are no certificates in %s: run `tenner setup`" % certs_dir)
    return result


def only(certificate: bytes) -> "SSLContext":
    """Return a client context that trusts this certificate alone, in DER form; ValueError or
    OSError if it is none."""
    result = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    result.verify_mode = ssl.CERT_REQUIRED
    _trust(result, certificate)
    return result


def _trust(result, data):
    if ssl.__name__ == "tls":
        result.load_verify_locations(data)
    else:
        result.load_verify_locations(cadata=data)


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


def is_short(error: BaseException | None) -> bool:
    """Return whether this OSError of a connection means a lack of memory."""
    number = error.args[0] if isinstance(error, OSError) and error.args else None
    if not isinstance(number, int):
        return False
    return number in _LACKS or (number <= _FIRST_SUM and -number & 0x7F in _LOW)
