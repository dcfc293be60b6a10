# tenner net.tls_errors: what a TLS failure means for the owner.
# MIT license; Copyright (c) 2026 the tenner authors

# Words of a message in lower case, and the meaning. MicroPython's messages are mbedTLS's, CPython's OpenSSL's.
_MESSAGES = (
    (
        ("not yet valid", "in the future"),
        "certificate is not valid yet: check the board's clock (time.ntp_host in config.json)",
    ),
    (
        ("expired",),
        "certificate has expired: check the board's clock, and tell whoever runs the server",
    ),
    (
        ("common name", "hostname mismatch", "address mismatch"),
        "certificate is for another host name: check the address in config.json",
    ),
    (
        ("correctly signed", "unable to get", "self-signed", "self signed"),
        "certificate is signed by an authority that is not in /certs: add its DER file there",
    ),
    (("certificate",), "certificate was refused: check the address in config.json"),
)

_OLD = "the server refused the handshake: it may speak only TLS 1.3, and this board needs TLS 1.2"

# mbedTLS numbers, which MicroPython raises as OSError.
_NUMBERS = {
    # An alert, or no version in common: both are how a refused protocol version looks.
    -30592: _OLD,
    -28288: _OLD,
    -30336: "no certificate authority is loaded: put its DER file into /certs",
    -32512: "the board has too little memory left for TLS: restart it",
}


def explain(error):
    """Return one sentence for a TLS failure, or None when `error` is of another kind."""
    number = error.args[0] if error.args else 0
    name = type(error).__name__
    # A connection that was cut is a matter of the network, also under TLS.
    if number == -29312 or name in ("SSLEOFError", "SSLZeroReturnError"):
        return None
    if isinstance(number, int) and number < -0x2000:
        return (
            _NUMBERS.get(number) or "the TLS handshake failed (error %d): try again later" % number
        )
    if not isinstance(error, ValueError) and not name.startswith("SSL"):
        return None
    text = str(error).lower()
    for words, meaning in _MESSAGES:
        for word in words:
            if word in text:
                return "the server's " + meaning
    if isinstance(error, OSError):
        return "the server broke the TLS handshake off: check that its address speaks TLS"
    return None
