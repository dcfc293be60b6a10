"""Tracebacks of a board, translated to the source: the module and line of each line of an overlay.

A build has an id, which is in `/lib/tenner/__init__.py` and in the first lines of the board's log.
The map of a build is in `overlay-maps` of places.build_folder(), and in the user's cache folder
once the build is on a board.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenner_host.places import build_folder, cache_folder, write_whole

BUILT = build_folder() / "overlay-maps"
#: Number of maps in a folder, the newest ones.
KEPT = 40

#: Of an overlay's file; frozen ones keep their paths.
_FRAME = re.compile(r'File "(?:(?:agent/)?tenner/)?(\w+)(?:/o)?(?:\.py)?", line (\d+), in (\S+)')
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

    Without a fitting map, lines stay unchanged. `build` is the id of the board's build; if it is
    unknown, the newest map counts until the board logs its own id.
    """

    def __init__(self, build: str | None = None, folders: Iterable[Path] | None = None) -> None:
        self._folders = list(folders) if folders is not None else [BUILT, _cache()]
        self._map = _read(self._folders, build)
        self._overlay = ""
        self._path = ""

    def line(self, text: str) -> str:
        """The same line, with the names and places of the source."""
        said = _BUILD.search(text)
        if said:
            self._map = _read(self._folders, said[1])
        if self._map is None:
            return text
        text, frames = _FRAME.subn(self._frame, text)
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


def translate(text: str, build: str | None = None) -> str:
    """A board's traceback, translated to the source."""
    return Translator(build).text(text)


def save(build: str, data: Mapping[str, Any], folder: Path | None = None) -> None:
    """Store the map of a build, by default in the build folder."""
    folder = folder or BUILT
    path = folder / f"{build}.json"
    if path.exists():
        path.touch()
    else:
        write_whole(path, json.dumps(data, separators=(",", ":")).encode())
    maps = sorted(folder.glob("*.json"), key=_age)
    for old in maps[:-KEPT]:
        old.unlink(missing_ok=True)


def keep(tree: Mapping[str, bytes]) -> None:
    """Store the map of a tree that goes to a board for as long as the board may print tracebacks
    of it."""
    build = build_of(tree)
    if build:
        found = BUILT / f"{build}.json"
        if found.exists():
            save(build, json.loads(found.read_text(encoding="utf-8")), _cache())


def build_of(tree: Mapping[str, bytes]) -> str | None:
    """The id of the build in a board's files, if there is one."""
    found = re.search(rb'__build__ = "([0-9a-f]{12})"', tree.get("/lib/tenner/__init__.py", b""))
    return found[1].decode() if found else None


def _age(path: Path) -> float:
    """When a map was last used; another process may have just removed it."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _cache() -> Path:
    return cache_folder() / "overlay-maps"


def _read(folders: Iterable[Path], build: str | None) -> Map | None:
    """The map of a build, or the newest of all if `build` is None."""
    paths = [path for folder in folders for path in folder.glob(f"{build or '*'}.json")]
    if not paths:
        return None
    newest = max(paths, key=_age)
    return from_json(json.loads(newest.read_text(encoding="utf-8")))
