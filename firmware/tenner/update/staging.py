# tenner update.staging: writes new code beside the old on flash, and switches to it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The new tree is /lib/tenner.new. It counts after `switch` has written the list that boot.py
executes. So a power cut at any write leaves all of the old code or all of the new. boot_trial.py
has the names of the trees.
"""

import asyncio
import os
from hashlib import sha256

from tenner import __version__
from tenner.port.compat import const
from tenner.port.package import entries
from tenner.store import files
from tenner.update import slot
from tenner.update.manifest import Manifest, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenner.update.manifest import Plan

_HOME = "/lib/tenner"
_MANIFEST = "/lib/tenner.new/manifest"
_PINS = "/pins.csv"
_BLOCK = const(4096)
_SPARE_BLOCKS = const(8)
_COMMIT = const(16384)  # a power cut loses this much of the download at most
_PIECE = const(512)


class Staging:
    """The new tree of the board with this root folder; `plan` is that of its manifest, which
    `resume` reads."""

    def __init__(self, root: str = "", plan: "Plan | None" = None) -> None:
        self.root = root
        self.tree = root + _HOME + ".new"
        self.plan = plan

    def resume(self, data: bytes) -> int:
        """Go on with an unfinished tree of the release with this manifest, or begin a new one;
        return the missing bytes."""
        self.plan = Manifest(data, self.root).plan()
        if self._kept() != data:
            self.discard()
            self._check_space()
            files.make_dirs(self.tree)
            files.write_atomic(self.root + _MANIFEST, data)
        return self.total() - self.present()

    def discard(self) -> None:
        """Remove the unfinished tree, and those of earlier updates."""
        for ending in (".new", ".old", ".bad"):
            remove_tree(self.root + _HOME + ending)

    def _kept(self):
        path = self.root + _MANIFEST
        if not files.exists(path):
            return b""
        with open(path, "rb") as file:
            return file.read()

    def total(self) -> int:
        """Return the number of bytes of the content."""
        return sum([size for _, size, _ in self.plan[2]])

    def present(self) -> int:
        """Return how many bytes of the content come before the first missing one."""
        present = 0
        for path, size, _ in self.plan[2]:
            there = size if path is None else self._size(path)
            present += there
            if there < size:
                break
        return present

    def _size(self, path):
        if not path:
            return slot.present(self.tree)
        return max(files.size(self.tree + "/" + path), 0)

    def _check_space(self):
        need = _SPARE_BLOCKS + sum([-(-size // _BLOCK) for path, size, _ in self.plan[2] if path])
        stat = os.statvfs(self.root + "/lib")
        free = stat[0] * stat[3] // _BLOCK
        if free < need:
            raise Refused(
                (
                    "the flash is too full: the release needs %d KB beside the present code, and "
                    "%d KB are free"
                )
                % (need * 4, free * 4)
            )

    async def receive(
        self, readinto: "Callable[[bytearray | memoryview], Awaitable[int]]", present: int
    ) -> None:
        """
        Append the content that `await readinto(view)` returns; its first `present` bytes are on
        flash already, and are skipped. EOFError if it ends too early; `resume` continues there.
        """
        view = memoryview(bytearray(_PIECE))
        await _drop(readinto, view, present)
        start = self.present()
        for path, size, _ in self.plan[2]:
            if path:
                await self._receive_file(readinto, view, path, size)
            elif path is not None:
                await slot.receive(self.tree, size, _some, readinto, view)
            elif start <= 0:
                await _drop(readinto, view, size)
            start -= size

    async def _receive_file(self, readinto, view, path, size):
        place = self.tree + "/" + path
        files.make_dirs(place.rpartition("/")[0])
        left = size - self._size(path)
        while left > 0:
            # A file counts from its closing on: littlefs writes no part of a block before.
            with open(place, "ab") as file:
                end = max(left - _COMMIT, 0)
                while left > end:
                    count = await _some(readinto, view[: min(left - end, _PIECE)])
                    files.put(file, view[:count])
                    left -= count

    async def verify(self) -> None:
        """Read every file back and compare it; Refused and no tree if one is wrong."""
        for path, size, digest in self.plan[2]:
            if path is None:
                continue
            found = sha256()
            blocks = files.blocks(self.tree + "/" + path) if path else slot.blocks(size)
            for count, block in enumerate(blocks):
                found.update(block)
                if count & 15 == 15:
                    await asyncio.sleep(0)
            if (
                self._size(path) != size
                or found.digest() != digest
                or not path
                and not slot.is_for_this_chip()
            ):
                self.discard()
                raise Refused(
                    "%s is not as the release's manifest says; nothing was changed"
                    % (path or "MicroPython")
                )

    def switch(self) -> None:
        """Have the next start begin the trial of the new tree."""
        pins = self.root + _HOME + _PINS
        if files.exists(pins):
            files.write_atomic(self.tree + _PINS, files.blocks(pins))
        lib = self.root + "/lib/"
        for name in ("failed", "passed", "trial.log"):
            files.remove(lib + name)
        version, has_micropython, _ = self.plan
        other = slot.other() if has_micropython else None
        label = other.info()[4] if other else ""
        text = "0 %s %s %s\n" % (version, __version__, label)
        files.write_atomic(lib + "trial.new", text)
        home = self.root + _HOME
        text = "%s>%s>%s\n%strial\n" % (self.tree, home, home + ".old", lib)
        files.write_atomic(lib + "next", "=%s\n%s" % (label, text) if other else text)
        if other:
            # Last: boot.py drops the list of a MicroPython that does not run.
            try:
                other.set_boot()
            except OSError as error:
                files.remove(lib + "next")
                self.discard()
                raise Refused("the chip does not take the MicroPython of the release: %s" % error)


def remove_tree(top: str) -> None:
    """Remove a folder with all that is in it."""
    if not files.is_folder(top):
        return
    for name, kind in list(entries(top)):
        if kind == "d":
            remove_tree(top + "/" + name)
        else:
            os.remove(top + "/" + name)
    os.rmdir(top)


async def _drop(readinto, view, size):
    while size:
        size -= await _some(readinto, view[: min(size, len(view))])


async def _some(readinto, view):
    count = await readinto(view)
    if not count:
        raise EOFError("the release is cut off")
    return count
