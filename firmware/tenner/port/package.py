# tenner port.package: where the data files that ship with the code are, and lists of folders.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A build puts the data files of the package into one, `tenner/data.pack`, for on a board's flash
each file takes a block of 4 KB. It begins with its index, a line for each: name, offset, size and
a note of the build, separated by tabs; an empty line ends the index. Without a pack, as in the
source, they are separate files.
"""

import os
import sys

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

_PACK = const("data.pack")

#: The path of the pack, "" without one; None before the first search.
_pack = None


def package_path(name: str) -> str:
    """Return the path of a data file that is not packed, such as `pins.csv`."""
    # Not by __file__: frozen code has none, and its data files lie in /lib all the same.
    for place in sys.path:
        path = (place + "/" if place else "") + "tenner/" + name
        if _size(path) is not None:
            return path
    raise OSError(2, "tenner/%s is missing: sync the board again" % name)


def locate(name: str) -> tuple[str, int, int]:
    """Return (path, start, end), the bytes of a data file such as `store/config.tsv`; OSError when
    it is missing."""
    places = packed(name)
    for found, place, _ in places:
        if found == name:
            # Now, and not at a garbage collection.
            places.close()
            return place
    path = package_path(name)
    return path, 0, _size(path)


def folders(name: str) -> "Iterator[tuple[str, int, int]]":
    """Yield the place of each file of this name in a folder of the package, or in a folder of
    that, unless a build has packed the data files."""
    index = packed("")
    for _ in index:
        index.close()
        return
    left = [package_path("")[:-1]]
    while left:
        above = left.pop()
        for entry, kind in entries(above):
            if kind == "d":
                path = "%s/%s/%s" % (above, entry, name)
                size = _size(path)
                if size is not None:
                    yield path, 0, size
                left.append(above + "/" + entry)


def packed(prefix: str) -> "Generator[tuple[str, tuple[str, int, int], str], None, None]":
    """Yield (name, (path, start, end), the build's note) of the packed files whose names begin
    with `prefix`."""
    global _pack
    if _pack is None or _pack[:1] not in ("", "/"):
        try:
            _pack = package_path(_PACK)
        except OSError:
            _pack = ""
    if not _pack:
        return
    wanted = prefix.encode()
    with open(_pack, "rb") as file:
        line = file.readline()
        while len(line) > 1:
            if line.startswith(wanted):
                name, start, size, more = line[:-1].decode().split("\t")
                yield name, (_pack, int(start), int(start) + int(size)), more
            line = file.readline()


def _size(path):
    try:
        return os.stat(path)[6]
    except OSError:
        return None


def entries(folder: str) -> "Iterator[tuple[str, str]]":
    """Yield (name, kind): "f" for a file, "d" for a folder, "" for a link, another kind or an
    unknown one."""
    if hasattr(os, "scandir"):
        with os.scandir(folder) as found:
            for one in found:
                plain = "f" if one.is_file(follow_symlinks=False) else ""
                yield one.name, "d" if one.is_dir(follow_symlinks=False) else plain
    else:
        for one in os.ilistdir(folder):
            # Some file systems do not tell the kinds.
            kind = one[1] or _kind(folder + "/" + one[0])
            yield one[0], {0x4000: "d", 0x8000: "f"}.get(kind, "")


def _kind(path):
    try:
        return os.stat(path)[0] & 0xF000
    except OSError:  # a link to nowhere
        return 0
