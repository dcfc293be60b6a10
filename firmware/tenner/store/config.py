# tenner store.config: the owner's settings, checked once, defaults left on flash.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Every key stands once, with its type, default, unit and meaning, in the `settings.tsv` of the
folder whose code uses it, or in `config.tsv`, to which a build appends these; the host tools and
the documentation read the same tables. RAM holds only the settings that were made: `get` finds a
default in the table, by its bytes.

Values come out ready for use: a duration is a number of seconds, a list a list, an id text.
"""

from tenner.port.compat import const
from tenner.port.package import folders, locate, packed
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

#: `key type default unit secret meaning`, separated by tabs; `*` in a key stands for any name.
TABLE = "store/config.tsv"
#: The table of a folder. Where the folder has a part, the first row is its switch: the part is on
#: when that is set.
OWN = "settings.tsv"
PART = "part.py"

_BLOCK = const(512)
_LONGEST_KEY = const(40)

#: Where the tables are, as `locate` returns them; they are looked for once.
_places: tuple = ()


class ConfigError(ValueError):
    """A sentence for the owner: the file, the key, the allowed values, an example."""


class Config:
    """Settings by dotted name, such as `heartbeat.every`; `values` are those that were made."""

    def __init__(self, values: dict | None = None) -> None:
        self._values = values or {}
        self._defaults = {}  # a cache, as each takes long to find

    def get(self, key: str) -> "Any":
        """Return the setting or its default; a name that is in no table row is a KeyError."""
        if key in self._values:
            return self._values[key]
        if key.startswith("tools."):
            # A policy has no default, and a turn asks for that of every tool.
            return None
        if key not in self._defaults:
            row = find(key)
            if row is None:
                raise KeyError(key)
            self._defaults[key] = default(row)
        return self._defaults[key]

    def put(self, key: str, value: "Any") -> None:
        """Set a value for this run; the owner's file stays unchanged."""
        self._values[key] = value

    def drop(self, key: str) -> bool:
        """Go by the default of a key for this run; return False if it is no setting that was
        made."""
        return self._values.pop(key, None) is not None

    def section(self, name: str) -> dict:
        """Return the settings below `name` as nested dicts, without defaults; {} without any."""
        result = {}
        prefix = name + "."
        for key in self._values:
            if key.startswith(prefix):
                place = result
                parts = key[len(prefix) :].split(".")
                for part in parts[:-1]:
                    place = place.setdefault(part, {})
                place[parts[-1]] = self._values[key]
        return result


def rows() -> "Iterator[tuple[str, str, str, str, bool, str]]":
    """Yield the rows of the tables one by one: (key, type, default, unit, secret, meaning)."""
    for place in _tables():
        for line in files.lines_of(files.blocks(*place)):
            row = _row(line)
            if row[1] != "type":
                yield row


def parts() -> "Iterator[tuple[str, str]]":
    """Yield (package, key) of each part that a setting turns on, such as `channels.mqtt` and
    `mqtt.host`."""
    for _, _, note in packed(TABLE):
        # The build has looked.
        for word in note.split():
            package, _, key = word.partition("=")
            yield package, key
        return
    tables = _tables()
    package = len(tables[0][0]) - len(TABLE)
    for place in tables[1:]:
        folder = place[0][: -len(OWN)]
        if files.exists(folder + PART):
            _, first = list(files.lines_of(files.blocks(*place)))[:2]
            yield folder[package:-1].replace("/", "."), _row(first)[0]


def find(key: str) -> tuple[str, str, str, str, bool, str] | None:
    """Return the row that stands for `key`, or None; no key has control characters."""
    if not is_plain(key):
        return None
    row = _find(key)
    if row is None:
        parts = key.split(".")
        for place in range(1, len(parts)):
            row = row or _find(".".join(parts[:place] + ["*"] + parts[place + 1 :]))
    return row


def _find(pattern):
    """Return the row whose first column is `pattern`, or None."""
    wanted = b"\n%s\t" % pattern.encode()
    if len(wanted) > _LONGEST_KEY:
        return None
    for place in _tables():
        row = _find_in(place, wanted)
        if row:
            return row
    return None


def _find_in(place, wanted):
    # The end of the last block goes before the next one, for a row across the two.
    buf = bytearray(_LONGEST_KEY + _BLOCK)
    view = memoryview(buf)
    path, start, end = place
    left = end - start
    with open(path, "rb") as file:
        file.seek(start)
        while True:
            # Behind the table there may be another file's bytes.
            count = min(file.readinto(view[_LONGEST_KEY:]), left)
            if not count:
                return None
            left -= count
            start = buf.find(wanted, 0, _LONGEST_KEY + count)
            if start >= 0:
                start += 1
                end = buf.find(b"\n", start, _LONGEST_KEY + count)
                if end >= 0:
                    return _row(bytes(view[start:end]))
                rest = file.read(_BLOCK).split(b"\n", 1)[0]
                return _row(bytes(view[start : _LONGEST_KEY + count]) + rest)
            buf[:_LONGEST_KEY] = buf[count : count + _LONGEST_KEY]


def _tables():
    global _places
    # A relative path would lead elsewhere after the program has changed its folder.
    if not _places or _places[0][0][:1] != "/":
        _places = (locate(TABLE),) + tuple(sorted(folders(OWN)))
    return _places


def _row(line):
    key, kind, default, unit, secret, meaning = line.decode().split("\t")
    return key, kind, default, unit, secret == "secret", meaning


def default(row: "Sequence") -> "Any":
    """Return the default of a row as a value; where "" makes no sense it is None."""
    kind = row[1].split("(")[0]
    text = row[2]
    if kind in ("list", "objects"):
        return text.split(",") if text else []
    if kind == "bool":
        return text == "true"
    if kind in ("policy", "number"):
        return None
    if kind == "int":
        return int(text)
    if kind == "duration":
        return int(text[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[text[-1]]
    return text


def is_plain(text: str) -> bool:
    """Has it no control characters, and no half of a letter, or what is left of one?"""
    try:
        data = text.encode()
    except UnicodeError:
        return False
    if not data or min(data) >= 0x20 and max(data) < 0x7F:
        return True
    for at, byte in enumerate(data):
        # A loop over the characters would keep each of them in RAM for good.
        if byte < 0x20 or byte == 0x7F or byte == 0xC2 and data[at + 1] < 0xA0:
            return False
        if byte == 0xED and data[at + 1] >= 0xA0:
            return False
    return b"\xef\xbf\xbd" not in data


def matches(pattern: str, key: str) -> bool:
    """Does a key of the table, with `*` for any one part, stand for `key`?"""
    if "*" not in pattern:
        return pattern == key
    left = pattern.split(".")
    right = key.split(".")
    return len(left) == len(right) and all(a in ("*", b) for a, b in zip(left, right))
