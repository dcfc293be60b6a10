"""The root certificates that a board needs for its settings, and their expiry."""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import certifi

from tenner_host.ca_roots import RootError, Unreachable, root_of
from tenner_host.errors import CommandError
from tenner_host.setup.settings import Settings, get

FOLDER = "/certs"
_SOON_S = 180 * 86400
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_OWN = "; a server with its own authority needs --ca FILE"


@dataclass(frozen=True)
class Root:
    """A root certificate: its file on the board, and its hosts."""

    name: str
    der: bytes
    subject: str
    expires: float
    hosts: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return f"{FOLDER}/{self.name}.der"

    @property
    def until(self) -> str:
        return time.strftime("%Y-%m-%d", time.gmtime(self.expires))

    @property
    def ends_soon(self) -> bool:
        return self.expires - time.time() < _SOON_S


def describe(der: bytes) -> Root:
    """Read a certificate; CommandError if it is invalid."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=der)
        found: dict[str, Any] = context.get_ca_certs()[0]
    except (ssl.SSLError, IndexError) as exc:
        raise CommandError(f"this is no certificate of an authority: {exc}") from exc
    names = {key: value for part in found["subject"] for key, value in part}
    subject = (
        names.get("commonName")
        or names.get("organizationalUnitName")
        or names.get("organizationName", "root")
    )
    slug = re.sub(r"[^a-z0-9]+", "-", subject.lower()).strip("-") or "root"
    return Root(slug[:40], der, subject, ssl.cert_time_to_seconds(found["notAfter"]))


def addresses(settings: Settings) -> list[str]:
    """Every address that the agent will use over TLS, each host once."""
    urls = [str(get(settings, "llm.base_url"))]
    if get(settings, "telegram.token"):
        urls.append(str(get(settings, "telegram.base_url")))
    if get(settings, "mqtt.host") and get(settings, "mqtt.tls"):
        urls.append(f"mqtts://{get(settings, 'mqtt.host')}:{get(settings, 'mqtt.port')}")
    urls += _https(settings)
    found: dict[str, str] = {}
    for url in urls:
        if url.startswith(("https://", "mqtts://")):
            found.setdefault(urlsplit(url).netloc, url)
    return list(found.values())


def _https(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value.startswith("https://"):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _https(inner)


def roots_for(
    settings: Settings,
    ca_file: Path | None = None,
    trusted: Iterable[bytes] = (),
    unproven: list[str] | None = None,
) -> list[Root]:
    """The roots that these settings need, from the servers themselves.

    Public authorities may prove a server, and those of `ca_file` (PEM) and `trusted` (DER). With a
    list as `unproven`, a server that is unreachable or unproven gets a sentence there instead of a
    CommandError; the roots of `ca_file` then count as its roots.
    """
    found: dict[bytes, Root] = {}
    known = [der for der in trusted if _is_certificate(der)]
    for url in addresses(settings):
        host = urlsplit(url).netloc
        try:
            ders = [root_of(url, cafile=str(ca_file) if ca_file else None, trusted=known)]
        except RootError as exc:
            if unproven is None:
                own = "" if ca_file or isinstance(exc, Unreachable) else _OWN
                raise CommandError(f"{exc}: its root certificate cannot be found{own}") from exc
            unproven.append(str(exc))
            ders = _certificates(ca_file) if ca_file else []
        for der in ders:
            root = found.get(der) or describe(der)
            found[der] = Root(root.name, der, root.subject, root.expires, (*root.hosts, host))
    return list(found.values())


def _is_certificate(der: bytes) -> bool:
    try:
        describe(der)
    except CommandError:
        return False
    return True


def _certificates(path: Path) -> list[bytes]:
    """Each certificate of a PEM file, in DER."""
    text = path.read_text(encoding="ascii", errors="ignore")
    return [ssl.PEM_cert_to_DER_cert(found) for found in _PEM.findall(text)]


def superfluous(there: dict[str, bytes], needed: list[Root]) -> list[str]:
    """Files in /certs that any setup can restore: public roots that no setting needs."""
    public = set(_certificates(Path(certifi.where())))
    wanted = {root.der for root in needed}
    names = {root.path for root in needed}
    return [
        path
        for path, der in there.items()
        if path not in names and (der in wanted or der in public)
    ]
