"""Find the root certificate that a host needs, so that a board stores only those roots."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import certifi

from tenner_host.errors import reason, unreached


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
            unreached(host, exc) or f"{host}:{port} cannot be reached: {reason(exc)}"
        ) from exc
    last = chain[-1]
    return last if isinstance(last, bytes) else ssl.PEM_cert_to_DER_cert(last.public_bytes())


def chain_fault(host: str, port: int, timeout_s: float = 15.0) -> str | None:
    """The fault of the chain that a server sends, as a clause about the server.

    None: its order is right and it is complete, or this computer cannot see it.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # Nothing is said to the server: its certificates are looked at, and belief is another's task.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        with (
            socket.create_connection((host, port), timeout_s) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            source: Any = secure
            infos = [one.get_info() for one in source._sslobj.get_unverified_chain() or []]
    except (OSError, AttributeError):
        return None
    subjects = [info["subject"] for info in infos]
    for place, info in enumerate(infos):
        if info["issuer"] == info["subject"] or info["issuer"] in subjects[place + 1 : place + 2]:
            continue
        if info["issuer"] in subjects:
            return "sends its certificates in the wrong order: tell its owner"
        if place == 0 and _is_below_an_intermediate(info):
            name = dict(part[0] for part in info["issuer"]).get("commonName", "its issuer")
            return f"sends its certificate without the certificate of {name!r}: tell its owner"
    return None


def _is_below_an_intermediate(info: dict[str, Any]) -> bool:
    """Does the issuer publish a certificate of its own? A root need not."""
    return bool(info.get("caIssuers") or info.get("OCSP"))


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
