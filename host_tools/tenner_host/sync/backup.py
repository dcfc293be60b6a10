"""A backup: the owner's and the agent's files of a board, in one zip file."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenner_host import tenner_version
from tenner_host.board import Board
from tenner_host.board.transfer import Progress, short_hash
from tenner_host.errors import CommandError, reason
from tenner_host.places import write_whole
from tenner_host.sync.code import check_space

#: Everything but code.
ROOTS = ["/workspace", "/state", "/certs", "/config.json"]
_ABOUT = "backup.json"


@dataclass(frozen=True)
class Backup:
    """Files by their path on the board, and facts about the board."""

    files: dict[str, bytes]
    about: dict[str, Any]

    def save(self, path: Path) -> None:
        """Write the zip file atomically, readable by its owner only: it holds keys."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_ABOUT, json.dumps(self.about, indent=1))
            for name, data in sorted(self.files.items()):
                archive.writestr(f"board{name}", data)
        write_whole(path, packed.getvalue(), private=True)

    @classmethod
    def load(cls, path: Path) -> Backup:
        """Read a zip file written by `save`."""
        try:
            with zipfile.ZipFile(path) as archive:
                about = json.loads(archive.read(_ABOUT))
                files = {
                    name.removeprefix("board"): archive.read(name)
                    for name in archive.namelist()
                    if name.startswith("board/")
                }
        except OSError as exc:
            raise CommandError(f"{path} cannot be read: {reason(exc)}") from exc
        except (KeyError, ValueError, zipfile.BadZipFile) as exc:
            raise CommandError(f"{path} is not a backup made by `tenner backup`: {exc}") from exc
        return cls(files, about)


def take(board: Board, roots: Iterable[str] = ROOTS, progress: Progress | None = None) -> Backup:
    """Read all files below `roots` from the board."""
    info, there, _ = board.survey(list(roots))
    files = board.read_files(sorted(there), progress)
    missing = sorted(set(there) - set(files))
    if missing:
        raise CommandError(
            f"the board's {', '.join(missing)} cannot be read, so the backup would be "
            "incomplete; see `tenner doctor`"
        )
    about = {
        "made": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "tenner": tenner_version(),
        "agent": info.agent,
        "micropython": info.micropython,
        "device_id": info.device_id,
    }
    return Backup(files, about)


def restore_backup(
    board: Board,
    backup: Backup,
    save: Callable[[str, bytes], None],
    progress: Progress | None = None,
) -> list[str]:
    """Write the files of a backup, and return their paths; other files on the board stay.
    `save(path, data)` keeps each one that will be replaced, before the first is written."""
    wrong = [name for name in backup.files if not name.startswith("/") or ".." in name.split("/")]
    if wrong:
        raise CommandError(f"the backup holds {wrong[0]!r}, which is no file of a board")
    info, there, _ = board.survey(ROOTS)
    different = {
        path: data
        for path, data in backup.files.items()
        if path not in there or there[path].hash != short_hash(data)
    }
    check_space(info, different)
    for path, data in board.read_files([path for path in different if path in there]).items():
        save(path, data)
    board.write_files(different, progress=progress)
    return sorted(different)
