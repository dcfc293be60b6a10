"""Tracebacks of a board, translated to the source: the module and line of each line of an overlay.

A build has an id, which the package has as `__build__`, and which a board's log should have as
`build ID`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_ATTRIBUTE = re.compile(r"attribute '(\w+)'")
_NAME = re.compile(r"'(\w+)' object|name '(\w+)'")
_BUILD = re.compile(r"\bbuild ([0-9a-f]{12})\b")


@dataclass
class Map:
    """The origin of the lines and names of one build.

    `files` has for each overlay its lines, from 1: (path, first line, last line, function) or
    None; `names` has the old names of its symbols; `attributes` those of attributes and methods in
    all overlays, and `private` by the path of a module.
    """

    files: dict[str, list[tuple[str, int, int, str] | None]]
    names: dict[str, dict[str, str]]
    attributes: dict[str, str]
    private: dict[str, dict[str, str]]

    def as_json(self) -> dict[str, Any]:
        """The JSON for `from_json`; each text occurs in it once."""
        texts: dict[str, int] = {}

        def number(text: str) -> int:
            return texts.setdefault(text, len(texts))

        files = {
            name: [line and [number(line[0]), *line[1:3], number(line[3])] for line in lines]
            for name, lines in self.files.items()
        }
        return {
            "files": files,
            "texts": list(texts),
            "names": self.names,
            "attributes": self.attributes,
            "private": self.private,
        }


def from_json(data: Mapping[str, Any]) -> Map:
    """The map in the JSON of `Map.as_json`."""
    texts = data["texts"]
    files = {
        name: [line and (texts[line[0]], line[1], line[2], texts[line[3]]) for line in lines]
        for name, lines in data["files"].items()
    }
    return Map(files, data["names"], data["attributes"], data["private"])


class Translator:
    """Translates tracebacks in a board's log to the lines and names of the source.

    `read(build)` returns the map of a build, or None; without a map, lines stay unchanged. `build`
    is the id of the board's build; if it is unknown, `read(None)` is the map that counts until the
    board logs its own id. `package` is the program's.
    """

    def __init__(
        self, read: Callable[[str | None], Map | None], package: str, build: str | None = None
    ) -> None:
        self._read = read
        self._map = read(build)
        # Frozen overlays keep their paths, `package/name/o.py`, below any folder.
        self._frame_of = re.compile(
            rf'File "(?:(?:\w+/)?{package}/)?(\w+)(?:/o)?(?:\.py)?", line (\d+), in (\S+)'
        )
        self._overlay = ""
        self._path = ""

    def line(self, text: str) -> str:
        """The same line, with the names and places of the source."""
        said = _BUILD.search(text)
        if said:
            self._map = self._read(said[1])
        if self._map is None:
            return text
        text, frames = self._frame_of.subn(self._frame, text)
        if not frames and self._overlay and "Error" in text:
            text = _NAME.sub(self._name, _ATTRIBUTE.sub(self._attribute, text))
            self._overlay = ""
        return text

    def text(self, text: str) -> str:
        """Translate many lines at once."""
        return "\n".join(self.line(line) for line in text.split("\n"))

    def _frame(self, found: re.Match[str]) -> str:
        overlay, number, function = found[1], int(found[2]), found[3]
        lines = self._map.files.get(overlay, []) if self._map else []
        place = lines[number - 1] if 0 < number <= len(lines) else None
        if place is None:
            return found[0]
        self._overlay = overlay
        self._path, first, last, name = place
        if function.startswith("<"):
            name = function if not name or function == "<module>" else f"{name}.{function}"
        there = f"{first}-{last}" if last > first else str(first)
        return f'File "{self._path}", line {there}, in {name or function}'

    def _attribute(self, found: re.Match[str]) -> str:
        assert self._map is not None
        mine = self._map.private.get(self._path, {})
        return f"attribute '{mine.get(found[1]) or self._map.attributes.get(found[1], found[1])}'"

    def _name(self, found: re.Match[str]) -> str:
        assert self._map is not None
        old = found[1] or found[2]
        new = self._map.names.get(self._overlay, {}).get(old, old)
        return found[0].replace(f"'{old}'", f"'{new}'")
