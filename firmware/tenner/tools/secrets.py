# tenner tools.secrets: finds a secret, in any spelling, in data that would leave the board.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A secret can leave unchanged, percent-encoded, escaped as in JSON or Python, in hex or in base64,
and in one of these inside another. Any other transformation by a model goes undetected.
"""

from binascii import a2b_base64, unhexlify

from tenner import log
from tenner.port.compat import const
from tenner.store.json_escape import utf8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEPTH = const(3)
_BASE64 = const(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
_HEX = const(b"0123456789abcdefABCDEF")
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}


def leaks(value: "Any") -> bool:
    """Return whether a JSON value, nested or not, holds a secret."""
    if isinstance(value, dict):
        return any(leaks(key) or leaks(value[key]) for key in value)
    if isinstance(value, (list, tuple)):
        return any(leaks(one) for one in value) or _is_bytes(value) and _holds(bytes(value), 1)
    if isinstance(value, bool) or value is None:
        return False
    return _holds(str(value).encode(), _DEPTH)


def _is_bytes(value):
    return all(isinstance(one, int) and 0 <= one < 256 for one in value)


def _holds(data, depth):
    lower = data.lower()
    for secret in log.secrets():
        secret = secret.encode().lower()
        at = lower.find(secret)
        while at >= 0:
            # A short one counts only as a separate word.
            if len(secret) >= log.SHORT or _alone(lower, at, at + len(secret)):
                return True
            at = lower.find(secret, at + 1)
    return depth > 0 and any(_holds(other, depth - 1) for other in _read(data))


def _alone(data, start, end):
    around = data[max(start - 1, 0) : start] + data[end : end + 1]
    return not any(byte in _BASE64[:62] for byte in around)


def _read(data):
    """Yield the bytes as decoded from other spellings."""
    if b"%" in data:
        yield _percent(data)
    if b"+" in data:
        yield data.replace(b"+", b" ")
    if b"\\" in data:
        yield _escaped(data)
    try:
        data.decode()
    except UnicodeError:
        yield b"".join([utf8(byte) for byte in data])  # Latin-1
    # In base64 three bytes are four characters, in hex even more.
    least = min([len(secret.encode()) for secret in log.secrets()] or [999]) * 4 // 3
    for run in _runs(data, least):
        for start in (0, 1):
            part = run[start:]
            if not part.strip(_HEX):
                yield unhexlify(part[: len(part) // 2 * 2])
        run = run.replace(b"-", b"+").replace(b"_", b"/")
        for start in range(4):
            # The end may be cut in the middle of three bytes.
            part = run[start:]
            yield a2b_base64(part[: len(part) // 4 * 4])
            if len(part) % 4 > 1:
                yield a2b_base64(part + b"=" * (-len(part) % 4))


def _runs(data, least):
    """Yield the runs of base64 characters, which include hex digits."""
    start = 0
    letters = _BASE64
    for at, byte in enumerate(data + b"."):
        if byte not in letters:
            if at - start >= least:
                yield data[start:at]
            start = at + 1


def _percent(data):
    parts = data.split(b"%")
    found = parts[0]
    for part in parts[1:]:
        try:
            found += unhexlify(part[:2]) + part[2:]
        except ValueError:
            found += b"%" + part
    return found


def _escaped(data):
    parts = data.split(b"\\")
    found = parts[0]
    number = 1
    while number < len(parts):
        part = parts[number]
        kind = part[:1]
        try:
            if kind == b"x":
                found += unhexlify(part[1:3]) + part[3:]
            elif kind == b"u":
                found += utf8(int(part[1:5].decode(), 16)) + part[5:]
            elif kind in _ESCAPES:
                found += _ESCAPES[kind] + part[1:]
            elif not part and number + 1 < len(parts):
                number += 1
                found += b"\\" + parts[number]
            else:
                found += part
        except (ValueError, UnicodeError):
            found += b"\\" + part
        number += 1
    return found
