"""The board's own files: read out of its flash, and kept here until they are back on it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tenner_host import tenner_version
from tenner_host.flash.loader import Loader
from tenner_host.littlefs_image import BLOCK_SIZE, FileSystem, FileSystemError, read_file_system
from tenner_host.partitions import Partition
from tenner_host.project import Project
from tenner_host.sync.backup import Backup
from tenner_host.sync.code import HOME, OLD_LIBRARY

#: Code that every sync rebuilds; everything else belongs to the owner or the agent.
_CODE = (f"{HOME}/", f"{OLD_LIBRARY}/", "/lib/next", "/main.py.new")
START_FILES = ("/boot.py", "/main.py")
_OURS = (b"# tenner ", b"# This file is executed on every boot")
_KEEP = 5


def is_code(path: str) -> bool:
    """Does every sync rebuild this file?"""
    return path.startswith(_CODE)


def own_files(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files of the owner and the agent: all but the code, and of the start files the foreign
    ones."""
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
    """The wanted files of the littlefs in a region of flash; None without a littlefs.

    Reads only the blocks it needs. `progress` gets the bytes read so far, of an unknown total.
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
    """Would MicroPython make a new file system there? It checks the start."""
    first = loader.read(region.offset, 2 * BLOCK_SIZE)
    return first == b"\xff" * len(first)


def save(project: Project, device_id: str, files: dict[str, bytes], label: str = "flash") -> Path:
    """Store files of the board for `tenner restore`; remove older ones of the same label."""
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
    """A record of a flash in progress, from before the first written byte until everything is
    verified."""

    def __init__(self, project: Project, device_id: str) -> None:
        self._project = project
        self._name = f"flash/{device_id}.json"

    @property
    def _path(self) -> Path:
        return self._project.folder / self._name

    def load(self) -> dict[str, Any] | None:
        """The record of an unfinished flash; None without one."""
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def begin(self, backup: Path | None, region: Partition, *, fast: bool, files: bool) -> None:
        """`files`: the file system will be written too, so from now on only the backup counts."""
        record = {
            "backup": backup and os.path.relpath(backup, self._project.folder),
            "region": [region.offset, region.size],
            "fast": fast,
            "files": files,
        }
        self._project.write(self._name, json.dumps(record))

    def backup(self, record: dict[str, Any]) -> Path | None:
        """The files of the record's backup."""
        return self._project.folder / record["backup"] if record["backup"] else None

    def end(self) -> None:
        self._path.unlink(missing_ok=True)
