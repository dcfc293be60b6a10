"""The table of a program by a generated layout: the overlay of every symbol, known or new.

A layout goes by symbols, and is right for any program: a symbol that it does not know is cold, in
an overlay of its module that stays in no phase; one that must share an overlay with others follows
them; and code that would break when it is loaded moves until the build accepts it.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mpy_linker.bundle import wanted
from mpy_linker.constants import find_constants
from mpy_linker.program import read_program
from mpy_linker.split import MARK
from mpy_linker.symbols import Symbols, module_of, read_symbols
from mpy_linker.syntax import OverlayError
from mpy_linker.table import CLASSES, CORE, Table, read_table

#: The end of the name of an overlay that has a module's cold code.
_COLD = "_cold"


@dataclass
class Layout:
    """The overlay of each symbol that ran, by phase the overlays that stay when it begins, and
    the symbols that never ran."""

    homes: dict[str, str] = field(default_factory=dict)
    phases: dict[str, list[str]] = field(default_factory=dict)
    cold: set[str] = field(default_factory=set)

    @property
    def known(self) -> set[str]:
        return self.homes.keys() | self.cold


def read_layout(path: Path) -> Layout:
    """The layout in a file, an empty one if there is none; OverlayError if it is invalid."""
    if not path.exists():
        return Layout()
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        homes = {
            symbol: overlay
            for overlay, entries in data["overlays"].items()
            for symbol in _symbols(entries)
        }
        phases = {str(phase): [*names] for phase, names in data["phases"].items()}
        return Layout(homes, phases, set(_symbols(data["cold"])))
    except (ValueError, KeyError, AttributeError, TypeError) as exc:
        raise OverlayError(f"{path.name}: {exc!r}: make it again") from exc


def text_of(layout: Layout) -> str:
    """The content of the file of a layout."""
    overlays: dict[str, list[str]] = defaultdict(list)
    for symbol, overlay in layout.homes.items():
        overlays[overlay].append(symbol)
    data = {
        "overlays": {name: _entries(overlays[name]) for name in sorted(overlays)},
        "phases": {name: sorted(layout.phases[name]) for name in sorted(layout.phases)},
        "cold": _entries(layout.cold),
    }
    return json.dumps(data, indent=1) + "\n"


def tidied(symbols: Symbols, layout: Layout) -> Layout:
    """The layout without symbols that are gone; new ones are cold."""
    homes = {name: home for name, home in layout.homes.items() if name in symbols.names}
    names = set(homes.values())
    phases = {
        phase: [one for one in kept if one in names] for phase, kept in layout.phases.items()
    }
    return Layout(homes, phases, symbols.names - homes.keys())


#: So much of the code may be new to a layout.
_NEW = 0.02


def gone(symbols: Symbols, layout: Layout) -> str:
    """A sentence if the layout names symbols that are gone, else ""."""
    names = sorted(layout.known - symbols.names)
    if not names:
        return ""
    return f"the layout has symbols that are gone ({names[0]}, {len(names)} in all)"


def unplaced(symbols: Symbols, layout: Layout) -> str:
    """A sentence if the layout lacks more than a few symbols, else ""."""
    new = symbols.names - layout.known
    if len(new) <= _NEW * len(symbols.names):
        return ""
    return (
        f"the layout does not know {len(new)} of {len(symbols.names)} symbols, such as {min(new)}"
    )


def _symbols(entries: Iterable[str]) -> Iterator[str]:
    for entry in entries:
        module, _, names = entry.partition(MARK)
        yield from (f"{module}{MARK}{name}" for name in names.split())


def _entries(symbols: Iterable[str]) -> list[str]:
    names: dict[str, list[str]] = defaultdict(list)
    for symbol in sorted(symbols):
        names[module_of(symbol)].append(symbol.partition(MARK)[2])
    return [f"{module}{MARK} {' '.join(found)}" for module, found in sorted(names.items())]


def layout_path(rules: Path) -> Path:
    """The file of the layout: beside that of the rules, under its name."""
    return rules.with_suffix(".json")


def table_of(sources: Mapping[str, bytes], path: Path) -> Table:
    """The table of a program's `sources`, by the rules in a file and the layout beside it."""
    rules = read_table(path)
    return place(symbols_of(sources, rules), rules, read_layout(layout_path(path)))


