# tenner page.tls: the TLS context of the page's server.
# MIT license; Copyright (c) 2026 the tenner authors

from binascii import a2b_base64

from tenner.port.compat import const
from tenner.store import files

try:
    import ssl
except ImportError:
    # Some builds of MicroPython have the built-in module without its wrapper.
    import tls as ssl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from ssl import SSLContext
    from typing import Any

_MAX_BYTES = const(16384)


def context(path: "Callable[[str], str]", cert: str, key: str) -> "SSLContext | Sockets | None":
    """
    Return a context with the certificate and the key of these files, None without any; OSError or
    ValueError with a sentence for a mistake. `path(name)` is a file below the agent's folder.
    """
    if not cert and not key:
        return None
    if not cert or not key:
        raise ValueError("web.cert and web.key go together")
    places = [name if name[:1] == "/" else path(name) for name in (cert, key)]
    for place in places:
        if not files.is_file(place):
            raise ValueError("%s of web.cert or web.key is no file" % place)
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        if hasattr(made, "minimum_version"):
            made.load_cert_chain(*places)
        else:
            # MicroPython's reader knows DER only, and takes one certificate.
            made.load_cert_chain(_der(places[0], b"CERTIFICATE"), _der(places[1], b"PRIVATE KEY"))
            made = Sockets(made)
    except (OSError, ValueError) as error:
        raise ValueError("web.cert and web.key are no certificate and its key: %s" % error)
    return made


class Sockets:
    """
    Wraps the context of MicroPython, whose TLS session does not close its socket once the
    handshake has failed.
    """

    def __init__(self, context: "SSLContext") -> None:
        self._context = context
        # The socket below each open session.
        self._below = {}

    def wrap_socket(self, sock: "Any", **options: "Any") -> "Any":
        made = self._context.wrap_socket(sock, **options)
        self._below[id(made)] = sock
        return made

    def close(self, session: "Any") -> None:
        """Close the socket of a session that is closed."""
        sock = self._below.pop(id(session), None)
        if sock is not None:
            sock.close()


def _der(place, kind):
    """Return the bytes of a file in DER, or of the first block of this kind in one in PEM."""
    with open(place, "rb") as file:
        data = file.read(_MAX_BYTES)
    for block in data.split(b"-----BEGIN ")[1:]:
        name, _, text = block.partition(b"-----")
        if name.endswith(kind):
            lines = text.split(b"-----END ")[0].split(b"\n")
            return a2b_base64(b"".join([line.strip() for line in lines]))
    return data
