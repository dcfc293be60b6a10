# tenner overlay_loader: loads the overlays of a build and evicts them.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The build merges the modules into overlays (firmware/layout.toml). Code reaches another overlay
as an attribute of `overlays`, which loads it. `enter` evicts the overlays that do not stay in a
phase, unless there is memory to spare.
"""

import gc
import os
import sys

from tenner.port.compat import const
from tenner.port.package import package_path
from tenner.port.stream import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

_IMPORTED = const("/overlay/o")
_FROZEN = const("tenner.o")
_IDLE = "IDLE"
#: The phases whose overlays no other evicts where the heap has some room for them, or enough for
#: those of a turn. No code enters them.
_SPARE: "Any" = "SPARE"
_ROOMY: "Any" = "ROOMY"
_SOME = const(68 * 1024)  # bytes, for them and the core
_ENOUGH = const(104 * 1024)
_LESS = const(8 * 1024)  # that a phase needs where they stay

#: Whether this is a build of overlays. If not, the modules are those of the source, and nothing is
#: evicted.
_BUILT = False
if _BUILT:
    # All overlays import the core by this name, which takes less flash.
    sys.modules["_"] = sys.modules["tenner.app"]
#: A few bytes for each set of phases that an overlay outlasts, with a bit for each phase: does it
#: stay when the phase begins? An overlay has the place of its set as `startswith`, and the classes
#: and methods that it lends as `setdefault`: names of MicroPython take the least flash. The first
#: set is empty. Bytes take less RAM than lists and dicts.
_CARRY = b""
#: Whether the build has put all overlays into one file, which begins with the places of the
#: overlays, ordered by the lengths of their names: each name, and its offset in three bytes. The
#: index of modules has the empty name; an empty line ends it. Their names cost no RAM, since
#: MicroPython has them in ROM.
_PACKED = False
#: Where the names of each length begin in that file, from 0 on, and their end.
_PLACES = ()
#: In a debug build, the name of each phase by its number.
_PHASES = ()


class _Overlays:
    """The overlays in memory, as attributes; access to another attribute loads the overlay."""

    def __getattr__(self, name):
        return load(name)

    def __getitem__(self, number):
        # A long text, which the build has moved from the code to the end of the file.
        file = _files.pack = _files.pack or open(_files.folder + "overlays.pack", "rb")
        file.seek(-(number >> 8), 2)
        return str(file.read(number & 255), "utf-8")


#: In a build, code reaches another overlay by an attribute of this.
overlays = _Overlays()


#: The number of the phase under way, None before the first. In the source it is its name.
phase = None
#: The names of the overlays in memory. `overlays.__dict__` would be a copy of all, and one stale
#: pointer to that keeps them all after their eviction.
held: "list[str]" = []
#: The overlays that stay in every phase, for a task that has released the ticket.
suspended: "list[str]" = []
_keep_below = 0
_always: "Any" = None


def keep(below: int) -> None:
    """Let overlays outlast their phases while Python's heap holds fewer bytes: a board with memory
    to spare reads its code less often."""
    global _always, _keep_below
    _always = _ROOMY if below > _ENOUGH else _SPARE if below > _SOME else None
    _keep_below = below if _always is None else below + _LESS


def enter(number: "Any") -> bool:
    """
    Begin the phase of this number. In a build of overlays without memory to spare, drop those that
    do not stay in it, and return True; code that still runs stays until its end.
    """
    global phase
    phase = number
    if not _BUILT or gc.mem_alloc() < _keep_below:
        return False
    place, bit = number >> 3, 1 << (number & 7)
    other = number if _always is None else _always
    always, bit_of_other = other >> 3, 1 << (other & 7)
    for one in list(held):
        made = getattr(overlays, one)
        stays = getattr(made, "startswith", 0)
        if not (
            _CARRY[stays + place] & bit
            or _CARRY[stays + always] & bit_of_other
            or one in suspended
        ):
            if _PHASES:
                print("evicted", one, id(made))
            _withdraw(made)
            held.remove(one)
            setattr(overlays, one, None)
            delattr(overlays, one)
    pack = _files.pack
    if pack and number == _IDLE:
        pack.close()  # now, or another task opens it again before the collection
        _files.pack = None
    return True


class _Files:
    """
    A file system with one file, the overlay to load: MicroPython keeps the name and the path of
    every import forever, so all overlays share one of each.
    """

    #: The overlay, "" once it is found.
    name = ""
    folder = ""
    #: The file of all overlays, open until the agent is idle: littlefs reads three folders to open
    #: it. It is opened once, since littlefs counts its blocks twice after one of two handles is
    #: closed.
    pack = None

    def mount(self, readonly, mkfs):
        # Here __path__ is a text.
        self.folder = sys.modules["tenner"].__path__ + "/"  # type: ignore[operator]
        if "" not in sys.path:
            sys.path.append("")  # so that names are full paths

    def stat(self, path):
        if path != "/o.mpy":
            raise OSError(2)
        return (0x8000,) + (0,) * 9

    def open(self, path, mode):
        if not _PACKED or self.folder[:5] == "/rom/":
            # In ROMFS each has a file, which is executed in place.
            file = open(self.folder + self.name + ".mpy", mode)
            self.name = ""
            return file
        file = self.pack = self.pack or open(self.folder + "overlays.pack", mode)
        start = self._place(file)
        if not start:
            # An overlay that only some boards have (layout.toml, [packs]).
            file = open(self.folder + "page.pack", mode)
            start = self._place(file)
        self.name = ""
        file.seek(start)
        if file is not self.pack:
            return file
        rest = Stream()
        rest.file = file
        return rest

    def _place(self, file):
        """Return where the overlay begins in a file of overlays."""
        name = self.name.encode()
        size = len(name)
        begin, end = _PLACES[size], _PLACES[size + 1]
        size += 3
        file.seek(begin)
        # In pieces: a used heap has few long stretches.
        for at in range(begin, end, size << 4):
            places = file.read(min(size << 4, end - at))
            for at in range(0, len(places), size):
                if places.startswith(name, at):
                    return int.from_bytes(places[at + size - 3 : at + size], "little")
        # The file is of another build.
        raise OSError(2)


_files = _Files()


def load(name: str) -> "Any":
    """Load an overlay of the build and return it."""
    imported = _IMPORTED
    package: "Any" = sys.modules["tenner"]
    if not _PACKED and package.__path__[:7] == ".frozen":
        # An image's frozen code has one name too: o.py, in a folder for each overlay.
        imported = _FROZEN
        _files.folder = _files.folder or package.__path__
        package.__path__ = _files.folder + "/" + name
    elif not _files.folder:
        os.mount(_files, "/overlay")
    _files.name = name
    remove(sys.modules, imported)  # loading one overlay imports another
    held.append(name)
    try:
        setattr(overlays, name, __import__(imported, None, None, ("x",)))
    except Exception as error:
        held.remove(name)
        _withdraw(sys.modules.get(imported))
        if isinstance(error, ImportError) and _files.name and imported == _IMPORTED:
            # MicroPython takes a file for missing that it had no memory to look for.
            raise MemoryError
        raise
    finally:
        # Only `overlays` holds it; a partly loaded one is freed.
        remove(sys.modules, imported)
        if not _PACKED and imported != _IMPORTED:
            package.__path__ = _files.folder
            remove(package.__dict__, "o")
    return getattr(overlays, name)


def phase_name(number: "Any") -> str:
    """Return the name of a phase, in a debug build."""
    return _PHASES[number]


def borrow(borrower: "Any", name: str) -> "Any":
    """Return attribute `name` of an object whose class has methods in other overlays; the build
    makes this its `__getattr__`, and its `_` " method method =overlay method =overlay "."""
    homes = borrower._
    place = homes.find(" %s " % name)
    if place < 0:
        raise AttributeError(name)
    start = homes.find("=", place) + 1
    # The overlay puts its methods into their classes when it is loaded.
    getattr(overlays, homes[start : homes.find(" ", start)])
    if not hasattr(type(borrower), name):
        raise RuntimeError("%s of an object whose class was evicted and reloaded" % name)
    return getattr(borrower, name)


def _withdraw(made):
    """Remove the methods of an overlay from the classes of others."""
    owner = None
    for one in getattr(made, "setdefault", ()):
        if isinstance(one, str):
            setattr(owner, one, None)
            delattr(owner, one)
        else:
            owner = one


def remove(table: dict, key: str) -> None:
    """Remove an entry of a dict and its value: MicroPython's `del` leaves the value in the
    table."""
    if key in table:
        table[key] = None
        del table[key]


def names() -> "Iterator[str]":
    """Yield the name of each overlay of this board's file, none in the source, in images and in a
    debug build, whose heap shows all of them."""
    for size in range(1, len(_PLACES) - 1) if _PACKED and not _PHASES else ():
        for at in range(_PLACES[size], _PLACES[size + 1], size + 3):
            file = _files.pack = _files.pack or open(package_path("overlays.pack"), "rb")
            file.seek(at)
            place = file.read(size + 3)
            if place[-3:] != b"\0\0\0":  # not one of the other file, of some boards only
                yield place[:size].decode()


def module(name: str) -> "ModuleType":
    """Return the module of the package with this full name, such as `tenner.tools.i2c`;
    ImportError if there is none."""
    if not _BUILT:
        return __import__(name, None, None, ("x",))
    for _, home, symbol, _ in entries(name + "\t"):
        return getattr(getattr(overlays if home != "app" else sys.modules["tenner"], home), symbol)
    raise ImportError("there is no module " + name)


def entries(prefix: str = "") -> "Iterator[list[str]]":
    """
    Yield [module, its overlay, its symbol there, "+" if owners may import it] of the modules that
    a build finds by name, for lines that begin with `prefix`.
    """
    if _BUILT:
        wanted = prefix.encode()
        if _PACKED:
            file = _files.pack = _files.pack or open(package_path("overlays.pack"), "rb")
            file.seek(0)
            file.seek(int.from_bytes(file.read(3), "little"))
        else:
            file = open(package_path("overlays.tsv"), "rb")
        for line in file:
            if line == b"\n":
                break
            if line.startswith(wanted):
                at = file.tell()
                yield line[:-1].decode().split("\t")
                # The caller may have loaded an overlay.
                file.seek(at)
        if not _PACKED:
            file.close()