def symbols_of(sources: Mapping[str, bytes], rules: Table) -> Symbols:
    program = read_program(wanted(sources, rules), rules.is_outside)
    find_constants(program)
    return read_symbols(program, rules)


@dataclass
class Placed:
    """The overlay of every symbol of a program, and by phase the overlays that stay."""

    homes: dict[str, str]
    stays: dict[str, list[str]]


def placed(symbols: Symbols, rules: Table, layout: Layout) -> Placed:
    """All symbols in overlays that the build accepts."""
    homes = _homes(symbols, rules, layout)
    _move_needed(symbols, homes, stays_of(symbols, homes, rules, layout))
    _place_constructors(symbols, homes, layout)
    return Placed(homes, stays_of(symbols, homes, rules, layout))


def place(symbols: Symbols, rules: Table, layout: Layout) -> Table:
    """The table with all modules that have `symbols`, by the rules, whose
    one overlay is the core."""
    roots = _roots(rules)
    made = placed(symbols, rules, layout)
    homes = made.homes
    rests = _rests(symbols, rules, roots, homes)
    pieces: dict[tuple[str, str], list[str]] = defaultdict(list)
    for symbol, home in sorted(homes.items()):
        pieces[home, module_of(symbol)].append(symbol.partition(MARK)[2])
    overlays: dict[str, list[str]] = {CORE: [one for one in roots if one not in rests]}
    for (home, module), names in sorted(pieces.items()):
        if rests[module] != home:
            overlays.setdefault(home, []).append(f"{module}{MARK} {' '.join(names)}")
    for module, home in sorted(rests.items()):
        overlays.setdefault(home, []).append(module)
    packs = {
        pack: sorted({homes[one] for one in homes if rules.pack_of(module_of(one)) == pack})
        for pack in rules.packs
    }
    return Table(
        overlays,
        phases=made.stays,
        dynamic=rules.dynamic,
        packs=packs,
        api=rules.api,
        separate=rules.separate,
        linux=rules.linux,
        room=rules.room,
        names=rules.names,
    )


def _roots(rules: Table) -> list[str]:
    """The modules that are whole in the core."""
    return [one for one in rules.overlays[CORE] if MARK not in one]


def core_symbols(symbols: Symbols, rules: Table) -> set[str]:
    """The symbols that the rules put into the core, and those that must be there."""
    listed = rules.overlays[CORE]
    return (
        symbols.kept
        | {
            name
            for name in symbols.names
            if module_of(name) in listed
            or f"{module_of(name)}{MARK}{CLASSES}" in listed
            and (name in symbols.methods or name in symbols.silent)
        }
        | set(_symbols(one for one in listed if MARK in one and not one.endswith(CLASSES)))
    )


def cold_name(module: str) -> str:
    """The overlay of a module's cold code: `net_http_cold` of `app.net.http`."""
    return (module.partition(".")[2].replace(".", "_") or "package") + _COLD


def _homes(symbols: Symbols, rules: Table, layout: Layout) -> dict[str, str]:
    """The overlay of each symbol: that of the symbols it is tied to, as far as they are known."""
    in_core = core_symbols(symbols, rules)
    shared = {name for name in in_core if name in symbols.methods or name in symbols.silent}
    of_pack: dict[str, Counter[str]] = defaultdict(Counter)
    for symbol, home in layout.homes.items():
        of_pack[home][rules.pack_of(module_of(symbol))] += 1
    packs = {home: count.most_common(1)[0][0] for home, count in of_pack.items()}
    units: dict[str, list[str]] = defaultdict(list)
    for name in sorted(symbols.names - set(symbols.constructors.values())):
        units[symbols.unit(name)].append(name)
    homes: dict[str, str] = {}
    for names in units.values():
        pack = rules.pack_of(module_of(names[0]))
        known = Counter(
            home for name in names if (home := layout.homes.get(name, "")) and packs[home] == pack
        )
        is_core = known[CORE] or (not known and not in_core.isdisjoint(names))
        if is_core or not shared.isdisjoint(names):
            home = CORE
        elif known:
            home = known.most_common(1)[0][0]
        else:
            home = cold_name(module_of(names[0]))
        homes.update(dict.fromkeys(names, home))
    return homes


