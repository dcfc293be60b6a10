"""The computer's side of a sealed session with a board.

firmware/tenner/remote/session.py describes the messages and the cipher.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import TYPE_CHECKING

from tenner_host.errors import CommandError
from tenner_host.release.keys import key_id, public_line

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

TAG = 16
_BLOCK = 32
_LAST = 0x80000000


class Forged(Exception):
    """A message that the board has not sent, or sent for another request."""


def mac(key: bytes, *parts: bytes) -> bytes:
    """HMAC-SHA-256 of the joined parts."""
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()


def crypt(key: bytes, nonce: bytes, data: bytes) -> bytes:
    """Encrypt or decrypt."""
    stream = b"".join(
        hashlib.sha256(key + nonce + block.to_bytes(4, "big")).digest()
        for block in range(-(-len(data) // _BLOCK))
    )
    return bytes(one ^ other for one, other in zip(data, stream, strict=False))


class Opening:
    """The signed message that opens a session, and the check of its answer."""

    def __init__(self, device: str, board_key: bytes, key: RSAPrivateKey, counter: int) -> None:
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        nonce = os.urandom(16).hex()
        lines = f"tenner-request 1\nboard {device}\ncounter {counter}\nnonce {nonce}\n".encode()
        signature = key.sign(lines, PKCS1v15(), SHA256()).hex()
        lines += f"signature {key_id(public_line(key))} {signature}\n".encode()
        self._key = board_key
        self.message = lines + f"mac {mac(board_key, lines).hex()}\n".encode()

    def session(self, answer: bytes) -> Session:
        """Return the session; Forged if the board has not sent this, CommandError if it
        refuses."""
        tag, _, text = answer.partition(b" ")
        digest = hashlib.sha256(self.message).digest()
        if not hmac.compare_digest(mac(self._key, b"answer", digest, text).hex().encode(), tag):
            raise Forged
        word, _, rest = text.partition(b" ")
        if word != b"open":
            raise CommandError(f"the board refuses: {rest.decode(errors='replace')}")
        return Session(mac(self._key, digest, bytes.fromhex(rest.decode())))


class Session:
    """The keys of a session; `number` is that of the last request."""

    def __init__(self, secret: bytes) -> None:
        self.number = 0
        self._keys = [mac(secret, str(use).encode()) for use in range(4)]

    def request(self, content: bytes) -> bytes:
        """Return the frame of the next request."""
        self.number += 1
        head = b"\x00" + self.number.to_bytes(4, "big")
        sealed = crypt(self._keys[0], head[1:] + bytes(4), content)
        return head + sealed + mac(self._keys[1], head, sealed)[:TAG]

    def reply(self, part: int, frame: bytes) -> tuple[bytes, bool]:
        """Return the content of this part of the reply to the last request, and whether it is the
        last one; Forged if the frame is not that."""
        head, sealed, tag = frame[:9], frame[9:-TAG], frame[-TAG:]
        if len(frame) < 9 + TAG or not hmac.compare_digest(
            mac(self._keys[3], head, sealed)[:TAG], tag
        ):
            raise Forged
        found = int.from_bytes(head[5:], "big")
        if int.from_bytes(head[1:5], "big") != self.number or found & ~_LAST != part:
            raise Forged
        return crypt(self._keys[2], head[1:], sealed), bool(found & _LAST)
