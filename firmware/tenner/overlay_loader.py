# tenner overlay_loader: loads the overlays of a build and evicts them.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The build merges the modules into overlays (firmware/overlays.toml). Code reaches another overlay
as an attribute of `overlays`, which loads it. `enter` evicts the overlays that a phase may not
hold.
"""

import os
import sys

from tenner.port.compat import const
from tenner.port.package import package_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

_IMPORTED = const("/overlay/o")

#: The names of the phases. The build fills it in; while it is empty the modules are those of the
#: source, and nothing is evicted.
_PHASES = ""
#: For each phase, `_WIDTH` bytes with a bit for each overlay in `_CARRIED`: does it stay when the
#: phase begins? Texts and bytes take less RAM than lists and dicts.
_CARRY = b""
_WIDTH = 0
_CARRIED = " "
#: Whether the build has put all overlays into one file. It begins with the offset of each, in
#: three bytes, and `_CARRIED` has the names of all in that order; the index comes last. The names
#: cost no RAM, since MicroPython has them in ROM.
_PACKED = False
#: In a debug build, the overlays each phase may hold: {"IDLE": (), "REQUEST": ("turn", ...)}.
_MAY_HOLD = ()


class _Overlays:
    """The overlays in memory, as attributes; access to another attribute loads the overlay."""

    def __getattr__(self, name):
        return load(name)


#: In a build, code reaches another overlay by an attribute of this.
overlays = _Overlays()


#: The phase under way, "" before the first.
phase = ""
#: The overlays that stay in every phase, for a task that has released the ticket.
suspended = []


def enter(name: str) -> bool:
    """
    Begin phase `name` and drop the overlays it may not hold; code that still runs stays until its
    end. Return whether this is a build of overlays.
    """
    global phase
    phase = name
    if not _PHASES:
        return False
    start = _WIDTH * _index(_PHASES, name)
    stays = int.from_bytes(_CARRY[start : start + _WIDTH], "little")
    carried = _CARRIED
    for one in list(overlays.__dict__):
        # As _index does; its calls would take a thousand opcodes a turn.
        place = carried.count(" ", 0, carried.find(" %s " % one))
        if not stays >> place & 1 and one not in suspended:
            if _MAY_HOLD:
                print("evicted", one, id(getattr(overlays, one)))
            _withdraw(getattr(overlays, one))
            setattr(overlays, one, None)
            delattr(overlays, one)
    return True


class _Files:
    """
    A file system with one file, the overlay to load: MicroPython keeps the name and the path of
    every import forever, so all overlays share one of each.
    """

    #: The overlay, or "" for the index of the build.
    name = ""
    folder = ""

    def mount(self, readonly, mkfs):
        # Here __path__ is a text.
        self.folder = sys.modules["tenner"].__path__ + "/"  # type: ignore[operator]
        if "" not in sys.path:
            sys.path.append("")  # so that names are full paths

    def stat(self, path):
        if path != "/o.mpy":
            raise OSError(2)
        return (0x8000,) + (0,) * 9

    def open(self, path, mode, pack="overlays.pack"):
        if not _PACKED:
            return open(self.folder + self.name + ".mpy", mode)
        file = open(self.folder + pack, mode)
        # As _index does: a turn loads 70 overlays.
        file.seek(3 * _CARRIED.count(" ", 0, _CARRIED.find(" %s " % self.name)))
        start = int.from_bytes(file.read(3), "little")
        if not start:
            # An overlay that only some boards have (overlays.toml, [packs]).
            file.close()
            return self.open(path, mode, "page.pack")
        file.seek(start)
        return file


_files = _Files()


def load(name: str) -> "Any":
    """Load an overlay of the build and return it."""
    if _MAY_HOLD and phase and name not in _MAY_HOLD[phase] + tuple(suspended):
        raise RuntimeError("phase %s may not hold overlay %s: see overlays.toml" % (phase, name))
    if not _files.folder and sys.modules["tenner"].__path__[:7] in (".frozen", "/rom/li"):
        # Executed in place: there is no file to read.
        full = "tenner." + name
        __import__(full)
        setattr(overlays, name, sys.modules[full])
        remove(sys.modules, full)
        remove(sys.modules["tenner"].__dict__, name)
    else:
        _read(name)
    return getattr(overlays, name)


def _read(name):
    if not _files.folder:
        os.mount(_files, "/overlay")
    _files.name = name
    if _IMPORTED in sys.modules:
        # Loading one overlay imports another.
        remove(sys.modules, _IMPORTED)
    try:
        setattr(overlays, name, __import__(_IMPORTED))
    except MemoryError:
        _withdraw(sys.modules.get(_IMPORTED))
        raise
    finally:
        # Only `overlays` holds it; a partly loaded one is freed.
        remove(sys.modules, _IMPORTED)


def _index(names, name):
    """Return the index of a name in a text of names; one past the end if it is missing."""
    return names.count(" ", 0, names.find(" %s " % name))


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
    for one in getattr(made, "lent", ()):
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


def module(name: str) -> "ModuleType":
    """Return the module of the package with this full name, such as `tenner.tools.i2c`;
    ImportError if there is none."""
    if not _PHASES:
        return __import__(name, None, None, ("x",))
    for _, home, symbol, _ in entries(name + "\t"):
        return getattr(getattr(overlays if home != "app" else sys.modules["tenner"], home), symbol)
    raise ImportError("there is no module " + name)


def entries(prefix: str = "") -> "Iterator[list[str]]":
    """
    Yield [module, its overlay, its symbol there, "+" if owners may import it] of the modules that
    a build finds by name, for lines that begin with `prefix`.
    """
    if _PHASES:
        wanted = prefix.encode()
        if _PACKED:
            if not _files.folder:
                os.mount(_files, "/overlay")
            _files.name = ""
            file = _files.open("", "rb")
        else:
            file = open(package_path("overlays.tsv"), "rb")
        with file as index:
            for line in index:
                if line.startswith(wanted):
                    yield line[:-1].decode().split("\t")