def _place_constructors(symbols: Symbols, homes: dict[str, str], layout: Layout) -> None:
    """Put each `__init__` where its layout has it, if all objects are made there, or else to its
    class."""
    for owner, name in symbols.constructors.items():
        homes[name] = layout.homes.get(name, homes[owner])
    wrong = True
    while wrong:
        wrong = False
        for owner, name in symbols.constructors.items():
            makers = {homes.get(one, "") for one in symbols.makers[owner]}
            if homes[name] != homes[owner] and makers != {homes[name]}:
                homes[name] = homes[owner]
                wrong = True


def _move_needed(
    symbols: Symbols, homes: dict[str, str], stays: Mapping[str, Iterable[str]]
) -> None:
    """Move symbols that an overlay needs when it is loaded, and that may be gone then, into that
    overlay; into the core, if several need one."""
    phases = [set(names) for names in stays.values()]
    moved: set[str] = set()
    changed = True
    while changed:
        changed = False
        for user, needed in sorted(symbols.needs.items()):
            here = homes.get(user, CORE)
            for name in sorted(needed & homes.keys()):
                there = homes[name]
                if there in (here, CORE):
                    continue
                if here != CORE and not any(here in one and there not in one for one in phases):
                    continue
                unit = symbols.unit(name)
                home = CORE if unit in moved else here
                moved.add(unit)
                for one in homes:
                    if symbols.unit(one) == unit:
                        homes[one] = home
                changed = True


def stays_of(
    symbols: Symbols, homes: Mapping[str, str], rules: Table, layout: Layout
) -> dict[str, list[str]]:
    """By phase, the overlays that stay. One with methods of a class that leaves is left out: they
    would be missing in the class when it comes again."""
    known = set(homes.values()) - {CORE}
    found = {}
    for phase in dict.fromkeys((*rules.phases, rules.names.idle, *rules.room)):
        kept = known.intersection(layout.phases.get(phase, ()))
        found[phase] = sorted(without_orphans(symbols, homes, kept))
    return found


def without_orphans(symbols: Symbols, homes: Mapping[str, str], kept: Iterable[str]) -> set[str]:
    kept = set(kept)
    changed = True
    while changed:
        changed = False
        for owner, methods in symbols.methods.items():
            home = homes.get(owner, CORE)
            if home == CORE or home in kept:
                continue
            lent = [*methods, symbols.constructors.get(owner, owner)]
            orphans = {homes[one] for one in lent if one in homes} & kept
            changed = changed or bool(orphans)
            kept -= orphans
    return kept


def _rests(
    symbols: Symbols, rules: Table, roots: Iterable[str], homes: Mapping[str, str]
) -> dict[str, str]:
    """By module, the overlay of all that is no symbol: that of the names that code looks up in
    it, or else of most of its symbols."""
    in_core = set(roots)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for symbol, home in sorted(homes.items()):
        module = module_of(symbol)
        is_looked_up = symbol.partition(MARK)[2] in symbols.looked_up.get(module, ())
        counts[module][home] += 1 + 1000 * is_looked_up
    rests = {module: found.most_common(1)[0][0] for module, found in counts.items()}
    for module in symbols.modules - rests.keys():
        rests[module] = CORE  # constants alone, which the build puts into their users
    return {one: CORE if one in in_core else home for one, home in rests.items()}
