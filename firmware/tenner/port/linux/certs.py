# tenner port.linux.certs: the authorities a Linux system trusts, for TLS that does not find them.
# MIT license; Copyright (c) 2026 the tenner authors

import binascii

from tenner.log import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Where distributions keep them: one file of PEM text.
PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/cert.pem",
)


def each(trust: "Callable[[bytes], None]", places: "Sequence[str]" = PLACES) -> int:
    """Call `trust` with every certificate of the first file that is there, as DER; return how many
    it took."""
    for place in places:
        try:
            with open(place, "rb") as file:
                return _read(file, trust, place)
        except OSError:
            continue
    return 0


def _read(file, trust, place):
    # Decoded here, line by line: many builds of mbedtls know only DER, and the entire file is 200
    # KB.
    taken = left = 0
    data = None
    for line in file:
        if line.startswith(b"-----BEGIN"):
            data = bytearray()
        elif line.startswith(b"-----END") and data is not None:
            try:
                trust(bytes(data))
                taken += 1
            except (OSError, ValueError):  # such as one with a kind of key that this build lacks
                left += 1
            data = None
        elif data is not None:
            data += binascii.a2b_base64(line.strip())
    if left:
        log("tls", "%d of %d certificates in %s cannot be used" % (left, left + taken, place))
    return taken
