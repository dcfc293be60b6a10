# tenner llm.arguments: rebuilds the text of a JSON object from the values of a scanner.
# MIT license; Copyright (c) 2026 the tenner authors
"""
For the rare server that sends tool arguments as an object where the format has text, or sends no
stream. Empty objects and arrays inside are lost, since the scanner does not report them.
"""

import json

from tenner.net.json.writer import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.net.json.scanner import Scalar


class ArgumentsBuilder:
    def __init__(self) -> None:
        self._open = []  # the path of the last value
        self._inside = False  # a string that comes in pieces

    def add(self, path: list[int | str], value: "Scalar", more: bool) -> str:
        """Return the text that this value adds; `path` leads to it from the object itself."""
        if isinstance(value, str):
            text = quote(value).decode()
            if self._inside:
                text = text[1:]
            if more:
                text = text[:-1]
        else:
            text = json.dumps(value)
        if not self._inside:
            old, self._open = self._open, path
            same = 0
            while same < len(old) - 1 and same < len(path) - 1 and old[same] == path[same]:
                same += 1
            if old:
                text = (
                    _closing(old[same + 1 :])
                    + ","
                    + _key(path[same])
                    + _opening(path[same + 1 :])
                    + text
                )
            else:
                text = _opening(path) + text
        self._inside = more
        return text

    def end(self) -> str:
        """Return the closing brackets of all open objects and arrays."""
        return _closing(self._open)


def _key(step):
    return "" if isinstance(step, int) else quote(step).decode() + ":"


def _opening(path):
    return "".join([("[" if isinstance(step, int) else "{") + _key(step) for step in path])


def _closing(path):
    return "".join(["]" if isinstance(step, int) else "}" for step in reversed(path)])
