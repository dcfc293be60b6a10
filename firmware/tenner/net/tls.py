# tenner net.tls: the one TLS context, which always verifies certificates.
# MIT license; Copyright (c) 2026 the tenner authors

import os

try:
    import ssl

    def _trust(context, der):
        context.load_verify_locations(cadata=der)

except ImportError:
    # Some builds of MicroPython have the built-in module without its wrapper, and its keywords.
    import tls as ssl

    def _trust(context, der):
        context.load_verify_locations(der)


def context(certs_dir):
    """
    Return a client context that trusts the certificate authorities in `certs_dir`, one DER file each.
    Where the system has its own (CPython) and the folder none, those are trusted. OSError when there
    is no certificate at all: without one nothing can be verified, and nothing unverified is done.
    """
    names = []
    try:
        names = sorted([name for name in os.listdir(certs_dir) if name.endswith(".der")])
    except OSError:
        names = []  # no folder is the same as an empty one
    if not names and hasattr(ssl, "create_default_context"):
        return ssl.create_default_context()
    if not names:
        raise OSError("there are no certificates in %s: run `tenner setup`" % certs_dir)
    result = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # MicroPython's default depends on the module; CPython also checks the host name by default.
    result.verify_mode = ssl.CERT_REQUIRED
    for name in names:
        path = certs_dir + "/" + name
        with open(path, "rb") as file:
            data = file.read()
        try:
            _trust(result, data)
        except (OSError, ValueError) as error:
            raise OSError("%s is no certificate in DER form: %s" % (path, error))
    return result


def explain(error):
    """Return one sentence for a TLS failure: what, and what to do. None when it is none."""
    from tenner.net import tls_errors

    return tls_errors.explain(error)
