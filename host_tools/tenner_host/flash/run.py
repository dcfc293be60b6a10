"""One flash of one board: inspect, save, write, and check the start."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from tenner_host import budget
from tenner_host.board import Board, ports
from tenner_host.board.board import Started
from tenner_host.board.info import Info
from tenner_host.board.opening import open_board
from tenner_host.board.ports import Port
from tenner_host.board.transport import RETURN_LIMIT_S
from tenner_host.catalog import KnownBoard
from tenner_host.errors import CommandError, PortError, of_this_computer, then
from tenner_host.flash.loader import DEFAULT_BAUD, Loader
from tenner_host.flash.plan import FilePlan, agent_files, plan_files
from tenner_host.flash.saved import Unfinished, save
from tenner_host.flash.slots import described, has_slots, with_slots
from tenner_host.images import Contents, Image, check
from tenner_host.littlefs_image import BLOCK_SIZE, FileSystemError, make_file_system
from tenner_host.project import Project
from tenner_host.sync.backup import Backup

_RETURN_STEP_S = 0.2


class Interrupted(CommandError):
    """Ctrl-C; the sentence gives the state of the board."""

    exit_code = 130


class Screen(Protocol):
    """The owner's view of the progress, and the place for questions."""

    def say(self, text: str) -> None: ...

    def progress(
        self, title: str
    ) -> contextlib.AbstractContextManager[Callable[[int, int], None]]: ...

    def confirm(self, question: str) -> bool: ...


@dataclass
class FlashRequest:
    """The owner's request; the chip decides on board and image."""

    choose_board: Callable[[str], KnownBoard]
    get_image: Callable[[KnownBoard], Image]
    #: Two slots for MicroPython.
    slots: bool = False
    fast: bool = False
    #: The owner agrees to lose unreadable files.
    discard: bool = False
    baud: int = DEFAULT_BAUD


@dataclass
class Report:
    """The findings and the outcome."""

    port: str
    chip: str
    mac: str
    flash_size: int
    board: str
    image: Image
    contents: Contents
    fast: bool
    #: Files of the owner and the agent that were on the board.
    saved: list[str] = field(default_factory=list)
    #: Those of them that are in the backup only: start files that the agent's replaced.
    replaced: list[str] = field(default_factory=list)
    backup: Path | None = None
    #: The number of files in the new file system; None: it was not written.
    files: int | None = None
    written: list[tuple[int, int]] = field(default_factory=list)
    info: Info | None = None
    started: Started | None = None
    seconds: float = 0.0
    #: A sentence about too little memory for Telegram, or "".
    memory: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "port": self.port,
            "chip": self.chip,
            "mac": self.mac,
            "flash_bytes": self.flash_size,
            "board": self.board,
            "image": {
                "source": self.image.source,
                "sha256": self.image.sha256,
                "bytes": len(self.image.data),
                "version": self.contents.version,
            },
            "slots": has_slots(self.contents.rows),
            "fast": self.fast,
            "saved": self.saved,
            "replaced": self.replaced,
            "backup": str(self.backup) if self.backup else None,
            "files_written": self.files,
            "written": [{"offset": at, "bytes": size} for at, size in self.written],
            "micropython": self.info.micropython if self.info else None,
            "agent": self.started.as_json() if self.started else None,
            "seconds": round(self.seconds, 3),
            "memory": self.memory or None,
        }


def flash(port: Port, request: FlashRequest, project: Project, screen: Screen) -> Report:
    """Flash the board from start to end. Afterwards the port is free and the board runs."""
    begun = time.monotonic()
    with _going_wrong() as stage:
        with Loader(port.device, baud=request.baud) as stage.loader:
            loader = stage.loader
            report, known = _look(loader, port, request, screen)
            unfinished = Unfinished(project, loader.device_id)
            record = unfinished.load()
            plan = _save(loader, known, request, project, screen, report, unfinished)
            stage.backup = report.backup
            try:
                _burn(loader, known, plan, screen, report)
            finally:
                if stage.untouched and record is None:
                    unfinished.end()
            unfinished.end()
            stage.written = True
        project.remember(board=known.name)
        with screen.progress("Starting") as step:
            step(0, 0)
            _see_it_start(port, report)
    report.seconds = time.monotonic() - begun
    return report


@dataclass
class _Stage:
    """The progress of a flash."""

    loader: Loader | None = None
    written: bool = False
    backup: Path | None = None

    @property
    def untouched(self) -> bool:
        return self.loader is None or not self.loader.touched

    @property
    def half(self) -> str:
        files = (
            f"; its files are safe in {self.backup}, and go back on it then" if self.backup else ""
        )
        return f"Its flash is half written: run the same command again{files}"


