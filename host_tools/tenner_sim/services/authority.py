"""A temporary certificate authority, new for every run; it never leaves loopback."""

from __future__ import annotations

import datetime
import ssl
from collections.abc import Sequence
from pathlib import Path

import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from .chains import CHAINS, Hierarchy, Validity

#: Names a valid certificate covers: all names that clients use for loopback.
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")

#: Kinds of certificate that `Authority.server_context` can issue. "impostor" has the names of the
#: right chain, and a root with another key.
CERTIFICATES = (
    "right", "wrong-name", "expired", "not-yet-valid", "other-ca", "impostor", "no-intermediate",
    "misordered",
)  # fmt: skip

#: Which versions of TLS a server takes.
VERSIONS = {
    "any": (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.MAXIMUM_SUPPORTED),
    "1.2": (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_2),
    "1.3": (ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3),
}

_DAY = datetime.timedelta(days=1)


class Authority:
    """Issue valid certificates, and every invalid kind that a client must refuse.

    `der` is the root for clients. `chain`, one of `chains.CHAINS`, is that of a certificate for
    which none is named; an authority for "small" issues nothing else.
    """

    def __init__(self, chain: str = "rsa") -> None:
        if chain not in CHAINS:
            raise ValueError(f"unknown chain {chain!r}; available: {', '.join(CHAINS)}")
        self.chain = chain
        self._hierarchy: Hierarchy | None = None
        self._other: Hierarchy | None = None
        if chain == "small":
            small = trustme.CA(organization_name="tenner local services")
            self._small = small
            root = x509.load_pem_x509_certificate(small.cert_pem.bytes())
        else:
            self._hierarchy = Hierarchy()
            root = self._hierarchy.root.certificate
        self.pem: bytes = root.public_bytes(Encoding.PEM)
        self.der: bytes = root.public_bytes(Encoding.DER)

    @property
    def other_der(self) -> bytes:
        """A second CA that signed only the `other-ca` certificate."""
        return self._other_hierarchy().root.certificate.public_bytes(Encoding.DER)

    def server_context(
        self,
        certificate: str = "right",
        *,
        names: tuple[str, ...] = LOOPBACK_NAMES,
        tls: str = "any",
        chain: str | None = None,
    ) -> ssl.SSLContext:
        """Return a TLS server context for one of `VERSIONS`, with a chain of `chains.CHAINS`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version, context.maximum_version = VERSIONS[tls]
        self.issue(certificate, names, chain).configure_cert(context)
        return context

    def issue(
        self,
        certificate: str = "right",
        names: tuple[str, ...] = LOOPBACK_NAMES,
        chain: str | None = None,
    ) -> trustme.LeafCert:
        """Issue a server certificate of one of the kinds in `CERTIFICATES`."""
        if certificate not in CERTIFICATES:
            raise ValueError(
                f"unknown certificate kind {certificate!r}; available: {', '.join(CERTIFICATES)}"
            )
        now = datetime.datetime.now(datetime.timezone.utc)
        validity = Validity()
        if certificate == "wrong-name":
            names = ("elsewhere.invalid",)
        elif certificate == "expired":
            validity = Validity(end=now - _DAY)
        elif certificate == "not-yet-valid":
            validity = Validity(begin=now + _DAY)
        chain = chain or self.chain
        if self._hierarchy is None and certificate not in ("other-ca", "impostor"):
            return self._small.issue_cert(
                *names, not_before=validity.begin, not_after=validity.end
            )
        if certificate == "other-ca" or self._hierarchy is None:
            return self._other_hierarchy().issue("rsa" if chain == "small" else chain, names)
        if certificate == "impostor":
            return Hierarchy("other-root", self._hierarchy.mark).issue(chain, names)
        made = self._hierarchy.issue(chain, names, validity)
        first, *more = (pem.bytes() for pem in made.cert_chain_pems)
        if certificate == "no-intermediate":
            more = []
        elif certificate == "misordered":
            more.reverse()
        return trustme.LeafCert(made.private_key_pem.bytes(), first, more)

    def client_context(self) -> ssl.SSLContext:
        """Return a verifying client context that trusts this authority and nothing else."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=self.der)
        return context

    def write_der(self, folder: Path) -> Path:
        """Write `local-ca.der` into `folder`, where a board expects its CA certificates."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "local-ca.der"
        path.write_bytes(self.der)
        return path

    def _other_hierarchy(self) -> Hierarchy:
        if self._other is None:
            self._other = Hierarchy("other-root")
        return self._other


def chain_bytes(leaf: trustme.LeafCert) -> list[int]:
    """The size of each certificate that a server sends, in bytes."""
    sent: Sequence[trustme.Blob] = leaf.cert_chain_pems
    return [len(ssl.PEM_cert_to_DER_cert(pem.bytes().decode())) for pem in sent]
