"""Finds the root certificate a host needs, so that a board stores just those."""

from __future__ import annotations

import socket
import ssl
from typing import Any
from urllib.parse import urlsplit

import certifi


class RootError(Exception):
    """A host cannot be reached or does not prove who it is; the text says which and why."""


def root_of(url: str, *, timeout_s: float = 15.0, cafile: str | None = None) -> bytes:
    """The root, in DER, that the chain of the server behind an https `url` ends in."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 443
    context = ssl.create_default_context(cafile=cafile or certifi.where())
    # MicroPython speaks TLS 1.2 only, and a server may use another chain for it.
    context.maximum_version = ssl.TLSVersion.TLSv1_2
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
        raise RootError(f"{host}:{port} cannot be reached: {exc}") from exc
    last = chain[-1]
    return last if isinstance(last, bytes) else ssl.PEM_cert_to_DER_cert(last.public_bytes())
