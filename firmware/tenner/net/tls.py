# tenner net.tls: makes the TLS context, which always verifies certificates.
# MIT license; Copyright (c) 2026 the tenner authors

import os

try:
    import ssl
except ImportError:
    # Some builds of MicroPython have the built-in module without its wrapper.
    import tls as ssl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from ssl import SSLContext


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
