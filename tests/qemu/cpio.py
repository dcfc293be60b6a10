"""The archive that a kernel unpacks as its first file system."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from pathlib import Path


class Archive:
    """Files, links and folders, in order of insertion."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._folders: set[str] = set()
        self._inode = 0

    def file(self, name: str, data: bytes, mode: int = 0o100755) -> None:
        folder = os.path.dirname(name)
        if folder and folder not in self._folders:
            self._folders.add(folder)
            self.file(folder, b"", 0o040755)
        self._inode += 1
        path = name.encode() + b"\0"
        numbers = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
        self._data += b"070701" + b"".join(b"%08X" % number for number in numbers) + path
        self._data += b"\0" * (-len(self._data) % 4) + data + b"\0" * (-len(data) % 4)

    def folder(self, name: str) -> None:
        self.file(name, b"", 0o040755)

    def link(self, name: str, target: str) -> None:
        self.file(name, target.encode(), 0o120777)

    def copy(self, source: Path, name: str) -> None:
        """One file or link, from the host."""
        if source.is_symlink():
            self.link(name, os.readlink(source))
        else:
            self.file(name, source.read_bytes())

    def tree(self, source: Path, name: str, unused: Sequence[str] = ()) -> None:
        for path in sorted(source.rglob("*")):
            place = path.relative_to(source).as_posix()
            if path.is_file() and not place.startswith(tuple(unused)):
                self.copy(path, f"{name}/{place}")

    def packed(self) -> bytes:
        self.file("TRAILER!!!", b"", 0)
        return gzip.compress(bytes(self._data), 1)
