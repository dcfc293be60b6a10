# tenner store.files: replaces a file entirely or not at all, and does other small file chores.
# MIT license; Copyright (c) 2026 the tenner authors
"""
littlefs makes a rename atomic and commits a file at close, so writing `x.tmp` and renaming it is
all a board needs. On CPython the file and its folder are also synced, for a disk behind a page
cache. A power cut truncates no file, but an exception inside `open(path, "w")` does; so nothing
here opens the target for writing.
"""

import os
import sys

from tenner.log import log
from tenner.port.compat import const

try:
    from tenner.port.cpython import open_file, sync_folder
except ImportError:
    open_file = open  # type: ignore[assignment]
    sync_folder = None  # littlefs has written a folder when it has renamed in it

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, BinaryIO

    #: A path, then the first byte and the end of each part of that file.
    Parts = tuple[Any, ...]

_ENOENT = const(2)
_EIO = const(5)
_ENOTDIR = const(20)
_ENOSPC = const(28)
_ELOOP = const(40)
_KIND = const(0xF000)
_FOLDER = const(0x4000)  # the same on littlefs and POSIX
_REGULAR = const(0x8000)
_LINK = (0xA000, 10)  # as MicroPython gives a link's mode, or its kind of entry
_HAS_LINKS = sys.platform == "linux"
# Small, since the heap has few long free blocks.
_BLOCK = const(256)

#: Ending of a file that is being written; a power cut may leave a stray one behind.
TEMP = ".tmp"
#: The same where people have files too, whose names may end in .tmp.
WORKSPACE_TEMP = ".tenner.tmp"


def exists(path: str) -> bool:
    """Is there a file or folder `path`?"""
    return _stat(path) is not None


def is_folder(path: str) -> bool:
    """Is `path` a folder?"""
    stat = _stat(path)
    return stat is not None and stat[0] & _KIND == _FOLDER


def is_file(path: str) -> bool:
    """Is `path` a regular file? To open anything else may wait forever."""
    stat = _stat(path)
    return stat is not None and stat[0] & _KIND == _REGULAR


def size(path: str) -> int:
    """Return the bytes of the file, -1 when it is absent."""
    stat = _stat(path)
    return -1 if stat is None else stat[6]


def remove(path: str) -> None:
    """Delete a file; one that is absent already is fine."""
    if exists(path):
        os.remove(path)


def make_dirs(path: str) -> None:
    """Create the folder `path` and those above it, as far as they are missing."""
    if path and not is_folder(path):
        make_dirs(path.rpartition("/")[0])
        os.mkdir(path)


def read_text(path: str, limit: int = 16384) -> str:
    """
    Return the entire file as text. A file over `limit` bytes or not in UTF-8 is a ValueError with
    a sentence for the owner.
    """
    known = size(path)
    with open(path, "rb") as file:
        # MicroPython allocates the full length of the request, however short the file is.
        data = file.read(known + 1 if known < limit else limit + 1)
        if known < len(data) <= limit:
            data += file.read(limit + 1 - len(data))
    if len(data) > limit:
        raise ValueError("%s is over %d bytes: make it shorter" % (path, limit))
    try:
        return data.decode()
    except UnicodeError:
        # Not `as error`: the text of the exception differs between the interpreters.
        raise ValueError("%s is not UTF-8 text: save it as UTF-8" % path)


def lines(file: "BinaryIO") -> "Iterator[bytes]":
    """Yield the lines of an open binary file without their ends, read in blocks."""
    # readline() of MicroPython asks the file system for one byte at a time.
    return lines_of(_read_blocks(file))


def lines_of(blocks: "Iterable[bytes]") -> "Iterator[bytes]":
    """Yield the lines of a text that comes in blocks of bytes, without their ends."""
    rest = b""
    for block in blocks:
        parts = (rest + block).split(b"\n")
        rest = parts.pop()
        for line in parts:
            yield line
    if rest:
        yield rest


