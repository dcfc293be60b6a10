"""What becomes of the file system when a board is flashed; nothing its owner or agent wrote may get lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from host_tools import partitions
from host_tools.build import BuildError, firmware_tree, read_tree
from host_tools.catalog import KnownBoard
from host_tools.errors import CommandError
from host_tools.flash.images import Contents
from host_tools.flash.loader import Loader
from host_tools.flash.saved import START_FILES, is_blank, is_code, own_files, read_region
from host_tools.littlefs_image import BLOCK_SIZE, FileSystemError, read_file_system
from host_tools.partitions import Partition
from host_tools.project import Project


@dataclass
class FilePlan:
    """`tree` is what the new file system holds; None leaves the one that is there alone."""

    region: Partition
    tree: dict[str, bytes] | None
    #: Everything to keep: read from the board, or saved from it earlier.
    read: dict[str, bytes]
    #: What of it was on the board now.
    found: dict[str, bytes]
    #: Start files of the owner's own that are only in the backup afterwards.
    replaced: list[str] = field(default_factory=list)

    @property
    def own(self) -> dict[str, bytes]:
        return own_files(self.read)


def plan_files(
    loader: Loader,
    contents: Contents,
    image: bytes,
    *,
    agent: Callable[[], dict[str, bytes]] | None,
    record: dict[str, Any] | None,
    saved: dict[str, bytes],
    may_lose: Callable[[str], None],
    progress: Callable[[int, int], None],
) -> FilePlan:
    """Read what there is, and decide.

    `agent` makes the files of --fast. `record` and `saved` are of an earlier flash that was not
    finished. `may_lose` raises unless the owner agrees to a sentence.
    """
    target = partitions.file_system(contents.rows, loader.flash_size)
    if target is None:
        raise CommandError(
            f"this image leaves no room for files in {loader.flash_size >> 20} MB of flash; is it for "
            "another variant of the board? Nothing was changed"
        )
    table = loader.read(partitions.TABLE_OFFSET, partitions.TABLE_SIZE)
    current = partitions.file_system(partitions.parse_table(table), loader.flash_size)
    covered = contents.end > target.offset
    half_written = bool(record and record["files"])
    # The code need not be read where it stays, or is built anew.
    all_of_it = agent is None and (covered or half_written or current not in (target, None))
    wanted: Callable[[str], bool] = bool if all_of_it else _not_code
    found, there = None, None
    for there in dict.fromkeys(
        region for region in (current, _recorded(record), target) if region is not None
    ):
        found = read_region(loader, there, wanted, progress)
        if found is not None:
            break
    plan = FilePlan(target, None, found or {}, found or {})
    if record and (half_written or found is None):
        # Half of the file system may be new and half of it old: what was saved then is right.
        plan.read = {**plan.read, **saved}
    elif found is None and current is not None and not is_blank(loader, current):
        may_lose(
            f"the file system of the board at 0x{current.offset:x} cannot be read: it is damaged, or not a "
            "littlefs"
        )
    if agent is not None:
        made = agent()
        # A boot.py or main.py of the owner's own would keep the agent from starting.
        plan.replaced = sorted(path for path in plan.own if path in START_FILES)
        kept = {path: data for path, data in plan.own.items() if path not in START_FILES}
        plan.tree = {**made, **kept}
    elif covered:
        plan.tree = {**_files_in(image, contents, target), **plan.read}
    elif found is not None and there == target and not half_written:
        plan.tree = None
    elif plan.read or not is_blank(loader, target):
        # MicroPython would take what else is there for a damaged file system, and stop at every start.
        plan.tree = plan.read
    return plan


def _not_code(path: str) -> bool:
    return not is_code(path)


def _recorded(record: dict[str, Any] | None) -> Partition | None:
    if not record:
        return None
    offset, size = record["region"]
    return Partition("vfs", partitions.DATA, 0x81, offset, size)


def _files_in(image: bytes, contents: Contents, target: Partition) -> dict[str, bytes]:
    """The files that come with the image itself, as with a dump of a whole flash."""
    start = target.offset - (contents.end - len(image))

    def read_block(number: int) -> bytes:
        at = start + number * BLOCK_SIZE
        return image[at : at + BLOCK_SIZE].ljust(BLOCK_SIZE, b"\xff")

    try:
        return read_file_system(target.size, read_block)
    except FileSystemError:
        return {}


def agent_files(known: KnownBoard, project: Project) -> dict[str, bytes]:
    """What --fast puts on the board: the agent, and the project's workspace or the templates of one."""
    own = project.root / "workspace"
    try:
        tree = firmware_tree(known.name, workspace=not own.is_dir())
    except BuildError as exc:
        raise CommandError(str(exc)) from exc
    if own.is_dir():
        tree.update({f"/workspace{path}": data for path, data in read_tree(own).items()})
    return tree
