# tenner overlay: gives the memory to one task at a time, and evicts code outside of its phase.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A board without PSRAM cannot hold all code at once. The build merges the modules into overlays
(firmware/overlays.toml). A task takes the memory ticket here, enters a phase and leaves it again. A change of phase
evicts the overlays that the new phase may not hold. On Linux, with PSRAM, and where code is executed in place,
nothing is evicted.
"""

import asyncio
import gc
import os
import sys

from tenner.port.compat import const
from tenner.port.package import package_path

_IDLE = "IDLE"
_IMPORTED = const("/overlay/o")

#: {name of a phase: bits of the overlays in `_CARRIED`, a text with their names, that stay when the phase begins}.
#: The build fills it in; while it is empty the modules are those of the source, and nothing is evicted.
_PHASES = {}
_CARRIED = " "
#: Whether the build has put all overlays into one file. It begins with the offset of each, in three bytes, and
#: `_CARRIED` has their names in that order. The names cost no RAM, since MicroPython has them in ROM.
_PACKED = False
#: In a debug build, the overlays each phase may hold: {"IDLE": (), "REQUEST": ("turn", ...)}.
_MAY_HOLD = ()


class _Overlays:
    """The overlays in memory, as attributes; access to another attribute loads the overlay."""

    def __getattr__(self, name):
        return load(name)


#: In a build, code reaches another overlay by an attribute of this.
overlays = _Overlays()


class OutOfMemory(Exception):
    """A step did not fit into memory, even after all other overlays were evicted."""


#: The lock of the task that may use more than the core; None where memory suffices for several tasks.
_ticket = None
#: Called at the end of each phase, before its overlays are evicted.
_phase_over = None
#: The phase of its holder, and the overlays of a task that has released it for a while.
phase = "BOOT"
_suspended = ()


def configure(small, phase_over=None):
    """Prepare for a board that has memory for one task at a time, if `small`; `phase_over()` ends a phase."""
    global _ticket, _phase_over
    _ticket = asyncio.Lock() if small else None
    _phase_over = phase_over


def is_free():
    """Return whether `run` would start at once."""
    return _ticket is None or not _ticket.locked()


async def run(name, work, *args):
    """Wait for the memory ticket and return `await work(*args)`, called in phase `name`."""
    if _ticket is None:
        return await step(name, work, *args)
    async with _ticket:
        try:
            return await step(name, work, *args)
        finally:
            await enter(_IDLE)


async def step(name, work, *args):
    """
    Return `await work(*args)`, called in phase `name` by a separate task: its stack ends with it and keeps no code
    alive. On MemoryError `work` must have changed nothing, since `step` calls it once more.
    """
    for again in (True, False):
        await enter(name)
        try:
            if _ticket is None:
                return await _begin([work, args])
            return await asyncio.create_task(_call([work, args]))
        except MemoryError as error:
            if not again:
                raise OutOfMemory(str(error))


def later(name, ready, work, *args):
    """
    Start a task that awaits `ready()`, unless that is None, and then runs `work(*args)` in phase `name`; it repeats
    both while `work` returns False. Return the task. While it waits it holds none of the work's code.
    """
    return asyncio.create_task(_later(name, ready, work, args))


async def enter(name):
    """Switch the holder of the ticket to phase `name`, and evict the overlays it may not hold."""
    global phase
    phase = name
    if _ticket is None:
        return
    if _phase_over:
        _phase_over()
    if _PHASES:
        evict(_PHASES[name])
        # In a separate task with a short stack: one stale pointer would keep an overlay.
        await asyncio.create_task(_collect())
        if _MAY_HOLD:
            import micropython

            print("entered", name, len(sys.modules), " ".join(overlays.__dict__))
            micropython.mem_info(1)


class released:
    """`async with released():` releases the ticket meanwhile; the overlays of the holder stay for its return."""

    async def __aenter__(self):
        global _suspended
        if _ticket is not None:
            self._before = phase, _suspended
            _suspended = tuple(overlays.__dict__)
            await enter(_IDLE)
            _ticket.release()

    async def __aexit__(self, *error):
        global _suspended
        if _ticket is not None:
            await _ticket.acquire()
            name, _suspended = self._before
            await enter(name)


class _Files:
    """
    A file system with one file, the overlay to load: MicroPython keeps the name and the path of every import forever,
    so all overlays share one of each.
    """

    name = ""

    def mount(self, readonly, mkfs):
        self.folder = sys.modules["tenner"].__path__ + "/"
        if "" not in sys.path:
            sys.path.append("")  # so that names are full paths

    def stat(self, path):
        if path != "/o.mpy":
            raise OSError(2)
        return (0x8000,) + (0,) * 9

    def open(self, path, mode):
        if not _PACKED:
            return open(self.folder + self.name + ".mpy", mode)
        file = open(self.folder + "overlays.pack", mode)
        file.seek(3 * _place(self.name))
        file.seek(int.from_bytes(file.read(3), "little"))
        return file


_files = _Files()


def load(name):
    """Load an overlay of the build and return it."""
    if _MAY_HOLD and _ticket and name not in _MAY_HOLD[phase] + _suspended:
        raise RuntimeError("phase %s may not hold overlay %s: see overlays.toml" % (phase, name))
    if sys.modules["tenner"].__path__[:7] in (".frozen", "/rom/li"):
        # Executed in place: there is no file to read.
        full = "tenner." + name
        __import__(full)
        setattr(overlays, name, sys.modules[full])
        remove(sys.modules, full)
        remove(sys.modules["tenner"].__dict__, name)
    else:
        _read(name)
    _lend(getattr(overlays, name), True)
    return getattr(overlays, name)


def _read(name):
    if not _files.name:
        os.mount(_files, "/overlay")
    _files.name = name
    # Loading one overlay may import another.
    remove(sys.modules, _IMPORTED)
    try:
        setattr(overlays, name, __import__(_IMPORTED))
    finally:
        # Only `overlays` holds it; a partly loaded one is freed.
        remove(sys.modules, _IMPORTED)


def evict(keep=0):
    """Drop all overlays but those of the bits `keep`, see `_CARRIED`; code that still runs stays until its end."""
    for name in list(overlays.__dict__):
        if name not in _suspended and not keep >> _place(name) & 1:
            if _MAY_HOLD:
                print("evicted", name, id(getattr(overlays, name)))
            _lend(getattr(overlays, name), False)
            setattr(overlays, name, None)
            delattr(overlays, name)


def _place(name):
    """Return the index of an overlay in `_CARRIED` and of its bit in `_PHASES`; one past the end if it is missing."""
    return _CARRIED.partition(" %s " % name)[0].count(" ")


def borrow(borrower, name, home):
    """Return attribute `name` of an object whose class has that method in overlay `home`; None: no such method."""
    if home is None:
        raise AttributeError(name)
    _lend(getattr(overlays, home), True)
    if not hasattr(type(borrower), name):
        raise RuntimeError("%s of an object whose class was evicted and reloaded" % name)
    return getattr(borrower, name)


def _lend(made, gives):
    """Add the methods of an overlay to their classes, or remove them."""
    lent = getattr(made, "lent", ())
    for place in range(0, len(lent), 2):
        methods = lent[place + 1].__dict__
        for name in methods:
            if name[:2] != "__":
                setattr(lent[place], name, methods[name] if gives else None)
                if not gives:
                    delattr(lent[place], name)


def remove(table, key):
    """Remove an entry of a dict and its value: MicroPython's `del` leaves the value in the table."""
    if key in table:
        table[key] = None
        del table[key]


def module(name):
    """Return the module of the package with this full name, such as `tenner.tools.i2c`; ImportError if there is none."""
    if not _PHASES:
        return __import__(name, None, None, ("x",))
    for _, home, symbol, _ in entries(name + "\t"):
        return getattr(getattr(overlays if home != "app" else sys.modules["tenner"], home), symbol)
    raise ImportError("there is no module " + name)


def entries(prefix=""):
    """
    Yield [module, its overlay, its symbol there, "+" if owners may import it] of the modules that a build finds by
    name, for lines that begin with `prefix`.
    """
    if _PHASES:
        with open(package_path("overlays.tsv")) as index:
            for line in index:
                if line.startswith(prefix):
                    yield line[:-1].split("\t")


async def _later(name, ready, work, args):
    while True:
        if ready is not None:
            await ready()
        if await run(name, work, *args) is not False:
            return


async def _call(job):
    # asyncio's queue keeps an ended task and its frame for a while, so this frame holds nothing.
    return await _begin(job)


def _begin(job):
    args = job.pop()
    work = job.pop()
    if isinstance(work, tuple):
        # In a build, a function of another overlay: (overlay, name).
        work = getattr(getattr(overlays, work[0]), work[1])
    return work(*args)


async def _collect():
    gc.collect()
