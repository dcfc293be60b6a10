"""The plan for the file system of a board to be flashed; it keeps all files of owner and agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tenner_host import partitions
from tenner_host.build import read_tree
from tenner_host.catalog import KnownBoard
from tenner_host.errors import CommandError
from tenner_host.flash.loader import Loader
from tenner_host.flash.saved import START_FILES, is_blank, is_code, own_files, read_region
from tenner_host.images import Contents
from tenner_host.littlefs_image import BLOCK_SIZE, FileSystem, FileSystemError, read_file_system
from tenner_host.partitions import Partition
from tenner_host.project import Project
from tenner_host.sync.code import code_tree


@dataclass
class FilePlan:
    """`tree` is the content of the new file system; None leaves the present one unchanged."""

    region: Partition
    tree: dict[str, bytes] | None
    #: Everything to keep: read from the board, or saved from it earlier.
    read: dict[str, bytes]
    #: The part of it that is on the board now.
    found: dict[str, bytes]
    #: The owner's start files that afterwards exist only in the backup.
    replaced: list[str] = field(default_factory=list)

    @property
    def own(self) -> dict[str, bytes]:
        return own_files(self.read)


def plan_files(
    loader: Loader,
    contents: Contents,
    image: bytes,
    *,
    usual_offset: int,
    agent: Callable[[], dict[str, bytes]] | None,
    record: dict[str, Any] | None,
    saved: dict[str, bytes],
    may_lose: Callable[[str], None],
    progress: Callable[[int, int], None],
) -> FilePlan:
    """Read the board's files, and decide.

    `usual_offset` is the offset of the files on such a board. `agent` makes the files of --fast.
    `record` and `saved` come from an earlier, unfinished flash. `may_lose` raises unless the owner
    agrees to a sentence.
    """
    target = partitions.file_system(contents.rows, loader.flash_size)
    if target is None:
        raise CommandError(
            f"this image leaves no room for files in {loader.flash_size >> 20} MB of flash; is "
            "it for another variant of the board? Nothing was changed"
        )
    table = loader.read(partitions.TABLE_OFFSET, partitions.TABLE_SIZE)
    current = partitions.file_system(partitions.parse_table(table), loader.flash_size)
    half_written = bool(record and record["files"])
    usual = _region(usual_offset, loader.flash_size - usual_offset)
    found = _find(loader, [current, _recorded(record), target, usual], progress)
    files = found.system.files if found else {}
    plan = FilePlan(target, None, files, files)
    if record and (half_written or not found):
        # The file system may be half new and half old: trust the files saved then.
        plan.read = {**files, **saved}
    elif not found and current and not is_blank(loader, current):
        may_lose(
            f"the file system of the board at 0x{current.offset:x} cannot be read: it is "
            "damaged, or not a littlefs"
        )
    covered = contents.end > target.offset
    if agent:
        made = agent()
        # The owner's boot.py or main.py would keep the agent from starting.
        plan.replaced = sorted(path for path in plan.own if path in START_FILES)
        kept = {path: data for path, data in plan.own.items() if path not in START_FILES}
        plan.tree = {**made, **kept}
    elif not (found and found.fits(target)) or covered or half_written:
        if found and not half_written:
            # It cannot stay in place, so read the code too.
            plan.read = found.all_of_it(loader, progress)
        tree = {**(_files_in(image, contents, target) if covered else {}), **plan.read}
        # MicroPython makes a new file system of blank flash; other content it would take for a
        # damaged one, and stop at every start.
        plan.tree = tree if tree or not is_blank(loader, target) else None
    return plan


@dataclass
class _Found:
    """The file system on the board."""

    region: Partition
    system: FileSystem

    def fits(self, target: Partition) -> bool:
        """Would MicroPython find it there, and mount it?"""
        return (self.region.offset, self.system.size) == (target.offset, target.size)

    def all_of_it(self, loader: Loader, progress: Callable[[int, int], None]) -> dict[str, bytes]:
        system = read_region(loader, self.region, bool, progress)
        return system.files if system else {}


def _find(
    loader: Loader, regions: list[Partition | None], progress: Callable[[int, int], None]
) -> _Found | None:
    """The first region with a file system; reads all but the code, which is rebuilt."""
    for region in dict.fromkeys(regions):
        system = region and read_region(loader, region, _not_code, progress)
        if region and system:
            return _Found(region, system)
    return None


def _not_code(path: str) -> bool:
    return not is_code(path)


def _recorded(record: dict[str, Any] | None) -> Partition | None:
    if not record:
        return None
    return _region(*record["region"])


def _region(offset: int, size: int) -> Partition:
    return Partition("vfs", partitions.DATA, 0x81, offset, size)


def _files_in(image: bytes, contents: Contents, target: Partition) -> dict[str, bytes]:
    """The files inside the image, as in a dump of a whole flash."""
    start = target.offset - (contents.end - len(image))

    def read_block(number: int) -> bytes:
        at = start + number * BLOCK_SIZE
        return image[at : at + BLOCK_SIZE].ljust(BLOCK_SIZE, b"\xff")

    try:
        return read_file_system(target.size, read_block).files
    except FileSystemError:
        return {}


def agent_files(known: KnownBoard, project: Project) -> dict[str, bytes]:
    """The files of --fast: the agent, and the project's workspace or the templates for one."""
    own = project.root / "workspace"
    tree = code_tree(known.name, templates=not own.is_dir())
    if own.is_dir():
        tree.update({f"/workspace{path}": data for path, data in read_tree(own).items()})
    return tree
