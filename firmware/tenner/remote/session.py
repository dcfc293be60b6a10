# tenner remote.session: lets only the owner's computer in, and nothing in twice.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The computer opens a session by a text in lines:

    tenner-request 1
    board DEVICE-ID
    counter NUMBER
    nonce HEX
    signature KEY-ID SIGNATURE
    mac HEX

The owner's key has signed the lines before the signature, as it signs a release. The MAC of all
lines before it is that of the board's own key, which the cable has brought. The answer is a MAC of
the board, a space, and `open NONCE` or `no SENTENCE`. From both nonces come four keys: to encrypt
and to authenticate, in each direction. They encrypt the frames of the session:

    request   0  NUMBER (4)             content  TAG
    reply     0  NUMBER (4)  PART (4)   content  TAG

The number of a request is one more than that of the one before. The first bit of PART is set in
the last part of a reply. The board has the greatest counter in two slots. If both are damaged, it
takes no opening until the cable brings another key. tenner_host/remote/session.py is the
computer's side.
"""

import os
from binascii import hexlify
from hashlib import sha256

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files
from tenner.store.two_slot import TwoSlots
from tenner.update import manifest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The key of this board, as 64 hex digits. The cable brings it.
KEY = "/lib/remote.key"
#: Neither a backup nor a sync puts it back.
_COUNTER = "/lib/remote"
#: The endings of its files, and of those that were damaged.
_TRACES = (".a", ".b", ".a.bad", ".b.bad")
#: The counter when all of them are damaged.
_LOST = const(-1)
_FIRST = b"tenner-request 1\n"
_SIGNATURE = b"\nsignature "
_MAC = b"\nmac "
_MAX_OPEN = const(1400)
_LAST = const(0x80000000)
_DROPPED = "dropped a request: it is not from the computer of this board's owner"

#: The bytes of an authentication tag: HMAC-SHA-256, cut as in RFC 2104, 5.
TAG = const(16)
_BLOCK = const(32)


def request(session: "list[Any]", data: bytes) -> "bytes | None":
    """Return the content of a request frame; None if it is forged, or came before."""
    head = data[:5]
    sealed = data[5:-TAG]
    if len(data) < 5 + TAG or not is_same(hmac(session[2], head, sealed)[:TAG], data[-TAG:]):
        log("remote", _DROPPED)
        return None
    number = int.from_bytes(head[1:], "big")
    if number != session[0] + 1:
        log("remote", "dropped request %d: %d is next" % (number, session[0] + 1))
        return None
    session[0] = number
    return crypt(session[1], head[1:] + bytes(4), sealed)


def reply(session: "list[Any]", number: int, part: int, data: bytes, is_last: bool) -> bytes:
    """Return the frame with a part of the reply to this request."""
    nonce = number.to_bytes(4, "big") + (part | _LAST * is_last).to_bytes(4, "big")
    sealed = crypt(session[3], nonce, data)
    return b"\x00" + nonce + sealed + hmac(session[4], b"\x00", nonce, sealed)[:TAG]


def is_opening(data: bytes) -> bool:
    """Does this message open a session?"""
    return data.startswith(_FIRST)


def begin(root: str, device: str, data: bytes) -> "tuple[bytes | None, list[Any] | None]":
    """
    Return (the answer to an opening, the new session); None for a message without one. A session
    is a list, since it outlives this code: the number of its last request, then its keys.
    """
    key = board_key(root)
    cut = data.rfind(_MAC) + 1
    if not key or not cut or len(data) > _MAX_OPEN:
        log("remote", _DROPPED)
        return None, None
    # First of all: only who has the board's key makes it calculate and write.
    if not is_same(hexlify(hmac(key, data[:cut])), data[cut + 4 : -1]):
        log("remote", _DROPPED)
        return None, None
    try:
        _check(root, device, data[:cut], hexlify(sha256(key).digest()[:4]).decode())
        nonce = os.urandom(16)
        secret = hmac(key, sha256(data).digest(), nonce)
        made = [0] + [hmac(secret, b"%d" % use) for use in range(4)]
        text = b"open " + hexlify(nonce)
    except (ValueError, OSError) as error:
        log("remote", error)
        made = None
        text = b"no " + str(error).encode()
    return hexlify(hmac(key, b"answer", sha256(data).digest(), text)) + b" " + text, made


def board_key(root: str) -> bytes:
    """Return the key of this board, b"" without one."""
    if not files.exists(root + KEY):
        return b""
    with open(root + KEY, "rb") as file:
        key = manifest.from_hex(str(file.read(64), "utf-8"))
    return key if len(key) == 32 else b""


def _check(root, device, data, key):
    """Raise ValueError with a sentence unless the owner has signed this opening, for this board,
    after all others; `key` tells the board's keys apart."""
    end = data.rfind(_SIGNATURE) + 1
    lines = str(data, "utf-8").split("\n")
    if not end or len(lines) != 6:
        raise ValueError("the request is not signed")
    _, board, counter, _, signed, _ = [line.split(" ") for line in lines]
    if board != ["board", device]:
        raise ValueError("the request is for the board %s, this one is %s" % (board[-1], device))
    if len(signed) != 3 or len(counter) != 2 or not counter[1].isdigit():
        raise ValueError("the request is not signed")
    slots = TwoSlots(root + _COUNTER)
    number = int(counter[1])
    # Before the load, which renames damaged files.
    was_there = [end for end in _TRACES if files.exists(root + _COUNTER + end)]
    state = slots.load()
    if was_there and not state:
        state = {"counter": _LOST, "key": key}
        slots.save(state)
    last = state.get("counter", 0)
    if state.get("key", key) != key:
        last = 0  # no opening for the key before has the right MAC now
    if last == _LOST:
        raise ValueError(
            "the board has lost count of your requests: delete ~/.config/tenner/boards/%s.json "
            "and run tenner sync over the cable, or tenner deploy, for a new key" % device
        )
    if number <= last:
        raise ValueError(
            "the request has the counter %d, and %d came before: is the computer's clock right?"
            % (number, last)
        )
    # After the counter: a repeated opening costs no calculation.
    modulus = manifest.modulus(root, signed[1])
    digest = sha256(data[:end]).digest()
    if not modulus or not manifest.is_valid(modulus, manifest.from_hex(signed[2]), digest):
        raise ValueError("the request is not signed by a key that this board knows")
    slots.save({"counter": number, "key": key})


# All keys have 32 bytes. The cipher's key stream is SHA-256 of key, nonce and block number: always
# 44 bytes, so that no input is the prefix of another. A nonce must never come twice with one key.
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
