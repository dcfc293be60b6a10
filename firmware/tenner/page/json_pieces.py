# tenner page.json_pieces: a JSON value as short pieces of text.
# MIT license; Copyright (c) 2026 the tenner authors
"""A used heap has few long free blocks, so an answer is never whole in memory."""

import json

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LONGEST = const(200)


def pieces(value: "Any") -> "Iterator[str]":
    """Yield the JSON text of a value; in it any iterable that is no text counts as an array."""
    if isinstance(value, dict):
        mark = "{"
        for key in value:
            yield mark + json.dumps(key) + ": "
            yield from pieces(value[key])
            mark = ", "
        yield "{}" if mark == "{" else "}"
    elif isinstance(value, str):
        if len(value) <= _LONGEST:
            yield json.dumps(value)
            return
        yield '"'
        for at in range(0, len(value), _LONGEST):
            yield json.dumps(value[at : at + _LONGEST])[1:-1]
        yield '"'
    elif value is None or isinstance(value, (bool, int, float)):
        yield json.dumps(value)
    else:
        mark = "["
        for one in value:
            yield mark
            yield from pieces(one)
            mark = ", "
        yield "[]" if mark == "[" else "]"
