"""Gives a module's private names short ones before it is compiled for a board.

MicroPython keeps every distinct name in RAM for ever (a qstr costs its length and seven bytes more), and
each .mpy repeats the names it uses. What starts with one underscore is nobody else's business, so all
modules can share `_a`, `_b` ... Lines stay where they are: a traceback names the right file and line, and
only the name of a private function is short.
"""

from __future__ import annotations

import io
import keyword
import string
import tokenize
from collections.abc import Iterator
from itertools import product


class ShortenError(Exception):
    """A module hides a private name where it cannot be replaced safely; the text says where."""


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and len(name) > 2


def _short_names(taken: set[str]) -> Iterator[str]:
    for size in (1, 2):
        for letters in product(string.ascii_lowercase, repeat=size):
            name = "_" + "".join(letters)
            if name not in taken and not keyword.iskeyword(name):
                yield name


def shorten_private(source: bytes, name: str) -> bytes:
    """The same module with short private names; `name` is for the error's text."""
    tokens = list(tokenize.tokenize(io.BytesIO(source).readline))
    taken = {token.string for token in tokens if token.type == tokenize.NAME}
    fresh = _short_names(taken)
    short: dict[str, str] = {}
    lines = source.decode().splitlines(keepends=True)
    # From the end, so that the columns of what comes before stay right.
    places = []
    for token in tokens:
        if (
            token.type == tokenize.STRING
            and "f" in token.string.split(token.string[-1])[0].lower()
        ):
            raise ShortenError(
                f"{name}:{token.start[0]}: an f-string may name what is renamed; use %"
            )
        if token.type == tokenize.NAME and _is_private(token.string):
            if token.string not in short:
                short[token.string] = next(fresh)
            places.append(token)
    for token in reversed(places):
        row, column = token.start[0] - 1, token.start[1]
        line = lines[row]
        lines[row] = line[:column] + short[token.string] + line[column + len(token.string) :]
    return "".join(lines).encode()
