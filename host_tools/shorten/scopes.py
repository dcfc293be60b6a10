"""Gives comprehensions and lambdas of a compiled module a name that takes one byte.

mpy-cross calls them <listcomp>, <genexpr> ... in the table of names, for tracebacks only: these name module and
line as well.
"""

from __future__ import annotations

from host_tools.shorten import mpy

_SCOPES = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>")
#: As the table holds them: twice the length, the text, a zero.
_ENTRIES = {mpy.number(2 * len(name)) + name.encode() + b"\0" for name in _SCOPES}

#: The name `_`, by its number among the names that the .mpy format knows.
_SHORT = b"\x11"


def with_short_scopes(compiled: bytes) -> bytes:
    """The .mpy with one-byte names for scopes that have none of their own; itself, if its format is another."""
    module = mpy.read(compiled)
    if module is None:
        return compiled
    module.names = [_SHORT if entry in _ENTRIES else entry for entry in module.names]
    return mpy.write(module)
