"""Gives comprehensions and lambdas of a compiled module a name that takes one byte.

mpy-cross calls them <listcomp>, <genexpr> ... in the table of names, for tracebacks only: these name module and
line as well. The table stands first in a .mpy and nothing refers to its bytes, so its entries can be replaced.
"""

from __future__ import annotations

_SCOPES = {b"<listcomp>", b"<dictcomp>", b"<setcomp>", b"<genexpr>", b"<lambda>"}

#: The name `_`, by its number among the names that the .mpy format knows.
_SHORT = b"\x11"


def with_short_scopes(compiled: bytes) -> bytes:
    """The .mpy with one-byte names for scopes that have none of their own."""
    place = 4  # behind "M", the version and what the code needs
    count, place = _number(compiled, place)
    _, place = _number(compiled, place)
    table = []
    start = place
    for _ in range(count):
        entry = place
        length, place = _number(compiled, place)
        if not length & 1:
            # Text and a zero; an odd number stands for a name that every MicroPython has.
            text = compiled[place : place + (length >> 1)]
            place += len(text) + 1
            if text in _SCOPES:
                table.append(_SHORT)
                continue
        table.append(compiled[entry:place])
    return compiled[:start] + b"".join(table) + compiled[place:]


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Read a number, seven bits a byte: (number, place behind it)."""
    number = 0
    while True:
        byte = data[place]
        place += 1
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            return number, place
