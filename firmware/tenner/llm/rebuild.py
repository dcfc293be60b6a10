# tenner llm.rebuild: write a JSON object again from the values a scanner found in it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
For the rare server that sends tool arguments as an object where the format has text, or sends no stream.
Empty objects and arrays inside are lost, as the scanner does not tell of them.
"""

import json

from tenner.net.jsonout import escape, quote


class Rebuild:
    """`base` is how many steps of each path lead to the object itself."""

    def __init__(self, base):
        self._base = base
        self._open = None  # the path of the last value, below base
        self._inside = False  # in a string that comes in pieces

    def add(self, path, value, more):
        """Return the text that this value adds."""
        if self._inside:
            self._inside = more
            return escape(value.encode()).decode() + ("" if more else '"')
        new = path[self._base :]
        old = self._open
        same = 0
        if old is None:
            text = _opening(new, 0)
        else:
            while same < len(old) - 1 and same < len(new) - 1 and old[same] == new[same]:
                same += 1
            text = _closing(old, same + 1) + "," + _key(new[same]) + _opening(new, same + 1)
        self._open = new
        if isinstance(value, str):
            self._inside = more
            text += quote(value).decode()
            return text[:-1] if more else text
        return text + json.dumps(value)

    def end(self):
        """Return the brackets that close what is open."""
        return _closing(self._open, 0) if self._open else ""


def _key(step):
    return "" if isinstance(step, int) else quote(step).decode() + ":"


def _opening(path, start):
    return "".join([("[" if isinstance(step, int) else "{") + _key(step) for step in path[start:]])


def _closing(path, start):
    return "".join(["]" if isinstance(step, int) else "}" for step in reversed(path[start:])])
