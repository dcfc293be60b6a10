# tenner remote.seal: HMAC and a stream cipher, both of SHA-256, which every chip has.
# MIT license; Copyright (c) 2026 the tenner authors
"""
All keys have 32 bytes. The cipher's key stream is SHA-256 of key, nonce and block number: always
44 bytes, so that no input is the prefix of another. A nonce must never come twice with one key.
"""

from hashlib import sha256

from tenner.port.compat import const

#: The bytes of an authentication tag: HMAC-SHA-256, cut as in RFC 2104, 5.
TAG = const(16)
_BLOCK = const(32)


def hmac(key: bytes, *parts: bytes) -> bytes:
    """Return HMAC-SHA-256 (RFC 2104) of the joined parts."""
    inner = sha256(_pad(key, 0x36))
    for part in parts:
        inner.update(part)
    outer = sha256(_pad(key, 0x5C))
    outer.update(inner.digest())
    return outer.digest()


def crypt(key: bytes, nonce: bytes, data: bytes) -> bytes:
    """Encrypt or decrypt bytes; `nonce` has 8 bytes."""
    out = bytearray(data)
    for at in range(0, len(out), _BLOCK):
        size = min(_BLOCK, len(out) - at)
        stream = sha256(key + nonce + (at // _BLOCK).to_bytes(4, "big")).digest()[:size]
        mixed = int.from_bytes(out[at : at + size], "big") ^ int.from_bytes(stream, "big")
        out[at : at + size] = mixed.to_bytes(size, "big")
    return bytes(out)


def is_same(left: bytes, right: bytes) -> bool:
    """Compare two tags; the time does not depend on where they differ."""
    difference = len(left) ^ len(right)
    for one, other in zip(left, right):
        difference |= one ^ other
    return not difference


def _pad(key, byte):
    return bytes([one ^ byte for one in key]) + bytes([byte]) * 32
