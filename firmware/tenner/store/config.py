# tenner store.config: the owner's settings, checked once, defaults left on flash.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Every key stands once in `config.tsv`, with its type, default, unit and meaning; the host tools and the
documentation read the same table. In RAM are only the settings that were made: a default is looked up
in the table when it is asked for, so ask once and keep the answer.

Values come out ready for use: a duration is a number of seconds, a list a list, an id text.
"""

from tenner.port.package import package_path
from tenner.store import files

#: `key type default unit secret meaning`, separated by tabs; `*` in a key stands for any name.
TABLE = "store/config.tsv"


class ConfigError(ValueError):
    """A sentence for the owner: which file, which key, what is allowed, an example."""


class Config:
    """Settings by dotted name, such as `heartbeat.every`; `values` are those that were made."""

    def __init__(self, values=None):
        self._values = values or {}

    def get(self, key):
        """Return the setting or its default; a name that is in no table row is a KeyError."""
        if key not in self._values:
            row = find(key)
            if row is None:
                raise KeyError(key)
            return default(row)
        return self._values[key]

    def put(self, key, value):
        """Set a value for this run; the file stays as the owner wrote it."""
        self._values[key] = value

    def section(self, name):
        """Return what was set below `name` as nested dicts, without defaults: {} when nothing was."""
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


def rows():
    """Yield the rows of the table one by one: (key, type, default, unit, secret, meaning)."""
    with open(package_path(TABLE), "rb") as file:
        for line in files.lines(file):
            key, kind, default, unit, secret, meaning = line.decode().split("\t")
            if kind != "type":
                yield key, kind, default, unit, secret == "secret", meaning


def find(key):
    """Return the row that stands for `key`, or None."""
    table = rows()
    for row in table:
        if matches(row[0], key):
            table.close()
            return row
    return None


def default(row):
    """Return the default of a row as a value; where "" makes no sense it is None."""
    kind = row[1].split("(")[0]
    text = row[2]
    if kind in ("list", "objects"):
        return text.split(",") if text else []
    if kind == "bool":
        return text == "true"
    if kind == "policy":
        return None
    if kind == "int":
        return int(text)
    if kind == "duration":
        return int(text[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[text[-1]]
    return text


def matches(pattern, key):
    """Does a key of the table, with `*` for any one part, stand for `key`?"""
    if "*" not in pattern:
        return pattern == key
    left = pattern.split(".")
    right = key.split(".")
    return len(left) == len(right) and all(a in ("*", b) for a, b in zip(left, right))
