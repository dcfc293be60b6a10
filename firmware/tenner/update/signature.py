# tenner update.signature: verifies an RSA signature (PKCS#1 v1.5 with SHA-256, exponent 65537).
# MIT license; Copyright (c) 2026 the tenner authors

from binascii import hexlify, unhexlify
from hashlib import sha256

from tenner.port.compat import const
from tenner.store import files

#: The public keys, one a line: `rsa MODULUS`. The cable brings them.
KEYS = "/lib/release.keys"
_EXPONENT = const(65537)
_SIZES = (256, 384)  # bytes of a modulus: 2048 and 3072 bits
# RFC 8017, 9.2: the DER prefix of a SHA-256 digest.
_PREFIX = b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"


def key_id(modulus: str) -> str:
    """Return the short name of a key, given its modulus as hex text."""
    return hexlify(sha256(modulus.encode()).digest()).decode()[:16]


def modulus(root: str, key: str) -> "str | None":
    """Return the modulus of the board's key with this short name; "" if it has another one, None
    if it has none at all."""
    if not files.exists(root + KEYS):
        return None
    with open(root + KEYS) as lines:
        # Line by line: read() takes all memory that it may need at once.
        for line in lines:
            kind, _, found = line.strip().partition(" ")
            if kind == "rsa" and key_id(found) == key:
                return found
    return ""


def is_valid(modulus: str, signature: bytes, digest: bytes) -> bool:
    """Return whether `signature` (bytes) is that of a SHA-256 digest, by the key with this modulus
    (hex text)."""
    number = int(modulus, 16)
    size = len(modulus) // 2
    if size not in _SIZES or len(signature) != size:
        return False
    value = int.from_bytes(signature, "big")
    if value >= number:
        return False
    found = pow(value, _EXPONENT, number).to_bytes(size, "big")
    # Compared with the only right block, not parsed: a lax parser of the padding accepts
    # forgeries.
    padding = b"\xff" * (size - 3 - len(_PREFIX) - len(digest))
    return found == b"\x00\x01" + padding + b"\x00" + _PREFIX + digest


def from_hex(text: str) -> bytes:
    """Return the bytes of hex text, b"" for anything else."""
    try:
        return unhexlify(text)
    except ValueError:
        return b""
