"""The maps of builds, which translate a board's tracebacks.

A build has an id, which is in `/lib/tenner/__init__.py` and in the first lines of the board's log.
The map of a build is in `overlay-maps` of places.build_folder(), and in the user's cache folder
once the build is on a board.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mpy_linker.maps import Map, Translator, from_json
from tenner_host.places import build_folder, cache_folder, write_whole

BUILT = build_folder() / "overlay-maps"
#: Number of maps in a folder, the newest ones.
KEPT = 40


def translator(build: str | None = None, folders: Iterable[Path] | None = None) -> Translator:
    """A translator of one board's log, with the maps in `folders`; by default all that are
    kept."""
    known = list(folders) if folders is not None else [BUILT, _cache()]
    return Translator(partial(_read, known), "tenner", build)


def translate(text: str, build: str | None = None) -> str:
    """A board's traceback, translated to the source."""
    return translator(build).text(text)


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