@contextlib.contextmanager
def _going_wrong() -> Iterator[_Stage]:
    """Turn Ctrl-C and a lost board into a sentence with the board's state and the next step."""
    stage = _Stage()
    try:
        yield stage
    except KeyboardInterrupt:
        if stage.written:
            text = "stopped; flashed and verified, but not seen booting: press its reset button"
        elif stage.untouched:
            text = "stopped; nothing was changed, and the board starts as before"
        else:
            text = f"stopped in the middle of writing. {stage.half}"
        raise Interrupted(text) from None
    except (CommandError, OSError) as found:
        exc = of_this_computer(found) if isinstance(found, OSError) else found
        if stage.written:
            text = f"MicroPython is written and verified, but then: {exc.message}"
        elif stage.untouched:
            raise
        else:
            text = then(exc.message, stage.half)
        raise type(exc)(text) from found


def _look(
    loader: Loader, port: Port, request: FlashRequest, screen: Screen
) -> tuple[Report, KnownBoard]:
    """Return a report of the board, and its entry in boards/."""
    screen.say(
        f"{loader.chip} ({loader.mac}) with {loader.flash_size >> 20} MB of flash at {port.label}"
    )
    known = request.choose_board(loader.chip)
    image = request.get_image(known)
    contents = check(image, loader.chip, known.flash_offset, loader.flash_size)
    if request.slots:
        image, contents = with_slots(image, contents, known, loader.flash_size)
        screen.say(described(contents.rows, loader.flash_size))
    report = Report(
        port.device,
        loader.chip,
        loader.mac,
        loader.flash_size,
        known.full_name,
        image,
        contents,
        request.fast,
    )
    has_own = any(row.label == budget.OWN_PARTITION for row in contents.rows)
    report.memory = budget.shortage(known.name, known.variant, has_own)
    if report.memory:
        screen.say(f"{report.memory} (docs/memory.md).")
    return report, known


def _save(
    loader: Loader,
    known: KnownBoard,
    request: FlashRequest,
    project: Project,
    screen: Screen,
    report: Report,
    unfinished: Unfinished,
) -> FilePlan:
    """Save the board's files, and record the coming change."""
    record = unfinished.load()
    report.backup = unfinished.backup(record) if record else None
    if record:
        screen.say("An earlier flash of this board was not finished; its files come from there.")
        report.fast = report.fast or bool(record["fast"])
    with screen.progress("Reading the board's files") as step:
        plan = plan_files(
            loader,
            report.contents,
            report.image.data,
            usual_offset=known.files_offset,
            agent=partial(agent_files, known, project) if report.fast else None,
            record=record,
            saved=Backup.load(report.backup).files if report.backup else {},
            may_lose=partial(_may_lose, request, screen),
            progress=step,
        )
    report.saved, report.replaced = sorted(plan.own), plan.replaced
    if record and plan.found not in ({}, plan.read):
        # The saved files are about to replace these.
        save(project, loader.device_id, plan.found, "replaced")
    if plan.read:
        report.backup = save(project, loader.device_id, plan.read)
        screen.say(f"Saved {len(report.saved)} of the board's files in {report.backup}")
    unfinished.begin(report.backup, plan.region, fast=report.fast, files=plan.tree is not None)
    return plan


def _burn(
    loader: Loader, known: KnownBoard, plan: FilePlan, screen: Screen, report: Report
) -> None:
    """Write, and verify; check that the rest is unchanged."""
    region = plan.region
    parts = [("MicroPython", known.flash_offset, report.image.data)]
    before = None
    if plan.tree is None:
        before = loader.md5(region.offset, region.size)
    else:
        report.files = len(plan.tree)
        try:
            made = make_file_system(region.size, plan.tree)
        except FileSystemError as exc:
            raise CommandError(f"{exc}; nothing was changed") from exc
        parts.append(("files", region.offset, _without_free_blocks(made)))
    for what, start, data in parts:
        with screen.progress(f"Writing {what}") as step:
            loader.write(start, data, step)
        report.written.append((start, len(data)))
    if before and loader.md5(region.offset, region.size) != before:
        raise CommandError("the board's file system changed although nothing was written there")


def _may_lose(request: FlashRequest, screen: Screen, sentence: str) -> None:
    if request.discard or screen.confirm(f"{sentence[0].upper()}{sentence[1:]}. Erase it anyway?"):
        return
    raise CommandError(
        f"{sentence}. Nothing was changed. If there is nothing in it that you need, run this "
        "again with --discard"
    )


def _without_free_blocks(system: bytes) -> bytes:
    """The image up to the last used block: littlefs reads no other, and erases each before use."""
    used = len(system.rstrip(b"\xff"))
    return system[: -(-used // BLOCK_SIZE) * BLOCK_SIZE]


def _see_it_start(port: Port, report: Report) -> None:
    """Ask the board for its info, and start its agent."""
    with _open_again(port) as board:
        report.info = board.info()
        if report.info.agent:
            report.started = board.restart()


def _open_again(port: Port) -> Board:
    """Open a native USB port that vanishes during the reset, and may return under another name."""
    deadline = time.monotonic() + RETURN_LIMIT_S
    while True:
        try:
            return open_board(None if port.sim else ports.refind(port), port.sim)
        except PortError:
            if time.monotonic() > deadline:
                raise
        time.sleep(_RETURN_STEP_S)