def blocks(path: str, start: int = 0, end: int | None = None) -> "Iterator[bytes]":
    """Yield the bytes of a file from offset `start` to `end`, None for its end, in blocks."""
    with open(path, "rb") as file:
        file.seek(start)
        while end is None or start < end:
            block = file.read(_BLOCK if end is None else min(_BLOCK, end - start))
            if not block:
                if end is None:
                    return
                raise OSError(_EIO, "%s became shorter while it was read" % path)
            start += len(block)
            yield block


def together(places: "Iterable[tuple[str, int, int]]") -> "list[Parts]":
    """Join the places of each file, (path, start, end), which take more memory one by one."""
    found: list[list] = []
    for path, start, end in places:
        if not found or found[-1][0] != path:
            found.append([path])
        found[-1] += (start, end)
    return [tuple(one) for one in found]


def blocks_of(places: "Iterable[Parts]") -> "Iterator[tuple[bool, bytes]]":
    """Yield (is it the first one of its part, block) of parts of files, from `together`."""
    for path, *parts in places:
        with open(path, "rb") as file:
            while parts:
                start, end = parts.pop(0), parts.pop(0)
                file.seek(start)
                first = True
                while start < end:
                    block = file.read(min(_BLOCK, end - start))
                    if not block:
                        raise OSError(_EIO, "%s became shorter while it was read" % path)
                    start += len(block)
                    yield first, block
                    first = False


def _read_blocks(file):
    block = file.read(_BLOCK)
    while block:
        yield block
        block = file.read(_BLOCK)


def open_own(path: str, mode: str) -> "Any":
    """Open a file of the agent's for writing. A link in its place is removed: it may lead to any
    file of the system."""
    if _HAS_LINKS and _is_link(path):
        log("store", "removed %s: it was a link" % path)
        os.remove(path)
    return open_file(path, mode)


def _is_link(path):
    if hasattr(os, "path"):
        return os.path.islink(path)
    # MicroPython does not follow links here only. A file system may not know the kinds.
    folder, _, name = path.rpartition("/")
    return any(one[0] == name and one[1] in _LINK for one in os.ilistdir(folder or "/"))


def put(file: "BinaryIO", piece: bytes | bytearray | memoryview | str) -> None:
    """Write all of `piece` (bytes or str) or raise: a raw file may take less than it was given."""
    if isinstance(piece, str):
        piece = piece.encode()
    taken = file.write(piece)
    if taken is not None and taken != len(piece):
        raise OSError(_ENOSPC, "no space left")


def sync(file: "BinaryIO") -> None:
    """Push a written file to the disk on systems with a cache that closing does not flush."""
    if hasattr(os, "fsync"):
        file.flush()
        os.fsync(file.fileno())


def write_atomic(
    path: str,
    data: "bytes | bytearray | memoryview | str | Iterable[bytes | str]",
    ending: str = TEMP,
) -> None:
    """
    Replace the file by `data`: bytes, str, or an iterable of them, written piece by piece.
    After an error the old file is unchanged and the temporary one, of this ending, is removed.
    """
    temp = path + ending
    try:
        with open_own(temp, "wb") as file:
            if isinstance(data, (bytes, bytearray, memoryview, str)):
                put(file, data)
            else:
                for piece in data:
                    put(file, piece)
            sync(file)
        rename(temp, path)
    except BaseException:
        try:
            remove(temp)
        except OSError as error:  # not to hide why the write failed
            log("store", "cannot remove %s: %s" % (temp, error))
        raise
    if sync_folder is not None:
        sync_folder(path)


def rename(temp: str, path: str) -> None:
    """Let a file that is complete replace another."""
    getattr(os, "replace", os.rename)(temp, path)


def _stat(path):
    try:
        return os.stat(path)
    except OSError as error:
        # Anything else, such as a fault of the flash, is not "absent". A link to itself is, as one
        # to nowhere.
        if error.args[0] not in (_ENOENT, _ENOTDIR, _ELOOP):
            raise
    return None
