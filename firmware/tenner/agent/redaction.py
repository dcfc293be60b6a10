# tenner agent.redaction: removes secrets of the settings, in every spelling, from requests.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A file, a result or the history may hold a secret: unchanged, percent-encoded, escaped as in JSON
or Python, in hex, or in base64 at any of its three offsets. Short secrets are searched for only in
calls (tools.secrets).
"""

from binascii import b2a_base64, hexlify

from tenner.agent.history_lines import PIECE
from tenner.log import SHORT, secrets
from tenner.net.json.writer import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SAFE = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
# Characters that JSON and Python write unchanged.
_PLAIN = _SAFE + b" !#$%&()*+,:;<=>?@[]^`{|}"
_INSTEAD = b"***"
_made: list = [None, None]  # the secrets, and their spellings


def redacted(pieces: "Iterable[bytes]", in_json: bool = False) -> "Iterator[bytes]":
    """
    Yield pieces with `***` in the place of a secret, which may span several pieces. `in_json`: the
    pieces are lines of JSON, no secret spans two lines, and blocks of complete lines stay so.
    """
    found = spellings()
    if not found:
        yield from pieces
        return
    keep = len(found[0]) - 1
    least = PIECE if in_json else 1
    if in_json:
        # The first piece of a long line must show its kind.
        keep = max(keep, PIECE)
    held = b""
    for piece in pieces:
        held = held + piece if held else piece
        whole = in_json and piece[-1:] == b"\n"
        if not whole and len(held) - keep < least:
            continue
        if max(map(held.find, found)) >= 0:
            held = _cleaned(held, found, in_json)
        if whole:
            yield held
            held = b""
            continue
        # The end may be the beginning of a secret.
        end = len(held) - keep
        if end >= least:
            piece = held[:end]
            held = held[end:]
            yield piece
    held = _cleaned(held, found, False)
    if held:
        yield held


def _cleaned(held, found, in_json):
    for spelled in found:
        if spelled in held:
            held = _without(held, spelled) if in_json else held.replace(spelled, _INSTEAD)
    return held


def _without(data, spelled):
    """Return a part of a line of JSON with `***` for a secret, except where it starts inside an
    escape."""
    if (len(spelled) - len(spelled.rstrip(b"\\"))) & 1:
        # It would end inside an escape: another spelling matches.
        return data
    at = data.find(spelled)
    while at >= 0:
        before = at
        while data[before - 1 : before] == b"\\":
            before -= 1
        if (at - before) & 1:
            at += 1
        else:
            data = data[:at] + _INSTEAD + data[at + len(spelled) :]
        at = data.find(spelled, at)
    return data


def spellings() -> list[bytes]:
    """Return the secrets as bytes in every spelling, also escaped as in a JSON string, the longest
    first."""
    known = secrets()
    if _made[0] != known:
        found = []
        for secret in known:
            if len(secret) >= SHORT:
                _spell(secret.encode(), found)
        found.sort(key=len, reverse=True)
        _made[:] = known, found
    return _made[1]


def _spell(data, found):
    digits = hexlify(data)
    found += [data, digits, digits.upper()]
    for shift in range(3):
        # Only letters that depend on the secret alone.
        text = b2a_base64(bytes(shift) + data)
        text = text[(0, 2, 3)[shift] : (shift + len(data)) * 8 // 6]
        found.append(text)
        if b"+" in text or b"/" in text:
            found.append(text.replace(b"+", b"-").replace(b"/", b"_"))
        if b"/" in text:
            found.append(text.replace(b"/", b"\\/"))
    special = [byte for byte in data if byte not in _SAFE]
    if not special:
        return
    for form in (b"%%%02X", b"%%%02x"):
        percent = data.replace(b"%", b"%25")
        for byte in special:
            if byte != 0x25:
                percent = percent.replace(bytes((byte,)), form % byte)
        found += [percent, percent.replace(b"%20", b"+")]
    if data.strip(_PLAIN):
        _written(data, found)


def _written(data, found):
    """Add a secret as Python and JSON escape it, and both escaped again in JSON."""
    forms = [escape(data)]
    python = forms[0].replace(b'\\"', b'"')
    forms += [python, python.replace(b"'", b"\\'"), forms[0].replace(b"/", b"\\/")]
    for form in forms[:]:
        forms += _ascii(form)
    forms.append(
        b"".join([bytes((byte,)) if byte < 0x80 else b"\\x%02x" % byte for byte in python])
    )
    for form in forms:
        for one in [form, escape(form)] + _ascii(escape(form)):
            if one not in found:
                found.append(one)


def _ascii(data):
    """Return the spellings of a text with escapes for non-ASCII characters."""
    if max(data) < 0x80:
        return []
    found = []
    for narrow, wide in (("\\u%04x", "\\u%04x"), ("\\u%04X", "\\u%04X"), ("\\x%02x", "\\u%04x")):
        text = ""
        for letter in data.decode():
            code = ord(letter)
            if code > 0xFFFF:
                code -= 0x10000
                text += (wide + wide) % (0xD800 + (code >> 10), 0xDC00 + (code & 0x3FF))
            elif code >= 0x80:
                text += (narrow if code < 0x100 else wide) % code
            else:
                text += letter
        found.append(text.encode())
    return found
