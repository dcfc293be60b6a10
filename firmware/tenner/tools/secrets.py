# tenner tools.secrets: finds a secret, in any spelling, in data that would leave the board.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A secret can leave unchanged, reversed, in ROT13, percent-encoded, quoted-printable, in hex, base32
or base64, and in one of these inside another. It can be escaped as in JSON, Python, JavaScript or
HTML, with letters in between that nobody sees. It can also leave in parts, also those of a text in
JSON: in their order, or two of them in any order, each of them reversed or not. Any other
transformation by a model goes undetected.
"""

from binascii import a2b_base64, unhexlify

from tenner import log
from tenner.port.compat import const
from tenner.store.json_strict import utf8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEPTH = const(3)
_BASE64 = const(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
_HEX = const(b"0123456789abcdefABCDEF")
_BASE32 = const(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
_DIGITS = const(b"0123456789ABCDEFGHIJKLMNOPQRSTUV")  # of a number with the base 32
_WINDOW = const(512)  # characters of base32 at a time
_ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_NUMBERED = {b"x": 2, b"u": 4, b"U": 8}  # the digits of these escapes
_ENTITIES = ((b"&quot;", b'"'), (b"&apos;", b"'"), (b"&lt;", b"<"), (b"&gt;", b">"))
# The NUL of UTF-16, the soft hyphen, and letters without width.
_UNSEEN = (b"\0", b"\xc2\xad", b"\xcd\x8f", b"\xe1\xa0\x8e", b"\xef\xbb\xbf") + tuple(
    [b"\xe2\x80" + bytes((last,)) for last in range(0x8B, 0x90)]
    + [b"\xe2\x81" + bytes((last,)) for last in range(0xA0, 0xA5)]
)
# Parts of a shorter secret are words that stand side by side anywhere, and a part under three
# letters is in most addresses.
_LONG = const(12)
_WORD = const(3)
# They separate the parts of an address, and the words and texts in a part.
_MARKS = (b"/", b"?", b"&", b";", b"#", b" ", b"=", b"+", b"\n", b"\r", b"\t", b"\\", b'"', b"'")
_QUOTES = (b'"', b"'")
# They stand between bytes in hex, as do those of an address.
_BETWEEN = (b"0x", b":", b",", b"-", b".", b"_", b"|")


def leaks(value: "Any") -> bool:
    """Return whether a JSON value, nested or not, holds a secret."""
    needles = _needles()
    long = [forms for forms in needles if len(forms[0]) >= _LONG]
    parts = _Parts([forms[0] for forms in needles] + [forms[1] for forms in long])
    if _leaks(needles, value, parts, True):
        return True
    return parts.hold_one() or (len(long) > 0 and _holds(long, bytes(parts.joined), 2))


def _leaks(needles, value, parts, is_value):
    """Return whether it holds a secret in one piece, and add its parts to `parts`."""
    if isinstance(value, dict):
        return any(
            _leaks(needles, key, parts, False) or _leaks(needles, value[key], parts, is_value)
            for key in value
        )
    if isinstance(value, (list, tuple)):
        return any(_leaks(needles, one, parts, is_value) for one in value) or (
            _is_bytes(value) and _holds(needles, bytes(value), 1)
        )
    if isinstance(value, bool) or value is None:
        return False
    data = str(value).encode()
    parts.add(data, is_value)
    return _holds(needles, data, _DEPTH)


def _is_bytes(value):
    return all(isinstance(one, int) and 0 <= one < 256 for one in value)


def _needles():
    """Return [(a secret as it stands, reversed, both in ROT13)], in bytes of small letters."""
    found = []
    for secret in log.secrets():
        lower = secret.encode().lower()
        back = "".join(reversed(secret)).encode().lower()
        forms = (lower, back)
        if len(lower) >= log.SHORT:
            forms += (_turned(lower), _turned(back))
        found.append(forms)
    return found


def _turned(data):
    """Return it in ROT13."""
    return bytes(
        [
            (byte - 52 - (byte & 32)) % 26 + 65 + (byte & 32) if 65 <= byte & 223 <= 90 else byte
            for byte in data
        ]
    )


def _holds(needles, data, depth):
    data = _without(data, _UNSEEN)
    lower = data.lower()
    for forms in needles:
        for form in forms:
            at = lower.find(form)
            while at >= 0:
                # A short one counts only as a separate word.
                if len(form) >= log.SHORT or _alone(lower, at, at + len(form)):
                    return True
                at = lower.find(form, at + 1)
    return depth > 0 and any(
        _holds(needles, other, less) for other, less in _read(needles, data, depth)
    )


# --- in parts


class _Parts:
    """Notes how much of each secret a part begins with or ends in."""

    def __init__(self, secrets):
        #: The values one after another.
        self.joined = bytearray()
        #: [(secret, least size of a part, sizes of its known beginnings, and of those before its
        #: known ends)]
        self._known = []
        for secret in secrets:
            least = 1 if len(secret) >= _LONG else _WORD
            secret = _flat(secret)
            if len(secret) >= log.SHORT:
                self._known.append((secret, least, [], [len(secret)]))

    def add(self, data, is_value, depth=_DEPTH):
        """Add a text; of an address its parts, and the names among them; of one with quotes, such
        as JSON, those in it, also in one another."""
        self._note(data)
        for mark in _QUOTES:
            if depth > 0 and mark in data:
                self._add_quoted(data, mark, is_value, depth - 1)
                return
        if not any(mark in data for mark in _MARKS[:3]):
            if is_value:
                self.joined += data
            return
        for mark in _MARKS[1:5]:
            data = data.replace(mark, b"/")
        start = number = 0
        while start <= len(data):
            end = data.find(b"/", start)
            if end < 0:
                end = len(data)
            name, _, value = data[start:end].partition(b"=")
            if value:
                self._note(_percent(name))
            # The third one is the name of a server.
            for part in (value or name).split(b".") if number == 2 else (value or name,):
                part = _percent(part)
                if depth > 0 and any(mark in part for mark in _QUOTES):
                    self.add(part, is_value, depth - 1)
                    continue
                self._note(part)
                if is_value:
                    self.joined += part
            start = end + 1
            number += 1

    def _add_quoted(self, data, mark, is_value, depth):
        # Escaped ones stay within their text.
        data = data.replace(b"\\\\", b"\0").replace(b"\\" + mark, b"\1")
        pieces = data.split(mark)
        for at, piece in enumerate(pieces):
            if at % 2 == 0:
                piece = piece.strip(b" \t\r\n:,{}[]")
            if piece:
                is_name = at % 2 and pieces[at + 1 : at + 2] and _is_after_name(pieces[at + 1])
                piece = piece.replace(b"\1", b"\\" + mark).replace(b"\0", b"\\\\")
                if b"\\" in piece:
                    piece = _escaped(piece)
                self.add(piece, is_value and not is_name, depth)

    def _note(self, part):
        part = _flat(part)
        size = len(part)
        for secret, least, heads, tails in self._known:
            if least <= size <= len(secret):
                if secret.startswith(part) and size not in heads:
                    heads.append(size)
                if secret.endswith(part) and len(secret) - size not in tails:
                    tails.append(len(secret) - size)

    def hold_one(self):
        """Are two parts, in any order, an entire secret, or all of them in their order?"""
        joined = _flat(bytes(self.joined))
        return any(
            any(at in tails for at in heads) or (least == 1 and secret in joined)
            for secret, least, heads, tails in self._known
        )


def _is_after_name(data):
    return data.lstrip().startswith(b":")


def _flat(data):
    """Return small letters without the marks of an address."""
    return _without(data, _MARKS).lower()


def _without(data, marks):
    for mark in marks:
        data = data.replace(mark, b"")
    return data


# --- other spellings


def _alone(data, start, end):
    around = data[max(start - 1, 0) : start] + data[end : end + 1]
    return not any(byte in _BASE64[:62] for byte in around)


def _read(needles, data, depth):
    """Yield (the bytes as decoded from another spelling, how deep they may hold others)."""
    less = depth - 1
    for read in (_percent, _spaced, _escaped, _entities, _printable):
        other = read(data)
        if other != data:
            yield other, less
    try:
        data.decode()
    except UnicodeError:
        yield b"".join([utf8(byte) for byte in data]), less  # Latin-1
    # In base64 three bytes are four characters, in hex and base32 even more.
    sizes = [len(forms[0]) for forms in needles] or [999]
    solid = b"".join(data.split())
    bare = _without(_flat(data), _BETWEEN)
    for text in (data, bare) if len(bare) < len(data) else (data,):
        for run in _runs(text, min(sizes) * 2, _HEX):
            for start in (0, 1):
                yield unhexlify(run[start : start + (len(run) - start) // 2 * 2]), less
    if len(solid) < len(data):
        for run in _runs(solid, min(sizes) * 4 // 3, _BASE64):
            yield from _decoded(run, 0)
    for run in _runs(data, min(sizes) * 4 // 3, _BASE64):
        yield from _decoded(run, less)
        if depth == _DEPTH and len(run) > log.SHORT:
            back = bytes(reversed(run))
            for other in (back, _turned(run), _turned(back)):
                yield other, 1
    # A short one stands alone: other words of its length are few.
    sizes = [(size * 8 + 4) // 5 for size in sizes]
    for run in _runs(data.upper(), min(sizes), _DIGITS + _BASE32[22:26]):
        if len(run) in sizes or len(run) > 8:
            yield from _of_base32(run, less - 1)


def _of_base32(run, less):
    """Yield a run of characters as decoded from base32, with either of its alphabets."""
    if len(run) > _WINDOW:
        less = 0
    for start in range(0, len(run), _WINDOW // 2):
        part = run[start : start + _WINDOW]
        yield from _numbers(part, less)
        if not part.strip(_BASE32):
            yield from _numbers(bytes([_digit(byte) for byte in part]), less)


def _decoded(run, less):
    """Yield a run of characters as decoded from base64."""
    run = run.replace(b"-", b"+").replace(b"_", b"/")
    for start in range(4):
        # The end may be cut in the middle of three bytes.
        part = run[start:]
        yield a2b_base64(part[: len(part) // 4 * 4]), less
        if len(part) % 4 > 1:
            yield a2b_base64(part + b"=" * (-len(part) % 4)), less


def _numbers(digits, less):
    """Yield digits with the base 32 as bytes, which may end at any bit of them."""
    try:
        number = int(digits, 32)
    except ValueError:
        return  # of base32, not of its other alphabet
    size = len(digits) * 5 // 8 + 1
    for _ in range(8):
        yield number.to_bytes(size, "big"), less
        number >>= 1


def _digit(byte):
    """Return the digit of a letter of base32."""
    return _DIGITS[byte - 65 if byte >= 65 else byte - 24]


def _runs(data, least, letters):
    """Yield the runs of at least so many of these letters."""
    size = len(data)
    start = known = 0  # from `start` to `known` there are letters
    while start + least <= size:
        end = start + least
        at = end - 1
        # Backward, as another letter close to the end spares most of the steps.
        while at >= known and data[at] in letters:
            at -= 1
        if at >= known:
            start = at + 1
            known = end
            continue
        while end < size and data[end] in letters:
            end += 1
        yield data[start:end]
        start = known = end + 1


def _percent(data):
    parts = data.split(b"%")
    found = parts[0]
    for part in parts[1:]:
        try:
            found += unhexlify(part[:2]) + part[2:]
        except ValueError:
            found += b"%" + part
    return found


def _spaced(data):
    return data.replace(b"+", b" ")


def _printable(data):
    """Return it as decoded from quoted-printable."""
    data = data.replace(b"%", b"%25").replace(b"=\r\n", b"").replace(b"=\n", b"")
    return _percent(data.replace(b"=", b"%"))


def _entities(data):
    """Return it as decoded from HTML, or from JavaScript's %uXXXX."""
    data = data.replace(b"\\", b"\\\\").replace(b"&#", b"\\#").replace(b"%u", b"\\u")
    for name, mark in _ENTITIES:
        data = data.replace(name, mark)
    return _escaped(data).replace(b"&amp;", b"&")


def _escaped(data):
    parts = data.split(b"\\")
    found = parts[0]
    number = 1
    while number < len(parts):
        part = parts[number]
        kind = part[:1]
        try:
            if kind == b"#" or kind in _NUMBERED:
                found += _numbered(part)
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


def _numbered(part):
    """Decode the xXX, uXXXX, UXXXXXXXX, u{X}, #N; or #xX; at the beginning."""
    size = _NUMBERED.get(part[:1])
    if part[1:2] == b"{":
        digits, _, rest = part[2:].partition(b"}")
    elif size:
        digits, rest = part[1 : 1 + size], part[1 + size :]
    else:
        digits, _, rest = part[1:].partition(b";")
    is_hex = size or digits[:1] in (b"x", b"X")
    code = int(digits.lstrip(b"xX")[-8:], 16 if is_hex else 10) & 0x1FFFFF
    # A byte of more, which Python escapes as well, is no letter.
    return (bytes((code,)) if size == 2 and code < 256 else utf8(code)) + rest
