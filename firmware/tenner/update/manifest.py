# tenner update.manifest: the signed list at the beginning of a release, and its checks.
# MIT license; Copyright (c) 2026 the tenner authors
"""
tenner_host/release/release.py writes it and shows its lines. All problems are a `Refused` with one
sentence.

Files below page/ are for boards that serve their page: each takes the place of the one with the
same path above.
"""

import sys
from binascii import hexlify, unhexlify
from hashlib import sha256

from tenner import __version__
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    Plan = tuple[str, bool, list[tuple["str | None", int, bytes]]]


#: The longest manifest, with its signature.
LIMIT = 4096
#: Files of the tree that no release has: the pins of the board, and the manifest itself.
OF_THE_BOARD = ("pins.csv", "manifest")
_FIRST = b"tenner-release 1\n"
_MARK = b"\nsignature "
#: The version of boot.py and main.py, which only the cable replaces: newer code may need newer
#: ones.
_START = const(1)
_MAX_FILES = const(64)
_MAX_FILE = const(1048576)
_MAX_PATH = const(64)
_PAGE = const("page/")
#: A board that serves its page has this file.
_PAGE_CODE = const("/lib/tenner/page.pack")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_."
_FIELDS = ("version", "family", "mpy", "start", "from", "migrates", "notes")

#: The public keys, one a line: `rsa MODULUS`. The cable brings them.
KEYS = "/lib/release.keys"
_EXPONENT = const(65537)
_SIZES = (256, 384)  # bytes of a modulus: 2048 and 3072 bits
# RFC 8017, 9.2: the DER prefix of a SHA-256 digest.
_PREFIX = b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"


class Refused(ValueError):
    """A release that this board does not install; args[0] is a sentence."""


class Manifest:
    """The fields of a verified manifest; `files` are (path, size, SHA-256 as bytes) in their order
    in the release, up to the last one for this board. The path "" is that of MicroPython itself,
    and None that of a file for other boards."""

    def __init__(self, data: bytes, root: str = "") -> None:
        """Take the bytes of a manifest with its signature; raise Refused unless a known key has
        signed it."""
        signed = data.rfind(_MARK) + 1
        if not data.startswith(_FIRST):
            raise Refused("this is no release of tenner: check update.url")
        if not signed or data[-1:] != b"\n":
            raise Refused("the release is not signed")
        words = str(data[signed:], "utf-8").split()
        if len(words) != 3:
            raise Refused("the release is not signed")
        self.key = words[1]
        digest = sha256(data[:signed]).digest()
        if not is_valid(_modulus(root, self.key), from_hex(words[2]), digest):
            raise Refused("the release was changed after it was signed: its signature is wrong")
        #: The number of bytes before the content.
        self.size = len(data)
        self.files = []
        self._last = ""
        self._has_page = files.exists(root + _PAGE_CODE)
        #: The chip's number, its name and the version of a MicroPython in the release.
        self.micropython: list[str] = []
        lines = str(data[:signed], "utf-8").split("\n")[1:-1]
        values = {}
        for name in _FIELDS:
            found, _, value = (lines.pop(0) if lines else "").partition(" ")
            if found != name:
                raise Refused("the release has no line %s where one belongs" % name)
            values[name] = value
        for line in lines:
            self._add(line)
        if not 0 < len(self.files) <= _MAX_FILES:
            raise Refused("the release has %d files" % len(self.files))
        while self.files[-1][0] is None:
            self.files.pop()
        self.version = values["version"]
        self.notes = values["notes"]
        self._values = values

    def _add(self, line):
        words = line.split(" ")
        if words[0] == "micropython" and len(words) == 6 and not self.micropython:
            self.micropython = words[3:]
            words[3:] = [""]
        elif len(words) != 4 or words[0] != "file" or self.micropython:
            raise Refused("the release has the line %s, which is no file" % line[:40])
        elif not is_safe(words[3]) or _name(words[3]) in OF_THE_BOARD:
            raise Refused(
                "the release has a file %s, a place where it must not write" % words[3][:40]
            )
        _, size, digest, path = words
        if not 0 < len(size) < 8 or size.strip("0123456789") or path and int(size) > _MAX_FILE:
            raise Refused("the release says that %s has %s bytes" % (path, size[:20]))
        digest = from_hex(digest)
        if len(digest) != 32:
            raise Refused("the release has no SHA-256 of %s" % path)
        # In order, so that no file is there twice.
        if path and path <= self._last:
            raise Refused("the files of the release are not in order at %s" % path)
        self._last = path
        name = _name(path)
        if name != path:
            if self._has_page:
                self._leave_out(name)
            else:
                name = None
        elif any(name == one[0] for one in self.files):
            name = None
        self.files.append((name, int(size), digest))

    def _leave_out(self, name):
        for number, one in enumerate(self.files):
            if one[0] == name:
                self.files[number] = (None,) + one[1:]

    def check(self, family: str, running: str = __version__) -> None:
        """Raise Refused unless this release fits this board and is newer than the running
        version."""
        values = self._values
        if values["family"] != family:
            raise Refused("the release is for %s, this board is %s" % (values["family"], family))
        # CPython loads none.
        mpy = getattr(sys.implementation, "_mpy", _number(values["mpy"])) & 0xFF
        if values["mpy"] != str(mpy) and not self.micropython:
            raise Refused(
                (
                    "the release has .mpy version %s, this MicroPython loads %d: `tenner flash` "
                    "brings another one"
                )
                % (values["mpy"], mpy)
            )
        if _number(values["start"]) > _START:
            raise Refused("the release needs a newer boot.py: update this board by `tenner sync`")
        if numbers(self.version) <= numbers(running):
            raise Refused(
                "the release is %s, and %s runs: only a newer one is installed"
                % (self.version, running)
            )
        if numbers(values["from"]) > numbers(running):
            raise Refused(
                (
                    "the release replaces %s and newer, and %s runs: update this board by `tenner "
                    "sync`"
                )
                % (values["from"], running)
            )

    def plan(self) -> "Plan":
        """Return (version, is MicroPython in it, files), plain objects that outlive this code."""
        return self.version, bool(self.micropython), self.files

    def total(self) -> int:
        """Return the number of bytes of all these files."""
        return sum([size for _, size, _ in self.files])


def numbers(version: str) -> list[int]:
    """Return the numbers of a version such as 0.2.0, to compare it."""
    parts = version.split(".")
    if len(parts) != 3:
        raise Refused("a version is three numbers, not %s" % version[:20])
    return [_number(part) for part in parts]


def is_safe(path: str) -> bool:
    """Is it a relative path of ordinary names, which stays below its folder?"""
    parts = path.split("/")
    return len(path) <= _MAX_PATH and all(
        part and part[0] != "." and all(one in _LETTERS for one in part) for part in parts
    )


def _name(path):
    """Return the path of a file on a board with its page."""
    return path[len(_PAGE) :] if path.startswith(_PAGE) else path


def _number(text):
    if not 0 < len(text) < 5 or text.strip("0123456789"):
        raise Refused("the release has %s where a number belongs" % text[:20])
    return int(text)


def _modulus(root, key):
    """Return the modulus of a key of this board."""
    found = modulus(root, key)
    if found is None:
        raise Refused(
            "this board has no key to check a release with: run `tenner setup` or `tenner sync` "
            "over the cable"
        )
    if not found:
        raise Refused(
            "the release is signed with the key %s, which this board does not know" % key[:16]
        )
    return found


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
