"""littlefs as MicroPython keeps it in flash: read block by block, or made as an image."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypedDict

from littlefs import LittleFS, LittleFSError
from littlefs.context import UserContext

BLOCK_SIZE = 4096


class _Geometry(TypedDict):
    block_size: int
    read_size: int
    prog_size: int
    cache_size: int
    lookahead_size: int
    block_cycles: int


#: The geometry MicroPython uses, so that either side reads the other's images.
_GEOMETRY: _Geometry = {
    "block_size": BLOCK_SIZE,
    "read_size": 32,
    "prog_size": 32,
    "cache_size": 128,
    "lookahead_size": 32,
    "block_cycles": 100,
}
_IO_ERROR = -5


class FileSystemError(Exception):
    """There is no littlefs, or the files do not fit; the text says which."""


class _Memory(UserContext):
    """littlefs-python's block device over a buffer."""

    def __init__(self, buffer: bytearray | memoryview) -> None:
        super().__init__(buffer=bytearray())
        self.in_size = len(buffer)
        self._memory = buffer

    def read(self, cfg: object, block: int, off: int, size: int) -> bytearray:
        at = block * BLOCK_SIZE + off
        return bytearray(self._memory[at : at + size])

    def prog(self, cfg: object, block: int, off: int, data: bytes) -> int:
        at = block * BLOCK_SIZE + off
        self._memory[at : at + len(data)] = data
        return 0

    def erase(self, cfg: object, block: int) -> int:
        at = block * BLOCK_SIZE
        self._memory[at : at + BLOCK_SIZE] = b"\xff" * BLOCK_SIZE
        return 0


class _Reader(UserContext):
    """A read-only block device that reads each block once."""

    def __init__(self, read_block: Callable[[int], bytes]) -> None:
        super().__init__(buffer=bytearray())
        self._read_block = read_block
        self._blocks: dict[int, bytes] = {}
        self.failure: BaseException | None = None

    def read(self, cfg: object, block: int, off: int, size: int) -> bytearray:
        # littlefs would swallow any exception, also Ctrl-C; no result after a failure is used.
        try:
            if not self.failure:
                if block not in self._blocks:
                    self._blocks[block] = self._read_block(block)
                return bytearray(self._blocks[block][off : off + size])
        except BaseException as exc:
            self.failure = exc
        return bytearray(size)

    def prog(self, cfg: object, block: int, off: int, data: bytes) -> int:
        return _IO_ERROR

    def erase(self, cfg: object, block: int) -> int:
        return _IO_ERROR


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold Ctrl-C back: littlefs would swallow it in a call of _Memory, and its block is lost."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        raise KeyboardInterrupt


@_undisturbed()
def make_file_system(size: int, tree: dict[str, bytes]) -> bytes:
    """The image of a file system of `size` bytes that holds `tree`: absolute paths and
    contents."""
    memory = bytearray(b"\xff" * size)
    system = LittleFS(
        context=_Memory(memory), mount=False, block_count=size // BLOCK_SIZE, **_GEOMETRY
    )
    system.format()
    system.mount()
    _write(system, tree)
    system.unmount()
    return bytes(memory)


@_undisturbed()
def taken(tree: dict[str, bytes]) -> int:
    """Bytes of the blocks that `tree` takes in a file system, with the file system's own."""
    size = 4 * BLOCK_SIZE * (len(tree) + 16) + 2 * sum(map(len, tree.values()))
    memory = bytearray(b"\xff" * (-(-size // BLOCK_SIZE) * BLOCK_SIZE))
    system = LittleFS(
        context=_Memory(memory),
        mount=False,
        block_count=len(memory) // BLOCK_SIZE,
        **_GEOMETRY,
    )
    system.format()
    system.mount()
    _write(system, tree)
    used = system.used_block_count
    system.unmount()
    return used * BLOCK_SIZE


@_undisturbed()
def add_files(memory: bytearray | memoryview, tree: dict[str, bytes]) -> None:
    """Write `tree` into the file system in `memory`; overwrite files of the same names."""
    system = LittleFS(context=_Memory(memory), block_count=len(memory) // BLOCK_SIZE, **_GEOMETRY)
    _write(system, tree)
    system.unmount()


def _write(system: LittleFS, tree: dict[str, bytes]) -> None:
    for name, data in tree.items():
        if not name.startswith("/"):
            raise FileSystemError(f"{name!r}: paths on the board start with a slash")
        folder = name.rpartition("/")[0]
        try:
            if folder:
                system.makedirs(folder, exist_ok=True)
            with system.open(name, "wb") as file:
                file.write(data)
        except LittleFSError as exc:
            total = sum(map(len, tree.values()))
            raise FileSystemError(
                f"{total} bytes of files do not fit into the board's file system: {exc}"
            ) from exc


class FileSystem(NamedTuple):
    """The files and the size of a file system."""

    files: dict[str, bytes]
    #: In bytes, from the file system's own record; MicroPython mounts it only in a place of this
    #: size.
    size: int


def read_file_system(
    room: int, read_block: Callable[[int], bytes], wanted: Callable[[str], bool] = bool
) -> FileSystem:
    """The files in a file system of at most `room` bytes; `read_block(number)` reads a block.

    Reads only the files whose path is `wanted`. An exception of `read_block` passes through
    unchanged.
    """

    def read_inside(number: int) -> bytes:
        if number >= room // BLOCK_SIZE:
            raise FileSystemError("the file system is larger than its place")
        return read_block(number)

    context = _Reader(read_inside)
    tree: dict[str, bytes] = {}
    size = 0
    try:
        # 0: the number of blocks in its own record.
        system = LittleFS(context=context, block_count=0, **_GEOMETRY)
        size = system.block_count * BLOCK_SIZE
        for folder, _, names in system.walk("/"):
            for name in names:
                path = f"{folder.rstrip('/')}/{name}"
                if wanted(path):
                    with system.open(path, "rb") as file:
                        tree[path] = file.read()
        system.unmount()
    except LittleFSError as exc:
        if not context.failure:
            raise FileSystemError(f"no littlefs can be read there: {exc}") from exc
    finally:
        if context.failure:
            raise context.failure
    return FileSystem(dict(sorted(tree.items())), size)
