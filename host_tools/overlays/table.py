"""firmware/overlays.toml: which module is in which overlay, and which overlays each phase may hold."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host_tools.overlays.errors import OverlayError
from host_tools.overlays.split import MARK

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: The overlay that is always there, and the module whose name its file has.
CORE = "core"
CORE_MODULE = "tenner.app"
#: The module that loads and evicts overlays.
RUNTIME = "tenner.overlay"

#: In [phases]: what each of them may hold.
EVERY_PHASE = "*"

_SECTIONS = ("overlays", "phases", "carry", "dynamic", "api", "separate", "linux")


@dataclass
class Table:
    """The table as it is written; names of modules are full, such as `tenner.net.http`.

    `tenner.net.http: Http Http.close` in an overlay is a piece: these names, without the other methods of a class. The overlay
    that lists the module alone has the rest of it.
    """

    overlays: dict[str, list[str]]
    phases: dict[str, list[str]] = field(default_factory=dict)
    #: Of these, what a phase takes over from the one before, by the name of the phase; all of them where it says nothing.
    carry: dict[str, list[str]] = field(default_factory=dict)
    #: Packages whose modules are found by name at run time, and what is looked up in such a module.
    dynamic: dict[str, list[str]] = field(default_factory=dict)
    #: What owners' tools and drivers may import.
    api: list[str] = field(default_factory=list)
    #: Modules that get a file of their own, as they stand.
    separate: list[str] = field(default_factory=list)
    #: What a chip has no use for; `tenner.port.linux.*` are all modules below that package.
    linux: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if CORE not in self.overlays:
            raise OverlayError(f"overlays.toml has no overlay {CORE!r}")
        everywhere = self.phases.pop(EVERY_PHASE, [])
        for phase, names in self.phases.items():
            names += [name for name in everywhere if name not in names]
            for name in names:
                if name not in self.overlays:
                    raise OverlayError(f"overlays.toml: phase {phase} names no overlay: {name!r}")
        for phase, names in self.carry.items():
            for name in names:
                if name not in self.phases.get(phase, []):
                    raise OverlayError(
                        f"overlays.toml: {phase} cannot carry {name!r}: it may not hold it"
                    )
        self._home: dict[str, str] = {}
        #: By module and overlay, what of a module is in another overlay than the rest of it.
        self.pieces: dict[str, dict[str, list[str]]] = {}
        for overlay, modules in self.overlays.items():
            for module in modules:
                if MARK in module:
                    module, _, listed = module.partition(MARK)
                    self.pieces.setdefault(module, {})[overlay] = listed.split()
                    module += MARK + overlay
                if module in self._home:
                    raise OverlayError(
                        f"overlays.toml: {module} is in {self._home[module]} and in {overlay}"
                    )
                self._home[module] = overlay

    def overlay_of(self, module: str) -> str:
        """The overlay that has this module; OverlayError when none has."""
        try:
            return self._home[module]
        except KeyError:
            raise OverlayError(
                f"{module} is in no overlay: add it to one in overlays.toml"
            ) from None

    def is_outside(self, module: str) -> bool:
        """Return whether no overlay has this module."""
        return module in self.separate or self.is_linux_only(module)

    def is_linux_only(self, module: str) -> bool:
        """Return whether a chip has no use for this module."""
        for entry in self.linux:
            package = entry.removesuffix(".*")
            if module == package or (entry != package and module.startswith(package + ".")):
                return True
        return False

    def check(self, modules: Iterable[str]) -> None:
        """OverlayError unless exactly these modules are in the overlays."""
        known = set(modules)
        homeless = sorted(known - set(self._home))
        if homeless:
            raise OverlayError(
                f"overlays.toml: {', '.join(homeless)} in no overlay: add each to one, or to [linux]"
            )
        for module, overlay in self._home.items():
            if module not in known:
                raise OverlayError(
                    f"overlays.toml: overlay {overlay} has {module}, which does not exist"
                )

    def missing_phases(self, user: str, target: str) -> list[str]:
        """The phases in which overlay `user` may be alive while `target` is not."""
        return [
            phase for phase, names in self.phases.items() if user in names and target not in names
        ]

    def may_need(self, user: str, target: str) -> bool:
        """Return whether `user` may need `target` as soon as it is loaded."""
        if target in (user, CORE):
            return True
        return user != CORE and not self.missing_phases(user, target)

    def is_dynamic(self, module: str) -> bool:
        """Return whether this module is found by name at run time."""
        return module.rpartition(".")[0] in self.dynamic


def read_table(path: Path) -> Table:
    """The table in a file; OverlayError when it is not one."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise OverlayError(f"{path.name}: {exc}") from exc
    for section in data:
        if section not in _SECTIONS:
            raise OverlayError(f"{path.name}: [{section}] is unknown; known: {_SECTIONS}")
    return Table(
        overlays=_lists(data.get("overlays", {}), f"{path.name} [overlays]"),
        phases=_lists(data.get("phases", {}), f"{path.name} [phases]"),
        carry=_lists(data.get("carry", {}), f"{path.name} [carry]"),
        dynamic=_lists(data.get("dynamic", {}), f"{path.name} [dynamic]"),
        api=_modules(data, "api", path.name),
        separate=_modules(data, "separate", path.name),
        linux=_modules(data, "linux", path.name),
    )


def _modules(data: Mapping[str, Any], section: str, where: str) -> list[str]:
    values = _lists(data.get(section, {}), f"{where} [{section}]")
    return [name for names in values.values() for name in names]


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
