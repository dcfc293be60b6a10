"""Certificate chains with the key types, sizes and lengths of names that public servers send.

A board's memory depends on them: mbedTLS keeps the parsed chain of the server for the session.
RSA keys are made once on each machine, since a key of 4,096 bits takes seconds; they stay in the
cache, for this user alone. Every root has a name of its own, so no root vouches for another's
servers.
"""

from __future__ import annotations

import datetime
import functools
import ipaddress
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import (
    AuthorityInformationAccessOID,
    ExtendedKeyUsageOID,
    NameOID,
    ObjectIdentifier,
)
from trustme import LeafCert

from tenner_host.places import cache_folder, one_at_a_time, write_whole

#: Chains by name: a P-256 leaf under a P-256 root; a P-256 leaf and intermediate, and a P-384 root
#: that an RSA root has signed; an RSA-2048 leaf and intermediate under an RSA-4096 root; the same
#: and that root once more, signed by an older one; the third with a signature in RSA-PSS.
CHAINS = ("small", "ecdsa", "rsa", "telegram", "pss")

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

_NOT_BEFORE = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
_NOT_AFTER = datetime.datetime(2049, 12, 31, tzinfo=datetime.timezone.utc)
_SITE = "http://pki.trust.example"
#: Signed timestamps of two logs, which all public certificates carry; nobody here reads them.
_TIMESTAMPS = ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
_TIMESTAMPS_BYTES = 242
_POLICY = x509.PolicyInformation(ObjectIdentifier("2.23.140.1.2.1"), None)
_ANY_POLICY = x509.PolicyInformation(ObjectIdentifier("2.5.29.32.0"), None)


@dataclass(frozen=True)
class Issuer:
    """A certificate of an authority, and its key."""

    certificate: x509.Certificate
    key: Key


@dataclass(frozen=True)
class Validity:
    """When a certificate is valid."""

    begin: datetime.datetime = _NOT_BEFORE
    end: datetime.datetime = _NOT_AFTER


class Hierarchy:
    """An RSA-4096 root, and all that it has signed. `key_name` is that of the root's key."""

    def __init__(self, key_name: str = "root", mark: str = "") -> None:
        #: One for each root, unless it plays another.
        self.mark = mark or secrets.token_hex(4)
        key = rsa_key(key_name, 4096)
        name = _name("Tenner Stand-In Trust Services", f"TSTS Root R1 {self.mark}")
        self.root = Issuer(_authority(name, key, name, key), key)

    @functools.cached_property
    def cross_signed_root(self) -> x509.Certificate:
        """The root's key and name, signed by an older root."""
        return self._crossed(self.root.certificate.subject, self.root.key, "old-root")

    @functools.cached_property
    def rsa(self) -> Issuer:
        key = rsa_key("intermediate", 2048)
        name = _name("Tenner Stand-In Trust Services", "TSTS Secure Authority - G2", 1)
        return Issuer(_authority(name, key, self.root.certificate.subject, self.root.key), key)

    @functools.cached_property
    def _elliptic(self) -> tuple[Issuer, x509.Certificate]:
        """A P-256 intermediate, and the P-384 root above it, signed by the RSA root."""
        root_key, key = ec.generate_private_key(ec.SECP384R1()), _elliptic_key()
        root_name = _name("Tenner Stand-In Trust Services", f"TSTS Root R4 {self.mark}")
        name = _name("Tenner Stand-In Trust Services", "WE2")
        signed = _authority(root_name, root_key, self.root.certificate.subject, self.root.key)
        return Issuer(_authority(name, key, root_name, root_key), key), signed

    def issue(
        self, chain: str, names: Sequence[str], validity: Validity | None = None
    ) -> LeafCert:
        """A certificate for these names, with the intermediate ones of `chain`."""
        more: list[x509.Certificate] = []
        key: Key
        if chain == "ecdsa":
            issuer, signed = self._elliptic
            key, more = _elliptic_key(), [signed]
        else:
            issuer, key = self.rsa, rsa_key("leaf", 2048)
            more = [self.cross_signed_root] if chain == "telegram" else []
        made = _leaf(issuer, key, names, validity or Validity(), chain == "pss")
        return packed(key, [made, issuer.certificate, *more])

    def _crossed(self, name: x509.Name, key: Key, by: str) -> x509.Certificate:
        old = _name("Tenner Stand-In Group, Inc.", "", 2)
        return _authority(name, key, old, rsa_key(by, 4096), _SITE)


def packed(key: Key, certificates: Sequence[x509.Certificate]) -> LeafCert:
    """A key and its chain, leaf first, as servers load them."""
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    first, *more = (one.public_bytes(Encoding.PEM) for one in certificates)
    return LeafCert(secret, first, more)


