"""A temporary certificate authority, new for every run; it never leaves loopback."""

from __future__ import annotations

import datetime
import ssl
from pathlib import Path

import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

#: Names a valid certificate covers: all names that clients use for loopback.
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")

#: Kinds of certificate that `Authority.server_context` can issue.
CERTIFICATES = ("right", "wrong-name", "expired", "not-yet-valid", "other-ca")

_DAY = datetime.timedelta(days=1)


class Authority:
    """Issue valid certificates, and every invalid kind that a client must refuse.

    `der` is the root for clients. Keys are ECDSA P-256: small and quick enough for a board.
    """

    def __init__(self, key_type: trustme.KeyType = trustme.KeyType.ECDSA) -> None:
        self._key_type = key_type
        self._ca = trustme.CA(organization_name="tenner local services", key_type=key_type)
        self._other: trustme.CA | None = None
        self.pem: bytes = self._ca.cert_pem.bytes()
        self.der: bytes = _pem_to_der(self.pem)

    @property
    def other_der(self) -> bytes:
        """A second CA that signed only the `other-ca` certificate."""
        return _pem_to_der(self._other_ca().cert_pem.bytes())

    def server_context(
        self,
        certificate: str = "right",
        *,
        names: tuple[str, ...] = LOOPBACK_NAMES,
        tls13_only: bool = False,
    ) -> ssl.SSLContext:
        """Return a TLS server context. TLS 1.2 is accepted unless `tls13_only`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3 if tls13_only else ssl.TLSVersion.TLSv1_2
        self.issue(certificate, names).configure_cert(context)
        return context

    def issue(
        self, certificate: str = "right", names: tuple[str, ...] = LOOPBACK_NAMES
    ) -> trustme.LeafCert:
        """Issue a server certificate of one of the kinds in `CERTIFICATES`."""
        now = datetime.datetime.now(datetime.timezone.utc)
        if certificate == "right":
            return self._ca.issue_cert(*names, key_type=self._key_type)
        if certificate == "wrong-name":
            return self._ca.issue_cert("elsewhere.invalid", key_type=self._key_type)
        if certificate == "expired":
            return self._ca.issue_cert(
                *names, not_before=now - 30 * _DAY, not_after=now - _DAY, key_type=self._key_type
            )
        if certificate == "not-yet-valid":
            return self._ca.issue_cert(
                *names, not_before=now + _DAY, not_after=now + 30 * _DAY, key_type=self._key_type
            )
        if certificate == "other-ca":
            return self._other_ca().issue_cert(*names, key_type=self._key_type)
        raise ValueError(
            f"unknown certificate kind {certificate!r}; available: {', '.join(CERTIFICATES)}"
        )

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

    def _other_ca(self) -> trustme.CA:
        if self._other is None:
            self._other = trustme.CA(
                organization_name="tenner unrelated authority", key_type=self._key_type
            )
        return self._other


def _pem_to_der(pem: bytes) -> bytes:
    return x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER)
