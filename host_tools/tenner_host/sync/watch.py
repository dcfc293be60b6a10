"""Waits for changed files of a project: `tenner sync --watch`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import watchfiles

from tenner_host import BOARDS, FIRMWARE
from tenner_host.project import Project

#: Until the first word that the watch has begun.
_BEGIN_MS = 300


class Watch:
    """Yields changed files that a sync reads. The sync's own writes are `settled` and count as no
    change."""

    def __init__(self, project: Project, board: str) -> None:
        self._workspace = project.root / "workspace"
        folders = (FIRMWARE, BOARDS / board, self._workspace)
        self._folders = [folder for folder in folders if folder.is_dir()]
        self._own: dict[Path, int | None] = {}

    def settled(self, paths: Iterable[str]) -> None:
        """Remember these files of the workspace as they are now."""
        for path in paths:
            file = self._workspace / path
            self._own[file.resolve()] = _modified(file)

    def changes(self, begun: Callable[[], None]) -> Iterator[set[Path]]:
        """Call `begun` once no change can be missed any more, then yield the changed files, again
        and again."""
        waiting = True
        for found in watchfiles.watch(
            *self._folders,
            watch_filter=lambda _, path: "__pycache__" not in Path(path).parts,
            rust_timeout=_BEGIN_MS,
            yield_on_timeout=True,
        ):
            if waiting:
                begun()
                waiting = False
            paths = {Path(path).resolve() for _, path in found if not Path(path).is_dir()}
            if new := {path for path in paths if self._own.get(path, -1) != _modified(path)}:
                yield new


def _modified(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
