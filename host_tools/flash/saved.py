"""What is on a board and nobody else has: read out of its flash, kept here until it is back on it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from host_tools import tenner_version
from host_tools.flash.loader import Loader
from host_tools.littlefs_image import BLOCK_SIZE, FileSystem, FileSystemError, read_file_system
from host_tools.partitions import Partition
from host_tools.project import Project
from host_tools.sync.backup import Backup
from host_tools.sync.code import HOME, LIBRARY_HOMES

#: Code that is built anew; everything else is the owner's or the agent's.
_CODE = (*(f"{home}/" for home in (HOME, *LIBRARY_HOMES)), "/lib/next", "/main.py.new")
START_FILES = ("/boot.py", "/main.py")
_OURS = (b"# tenner ", b"# This file is executed on every boot")
_KEEP = 5


def is_code(path: str) -> bool:
    """Is this built anew by every sync?"""
    return path.startswith(_CODE)


def own_files(files: dict[str, bytes]) -> dict[str, bytes]:
    """Those of the owner and the agent: all but the code, and the start files unless they are foreign."""
    return {
        path: data
        for path, data in files.items()
        if not is_code(path)
        and (path not in START_FILES or (data.strip() and not data.startswith(_OURS)))
    }


def read_region(
    loader: Loader,
    region: Partition,
    wanted: Callable[[str], bool],
    progress: Callable[[int, int], None],
) -> FileSystem | None:
    """The wanted files of the littlefs in a region of flash; None when there is none.

    Only the blocks it needs are read. `progress` gets the bytes read so far, of an unknown number.
    """
    read = 0

    def read_block(number: int) -> bytes:
        nonlocal read
        data = loader.read(region.offset + number * BLOCK_SIZE, BLOCK_SIZE)
        read += len(data)
        progress(read, 0)
        return data

    try:
        return read_file_system(region.size, read_block, wanted)
    except FileSystemError:
        return None


def is_blank(loader: Loader, region: Partition) -> bool:
    """Would MicroPython make a new file system there? It looks at the start."""
    first = loader.read(region.offset, 2 * BLOCK_SIZE)
    return first == b"\xff" * len(first)


def save(project: Project, device_id: str, files: dict[str, bytes], label: str = "flash") -> Path:
    """Keep files of the board where `tenner restore` finds them; older ones of the same label go."""
    folder = project.folder / "backup"
    project.make()
    path = folder / f"{label}-{device_id}-{time.strftime('%Y%m%d-%H%M%S')}.zip"
    about = {
        "made": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "tenner": tenner_version(),
        "device_id": device_id,
    }
    Backup(files, about).save(path)
    for old in sorted(folder.glob(f"{label}-{device_id}-*.zip"))[:-_KEEP]:
        old.unlink()
    return path


class Unfinished:
    """A record that a board is being flashed, from before the first byte is written until all of it is right."""

    def __init__(self, project: Project, device_id: str) -> None:
        self._project = project
        self._name = f"flash/{device_id}.json"

    @property
    def _path(self) -> Path:
        return self._project.folder / self._name

    def load(self) -> dict[str, Any] | None:
        """What was recorded when the last one was not finished."""
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def begin(self, backup: Path | None, region: Partition, *, fast: bool, files: bool) -> None:
        """`files`: the file system is about to be written too, so only the backup counts from now on."""
        record = {
            "backup": backup and os.path.relpath(backup, self._project.folder),
            "region": [region.offset, region.size],
            "fast": fast,
            "files": files,
        }
        self._project.write(self._name, json.dumps(record))

    def backup(self, record: dict[str, Any]) -> Path | None:
        """The files that were saved then."""
        return self._project.folder / record["backup"] if record["backup"] else None

    def end(self) -> None:
        self._path.unlink(missing_ok=True)
