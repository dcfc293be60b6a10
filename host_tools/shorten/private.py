"""Gives a module's private names short ones before it is compiled for a board.

MicroPython keeps every distinct name in RAM for ever (a qstr costs its length and seven bytes more), and
each .mpy repeats the names it uses. What starts with one underscore is nobody else's business, so all
modules can share `_a`, `_b` ... A class that inherits from one of another module shares an object with it, so
its module takes `_a1`, `_b1` ... instead. Lines stay where they are: a traceback names the right file and line, and
only the name of a private function is short.
"""

from __future__ import annotations

import keyword
import string
import tokenize
from collections.abc import Iterator
from itertools import product

from host_tools.shorten.syntax import ShortenError, names_of, renamed, tokens


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and len(name) > 2


def _classes(source: bytes) -> Iterator[tuple[str, set[str]]]:
    """Yield every class of a module with the last names of what stands in its brackets."""
    words = [token.string for token in tokens(source) if token.type != tokenize.NL]
    for place, word in enumerate(words[:-2]):
        if word == "class" and words[place + 2] == "(":
            inside = words[place + 3 : words.index(")", place)] if ")" in words[place:] else []
            yield words[place + 1], {part for part in inside if part.isidentifier()}
        elif word == "class":
            yield words[place + 1], set()


def inheritance_levels(sources: dict[str, bytes]) -> dict[str, int]:
    """How many other modules of `sources` the classes of each module inherit through, at most."""
    homes: dict[str, str] = {}
    bases: dict[str, set[str]] = {}
    for name, source in sources.items():
        found = bases.setdefault(name, set())
        for class_name, parents in _classes(source):
            homes[class_name] = name
            found.update(parents)

    def level(name: str) -> int:
        parents = {homes[base] for base in bases[name] if homes.get(base, name) != name}
        return 1 + max(map(level, parents)) if parents else 0

    return {name: level(name) for name in sources}


def _short_names(taken: set[str], level: int) -> Iterator[str]:
    for size in (1, 2):
        for letters in product(string.ascii_lowercase, repeat=size):
            name = "_" + "".join(letters) + (str(level) if level else "")
            if name not in taken and not keyword.iskeyword(name):
                yield name


def shorten_private(source: bytes, name: str, level: int = 0) -> bytes:
    """The same module with short private names; `name` is for the error's text, `level` is from
    `inheritance_levels`."""
    for token in tokens(source):
        if (
            token.type == tokenize.STRING
            and "f" in token.string.split(token.string[-1])[0].lower()
        ):
            raise ShortenError(
                f"{name}:{token.start[0]}: an f-string may name what is renamed; use %"
            )
    names = names_of(source)
    fresh = _short_names(set(names), level)
    return renamed(source, {name: next(fresh) for name in names if _is_private(name)})
