"""The overlay of each module and the overlays that stay in each phase, and the rules for them in
a program's rules file."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mpy_linker.split import MARK
from mpy_linker.syntax import OverlayError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: The overlay that is always loaded.
CORE = "core"
#: The name by which overlays import it.
CORE_ALIAS = "_"

#: In the core, all classes and variables of a module: `app.net.errors:*`.
CLASSES = "*"
_PROGRAM = "program"
_ROOM = "room"
#: The sections of a rules file whose values are lists.
#: In `dynamic`: every package.
_ANY = "*"
_SECTIONS = (CORE, "phases", "dynamic", "packs", "api", "separate", "linux")


@dataclass(frozen=True)
class Names:
    """The names of a program that the linker must know."""

    #: The module that the core's file is named after, such as `app.main`.
    core: str
    #: The module whose calls enter phases, and the one that loads and evicts overlays.
    runtime: str
    loader: str
    #: The phase outside of all others.
    idle: str = "IDLE"
    #: Files beside the package, which import from the core and stay source.
    scripts: tuple[str, ...] = ()
    #: Ends of the names of its exceptions, besides "Exception" and "Error".
    errors: tuple[str, ...] = ()

    @property
    def package(self) -> str:
        return self.core.partition(".")[0]


@dataclass
class Table:
    """The table as written; names of modules are full, such as `app.net.http`.

    `app.net.http: Http Http.close` in an overlay is a piece: these names, without the other
    methods of a class. The overlay that lists the module alone has the rest of it.
    """

    overlays: dict[str, list[str]]
    #: By phase, the overlays that stay when it begins.
    phases: dict[str, list[str]] = field(default_factory=dict)
    #: Packages with modules that code finds by name at run time, and the names it looks up in such
    #: a module. Each has the first; the package's other modules are ordinary ones.
    dynamic: dict[str, list[str]] = field(default_factory=dict)
    #: Overlays in a file of their own, which only some boards have, by its name; in the rules the
    #: packages whose code they have.
    packs: dict[str, list[str]] = field(default_factory=dict)
    #: Modules that code from outside the build may import by name.
    api: list[str] = field(default_factory=list)
    #: Modules that get a separate file, unchanged.
    separate: list[str] = field(default_factory=list)
    #: Modules for Linux only; `app.port.linux.*` are all modules below that package.
    linux: list[str] = field(default_factory=list)
    #: Phases that no code enters: the overlays that stay in all phases of a board with memory to
    #: spare, and how many bytes these may take.
    room: dict[str, int] = field(default_factory=dict)
    names: Names = field(kw_only=True)

    def __post_init__(self) -> None:
        if CORE not in self.overlays:
            raise OverlayError(f"the table has no overlay {CORE!r}")
        self._home: dict[str, str] = {}
        #: By module and overlay, the names that are in another overlay than the rest of the
        #: module.
        self.pieces: dict[str, dict[str, list[str]]] = {}
        for overlay, modules in self.overlays.items():
            for module in modules:
                if MARK in module:
                    module, _, listed = module.partition(MARK)
                    self.pieces.setdefault(module, {})[overlay] = listed.split()
                    module += MARK + overlay
                if module in self._home:
                    raise OverlayError(
                        f"the table: {module} is in {self._home[module]} and in {overlay}"
                    )
                self._home[module] = overlay

    def file_of(self, overlay: str) -> str:
        """The name of an overlay's file, without its end."""
        return self.names.core.rpartition(".")[2] if overlay == CORE else overlay

    def overlay_of(self, module: str) -> str:
        """The overlay that has this module."""
        return self._home[module]

    def pack_of(self, module: str) -> str:
        """The pack with the code of this module, by the rules; "" for that of all boards."""
        for pack, packages in self.packs.items():
            if any(f"{module}.".startswith(f"{one}.") for one in packages):
                return pack
        return ""

    def is_outside(self, module: str) -> bool:
        """Return whether no overlay has this module."""
        return module in self.separate or self.is_linux_only(module)

    def is_linux_only(self, module: str) -> bool:
        """Return whether this module is for Linux only."""
        for entry in self.linux:
            package = entry.removesuffix(".*")
            if module == package or (entry != package and module.startswith(package + ".")):
                return True
        return False

    def adopt(self, modules: Iterable[str]) -> None:
        """Make an overlay of each of the program's `modules` that no overlay lists; OverlayError
        for a module or an overlay that the table names and that does not exist."""
        known = set(modules)
        for module, overlay in self._home.items():
            if module not in known:
                raise OverlayError(
                    f"the table: overlay {overlay} has {module}, which does not exist"
                )
        for module in sorted(known - set(self._home)):
            # That of `app.net.http` is `net_http`.
            name = module.partition(".")[2].replace(".", "_")
            if name in self.overlays or not name:
                raise OverlayError(f"the table: list {module} in an overlay of another name")
            self.overlays[name] = [module]
            self._home[module] = name
        for title, lists in (("phase", self.phases), ("pack", self.packs)):
            for one, names in lists.items():
                for name in names:
                    if name not in self.overlays:
                        raise OverlayError(f"the table: {title} {one} names no overlay: {name!r}")

    def leaving_phase(self, user: str, target: str) -> str | None:
        """A phase in which overlay `user` stays while `target` leaves."""
        return next(
            (one for one, names in self.phases.items() if user in names and target not in names),
            None,
        )

    def may_need(self, user: str, target: str) -> bool:
        """Return whether `user` may need `target` while it is loaded."""
        if target in (user, CORE):
            return True
        return user != CORE and self.leaving_phase(user, target) is None

    def looked_up(self, module: str, names: Container[str]) -> list[str]:
        """The names that code looks up in this module, which has `names` and which it finds by
        name at run time; [] for all others."""
        package = module.rpartition(".")[0]
        lists = [self.dynamic.get(key, []) for key in (package, _any_beside(package), _ANY)]
        return [name for listed in lists if listed and listed[0] in names for name in listed]