def rsa_key(name: str, bits: int) -> rsa.RSAPrivateKey:
    """This machine's key of this name, from the cache; made on the first use."""
    path = cache_folder() / "authority" / f"{name}-{bits}.pem"
    with one_at_a_time("authority-keys"):
        if path.exists():
            kept = load_pem_private_key(path.read_bytes(), None)
            assert isinstance(kept, rsa.RSAPrivateKey)
            return kept
        made = rsa.generate_private_key(65537, bits)
        pem = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        write_whole(path, pem, private=True)
    return made


def _elliptic_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(organization: str, common: str, place: int = 0) -> x509.Name:
    """A name; those of older authorities are long (`place` 1 and 2)."""
    parts = [(NameOID.COUNTRY_NAME, "US")]
    if place:
        parts += [
            (NameOID.STATE_OR_PROVINCE_NAME, "Arizona"),
            (NameOID.LOCALITY_NAME, "Scottsdale"),
        ]
    parts.append((NameOID.ORGANIZATION_NAME, organization))
    if place:
        unit = f"{_SITE}/repository/" if place == 1 else "Class 2 Certification Authority"
        parts.append((NameOID.ORGANIZATIONAL_UNIT_NAME, unit))
    if common:
        parts.append((NameOID.COMMON_NAME, common))
    return x509.Name([x509.NameAttribute(kind, value) for kind, value in parts])


def _hash_for(key: Key) -> hashes.SHA256 | hashes.SHA384:
    is_384 = isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.key_size > 256
    return hashes.SHA384() if is_384 else hashes.SHA256()


def _builder(
    subject: x509.Name, key: Key, issuer: x509.Name, issuer_key: Key, validity: Validity
) -> x509.CertificateBuilder:
    by = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(validity.begin)
        .not_valid_after(validity.end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(by, False)
    )


def _usage(signs: bool, enciphers: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(not signs, False, enciphers, False, False, signs, signs, False, False)


def _authority(
    subject: x509.Name, key: Key, issuer: x509.Name, issuer_key: Key, site: str = ""
) -> x509.Certificate:
    made = _builder(subject, key, issuer, issuer_key, Validity())
    made = made.add_extension(x509.BasicConstraints(True, None), True)
    made = made.add_extension(_usage(signs=True), True)
    if site or subject != issuer:
        made = _with_sites(made)
        made = made.add_extension(x509.CertificatePolicies([_ANY_POLICY]), False)
    return made.sign(issuer_key, _hash_for(issuer_key))


def _with_sites(made: x509.CertificateBuilder) -> x509.CertificateBuilder:
    """Add the places of the authority: its answers about revocation, its certificate, its list."""
    answers = x509.AccessDescription(
        AuthorityInformationAccessOID.OCSP, x509.UniformResourceIdentifier(f"{_SITE}/")
    )
    lists = x509.DistributionPoint(
        [x509.UniformResourceIdentifier(f"{_SITE}/root-g2.crl")], None, None, None
    )
    made = made.add_extension(x509.AuthorityInformationAccess([answers]), False)
    return made.add_extension(x509.CRLDistributionPoints([lists]), False)


def _leaf(
    issuer: Issuer, key: Key, names: Sequence[str], validity: Validity, pss: bool
) -> x509.Certificate:
    common = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    is_rsa = isinstance(key, rsa.RSAPrivateKey)
    usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    made = _builder(common, key, issuer.certificate.subject, issuer.key, validity)
    made = (
        _with_sites(made)
        .add_extension(x509.BasicConstraints(False, None), True)
        .add_extension(_usage(signs=False, enciphers=is_rsa), True)
        .add_extension(x509.ExtendedKeyUsage(usages), False)
        .add_extension(x509.CertificatePolicies([_POLICY]), False)
        .add_extension(
            x509.UnrecognizedExtension(_TIMESTAMPS, secrets.token_bytes(_TIMESTAMPS_BYTES)), False
        )
        .add_extension(x509.SubjectAlternativeName(_alternatives(names, is_rsa)), False)
    )
    padded = padding.PSS(padding.MGF1(hashes.SHA256()), 32) if pss else None
    return made.sign(issuer.key, _hash_for(issuer.key), rsa_padding=padded)


def _alternatives(names: Sequence[str], is_rsa: bool) -> list[x509.GeneralName]:
    # One certificate of a large provider is for many services.
    more = 1 if is_rsa else 3
    found: list[x509.GeneralName] = []
    for name in [*names, *(f"*.service-{number}.provider.example" for number in range(more))]:
        try:
            found.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            found.append(x509.DNSName(name))
    return found
