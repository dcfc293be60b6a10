"""The owner's folder: its board and its last sync. Kept in `.tenner/`, like git's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tenner_host.errors import CommandError
from tenner_host.places import write_whole

_FOLDER = ".tenner"


class Project:
    """`root` is the nearest folder upwards with a `.tenner/`, else the given one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / _FOLDER
        self._file = self.folder / "project.json"

    @classmethod
    def find(cls, start: Path | None = None) -> Project:
        here = (start or Path.cwd()).resolve()
        for folder in (here, *here.parents):
            if (folder / _FOLDER).is_dir():
                return cls(folder)
        return cls(here)

    @property
    def exists(self) -> bool:
        return self.folder.is_dir()

    def load(self) -> dict[str, Any]:
        """The stored values; {} in a new folder."""
        try:
            text = self._file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise CommandError(
                f"{self._file} is damaged; remove it, and name the board with --port once"
            )
        return found

    def remember(self, **values: Any) -> None:
        """Change stored values; None removes one."""
        known = self.load()
        known.update(values)
        self.write(
            "project.json", json.dumps({k: v for k, v in known.items() if v is not None}, indent=1)
        )

    def make(self) -> None:
        """Make `.tenner/` if it is missing."""
        if not self.folder.is_dir():
            self.folder.mkdir(parents=True)
            # Its content is private: ports, backups with secrets.
            write_whole(self.folder / ".gitignore", b"*\n")

    def write(self, name: str, data: str | bytes) -> None:
        """Write a file of `.tenner/` atomically."""
        self.make()
        write_whole(self.folder / name, data.encode() if isinstance(data, str) else data)
