"""The workspace in the owner's folder: its files, their state at the last sync, and the execution
of steps."""

from __future__ import annotations

import difflib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tenner_host.board import Board
from tenner_host.board.board import Entry
from tenner_host.board.transfer import Progress, short_hash
from tenner_host.errors import CommandError
from tenner_host.output import visible
from tenner_host.places import write_whole
from tenner_host.project import Project
from tenner_host.sync.ignore import Ignore
from tenner_host.sync.threeway import Action, Step, plan

HOME = "/workspace"
_RECORD = "synced.json"

#: Asks about a file that changed on both sides: (path, here, on the board), each None if deleted.
#: Answers "here", "board" or "skip".
Ask = Callable[[str, bytes | None, bytes | None], str]


@dataclass
class Outcome:
    """The outcome for the files, by path."""

    done: list[Step] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    #: Deleted on one side, kept on the other.
    kept: list[Step] = field(default_factory=list)
    #: The folder with the replaced or deleted files.
    saved: Path | None = None


def _stored(name: str) -> str:
    """The name of a board's file, if this computer can store it."""
    path = PurePosixPath(name)
    if not name or visible(name, "") != name or ".." in path.parts or path.is_absolute():
        raise CommandError(
            f"the board has a file {ascii(name)}, which cannot be stored here; rename or delete "
            "it there"
        )
    return name