def _any_beside(package: str) -> str:
    """`app.channels.*` for `app.channels.mqtt`."""
    return package.rpartition(".")[0] + ".*"


def read_table(path: Path) -> Table:
    """The rules in a file, as a table whose one overlay is the core; OverlayError if the file is
    invalid. `place` makes the table of a program by them."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise OverlayError(f"{path.name}: {exc}") from exc
    known = (_PROGRAM, _ROOM, *_SECTIONS)
    for section in data:
        if section not in known:
            raise OverlayError(f"{path.name}: [{section}] is unknown; known: {known}")
    for section in (_PROGRAM, CORE):
        if section not in data:
            raise OverlayError(f"{path.name} has no [{section}]")
    lists = {
        section: _lists(data.get(section, {}), f"{path.name} [{section}]") for section in _SECTIONS
    }
    return Table(
        {CORE: [*_core(lists[CORE])]},
        phases={phase: [] for phase in lists["phases"]},
        dynamic=lists["dynamic"],
        packs=lists["packs"],
        api=_joined(lists["api"]),
        separate=_joined(lists["separate"]),
        linux=_joined(lists["linux"]),
        room=_sizes(data.get(_ROOM, {}), f"{path.name} [{_ROOM}]"),
        names=_names(data[_PROGRAM], f"{path.name} [{_PROGRAM}]"),
    )


def _names(values: object, where: str) -> Names:
    found = _lists(values, where)
    one = {name: "".join(found.pop(name, [])) for name in ("core", "runtime", "loader")}
    for name, module in one.items():
        if "." not in module:
            raise OverlayError(f"{where}: {name} names no module of a package: {module!r}")
    idle = "".join(found.pop("idle", ["IDLE"]))
    lists = {name: tuple(found.pop(name, ())) for name in ("scripts", "errors")}
    for name in found:
        raise OverlayError(f"{where}: {name} is unknown")
    return Names(**one, idle=idle, scripts=lists["scripts"], errors=lists["errors"])


def _sizes(values: object, where: str) -> dict[str, int]:
    if not isinstance(values, dict) or not all(isinstance(one, int) for one in values.values()):
        raise OverlayError(f"{where} is not a table of bytes")
    return values


def _core(lists: Mapping[str, list[str]]) -> Iterator[str]:
    for name, entries in lists.items():
        yield from (f"{one}{MARK}{CLASSES}" if name == "classes" else one for one in entries)


def _joined(lists: Mapping[str, list[str]]) -> list[str]:
    return [name for names in lists.values() for name in names]


def _lists(values: object, where: str) -> dict[str, list[str]]:
    if not isinstance(values, dict):
        raise OverlayError(f"{where} is not a table")
    return {name: list(_texts(value, f"{where} {name}")) for name, value in values.items()}


def _texts(value: object, where: str) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        return
    if not isinstance(value, list):
        raise OverlayError(f"{where} is not a list")
    for one in value:
        if not isinstance(one, str):
            raise OverlayError(f"{where}: {one!r} is not a name")
        yield one
