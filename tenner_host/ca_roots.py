"""Find the root certificate that a host needs, so that a board stores only those roots."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import certifi

from tenner_host.errors import unreached


class RootError(Exception):
    """A host is unreachable or does not prove its identity; the text names it and the reason."""


class Unreachable(RootError):
    """No server answers there now."""


def root_of(
    url: str,
    *,
    timeout_s: float = 15.0,
    cafile: str | None = None,
    trusted: Iterable[bytes] = (),
) -> bytes:
    """The root, in DER, that the chain of the TLS server at `url` ends in.

    Public authorities are trusted, those of $SSL_CERT_FILE and $SSL_CERT_DIR, of `cafile` (PEM),
    and `trusted` (DER).
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 443
    context = _context(cafile, trusted)
    try:
        with (
            socket.create_connection((host, port), timeout_s) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            # Public since Python 3.13; the same call has been there underneath since 3.10.
            source: Any = secure
            if not hasattr(source, "get_verified_chain"):
                source = source._sslobj
            chain = source.get_verified_chain()
    except ssl.SSLError as exc:
        raise RootError(f"{host}:{port} cannot be verified: {exc.reason or exc}") from exc
    except OSError as exc:
        raise Unreachable(
            unreached(host, exc) or f"{host}:{port} cannot be reached: {exc}"
        ) from exc
    last = chain[-1]
    return last if isinstance(last, bytes) else ssl.PEM_cert_to_DER_cert(last.public_bytes())


def _context(cafile: str | None, trusted: Iterable[bytes]) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=certifi.where())
    # MicroPython speaks TLS 1.2 only, and a server may use another chain for it.
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    for place, kind, path in (
        (cafile, "cafile", cafile),
        ("$SSL_CERT_FILE", "cafile", os.environ.get("SSL_CERT_FILE")),
        ("$SSL_CERT_DIR", "capath", os.environ.get("SSL_CERT_DIR")),
    ):
        if path:
            try:
                context.load_verify_locations(**{kind: path})
            except ssl.SSLError as exc:
                raise RootError(f"{place} holds no certificate in PEM form") from exc
            except OSError as exc:
                raise RootError(f"{place} cannot be read: {exc.strerror}: {path}") from exc
    for der in trusted:
        context.load_verify_locations(cadata=der)
    return context