class Workspace:
    """The folder `workspace/` of a project, for one board."""

    def __init__(self, project: Project, device_id: str | None) -> None:
        self.project = project
        self.folder = project.root / "workspace"
        self.ignore = Ignore.load(project.root)
        self._device = device_id or "board"
        self._saved: Path | None = None

    # Three states.

    def here(self) -> dict[str, str]:
        """Hash of every file in the folder, by path."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if path.is_file() and not self.ignore(name):
                found[name] = short_hash(path.read_bytes())
        return found

    def there(self, entries: Mapping[str, Entry]) -> dict[str, str]:
        """Hash of every file of the workspace among the board's files."""
        start = len(HOME) + 1
        return {
            path[start:]: entry.hash
            for path, entry in entries.items()
            if path.startswith(f"{HOME}/") and not self.ignore(path[start:])
        }

    def synced(self) -> dict[str, str]:
        """Hash of every file at the last sync of this board."""
        return dict(self._records().get(self._device, {}))

    def _records(self) -> dict[str, dict[str, str]]:
        try:
            found = json.loads((self.project.folder / _RECORD).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            # Without it a sync asks about every different file; nothing is lost.
            return {}
        return found if isinstance(found, dict) else {}

    def record(self, synced: dict[str, str]) -> None:
        records = self._records()
        records[self._device] = dict(sorted(synced.items()))
        self.project.write(_RECORD, json.dumps(records, indent=1))

    def plan(self, entries: Mapping[str, Entry]) -> list[Step]:
        return plan(self.synced(), self.here(), self.there(entries))

    def seed(self, templates: Path) -> None:
        """Start a workspace from the templates."""
        for path in sorted(templates.rglob("*")):
            name = path.relative_to(templates).as_posix()
            if path.is_file() and not self.ignore(name):
                self._write(name, path.read_bytes())

    # Files here.

    def read(self, name: str) -> bytes:
        return self._path(name).read_bytes()

    def _path(self, name: str) -> Path:
        path = self.folder / _stored(name)
        for place in (path, *path.parents):
            if place == self.folder:
                break
            if place.is_symlink():
                raise CommandError(
                    f"{place} is a link: nothing of a board is written through one; move it "
                    "away, or list it in .tennerignore"
                )
        return path

    def _write(self, name: str, data: bytes) -> None:
        write_whole(self._path(name), data)

    def save(self, name: str, data: bytes) -> None:
        """Save a file in .tenner/replaced/ before its replacement or removal."""
        if self._saved is None:
            self._saved = self.project.folder / "replaced" / time.strftime("%Y%m%d-%H%M%S")
        self.project.write(
            (self._saved / _stored(name)).relative_to(self.project.folder).as_posix(), data
        )

    # Carrying out.

    def settle(
        self,
        board: Board,
        steps: Iterable[Step],
        *,
        ask: Ask,
        delete: bool = False,
        push: bool = True,
        progress: Progress | None = None,
    ) -> Outcome:
        """Execute the steps; without `push` only read the board."""
        outcome = Outcome()
        steps, chosen = self._decide(board, list(steps), ask, outcome)
        gone = [step for step in steps if step.action in (Action.GONE_HERE, Action.GONE_BOARD)]
        outcome.kept = [step for step in gone if not delete and step.path not in chosen]
        steps = [step for step in steps if step not in outcome.kept]
        synced = self.synced()
        self._pull(
            board,
            [step for step in steps if step.action is Action.PULL],
            synced,
            outcome,
            progress,
        )
        self._delete_here(steps, synced, outcome)
        for step in steps:
            if step.action is Action.RECORD:
                synced[step.path] = short_hash(self.read(step.path))
            elif step.action is Action.FORGET:
                synced.pop(step.path, None)
        self.record(synced)
        if push:
            self._push(board, steps, synced, outcome, progress)
            self._delete_there(board, steps, synced, outcome)
            self.record(synced)
        outcome.saved = self._saved
        return outcome

    def _decide(
        self, board: Board, steps: list[Step], ask: Ask, outcome: Outcome
    ) -> tuple[list[Step], set[str]]:
        """Replace conflicts by the owner's choices; return the steps, and the paths chosen."""
        paths = [step.path for step in steps if step.action is Action.CONFLICT]
        there = board.read_files([f"{HOME}/{path}" for path in paths]) if paths else {}
        decided = [step for step in steps if step.action is not Action.CONFLICT]
        chosen = set()
        for name in paths:
            theirs = there.get(f"{HOME}/{name}")
            path = self._path(name)
            ours = path.read_bytes() if path.is_file() else None
            answer = ask(name, ours, theirs)
            if answer == "skip":
                outcome.conflicts.append(name)
                continue
            chosen.add(name)
            winner, loser = (ours, theirs) if answer == "here" else (theirs, ours)
            if loser is not None:
                self.save(name, loser)
            if answer == "here":
                decided.append(Step(name, Action.GONE_HERE if winner is None else Action.PUSH))
            else:
                decided.append(Step(name, Action.GONE_BOARD if winner is None else Action.PULL))
        return decided, chosen

    def _pull(
        self,
        board: Board,
        steps: list[Step],
        synced: dict[str, str],
        outcome: Outcome,
        progress: Progress | None,
    ) -> None:
        if not steps:
            return
        for step in steps:
            # Check each name before any write.
            self._path(step.path)
        found = board.read_files([f"{HOME}/{step.path}" for step in steps], progress)
        for step in steps:
            data = found.get(f"{HOME}/{step.path}")
            if data is None:
                raise CommandError(
                    f"the board's {HOME}/{step.path} cannot be read; see `tenner doctor`"
                )
            self._write(step.path, data)
            synced[step.path] = short_hash(data)
            outcome.done.append(step)

    def _push(
        self,
        board: Board,
        steps: list[Step],
        synced: dict[str, str],
        outcome: Outcome,
        progress: Progress | None,
    ) -> None:
        files = {step.path: self.read(step.path) for step in steps if step.action is Action.PUSH}
        if not files:
            return
        board.write_files(
            {f"{HOME}/{path}": data for path, data in files.items()}, progress=progress
        )
        for step in steps:
            if step.path in files:
                synced[step.path] = short_hash(files[step.path])
                outcome.done.append(step)

    def _delete_here(self, steps: list[Step], synced: dict[str, str], outcome: Outcome) -> None:
        for step in steps:
            if step.action is Action.GONE_BOARD:
                path = self._path(step.path)
                if path.is_file():
                    self.save(step.path, path.read_bytes())
                    path.unlink()
                synced.pop(step.path, None)
                outcome.done.append(step)

    def _delete_there(
        self, board: Board, steps: list[Step], synced: dict[str, str], outcome: Outcome
    ) -> None:
        gone = [step for step in steps if step.action is Action.GONE_HERE]
        paths = [f"{HOME}/{step.path}" for step in gone]
        for path, data in board.read_files(paths).items() if paths else ():
            self.save(path.removeprefix(f"{HOME}/"), data)
        board.remove(paths)
        for step in gone:
            synced.pop(step.path, None)
        outcome.done += gone


def diff(path: str, ours: bytes | None, theirs: bytes | None) -> list[str]:
    """The difference between the board's version and the one here, as lines to show."""
    if ours is None or theirs is None:
        side = "here" if ours is None else "on the board"
        return [f"{path} was deleted {side} and changed on the other side"]
    try:
        here, there = ours.decode().splitlines(), theirs.decode().splitlines()
    except UnicodeDecodeError:
        return [f"{path} is not text: {len(ours)} bytes here, {len(theirs)} on the board"]
    names = f"{path} (here)", f"{path} (board)"
    return list(difflib.unified_diff(here, there, *names, lineterm=""))
