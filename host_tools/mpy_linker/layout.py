"""Make a layout from a profile: groups of symbols get the names of their largest modules, and each
phase the overlays that stay in it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from mpy_linker.grouping import OVERLAY_BYTES, Grouping, Moment
from mpy_linker.place import Layout, core_symbols, placed, without_orphans
from mpy_linker.split import MARK
from mpy_linker.symbols import Symbols, module_of
from mpy_linker.table import CORE, Table

#: The moments of one board, in order.
Run = Sequence[Moment]


def make(
    symbols: Symbols,
    rules: Table,
    sizes: Mapping[str, int],
    runs: Sequence[Run],
    known: Layout | None = None,
) -> Layout:
    """The layout for the moments of a profile; `sizes` are bytes by symbol. With `known` its
    symbols and phases stay as they are, and new ones get a place."""
    runs = [_with_modules(symbols, run) for run in runs]
    flat = [moment for run in runs for moment in run]
    packs = {module: rules.pack_of(module) for module in symbols.modules}
    grouping = Grouping(symbols, sizes, flat, core_symbols(symbols, rules), packs)
    if known is not None:
        homes = {**grouping.extended(known.homes), **known.homes}
        homes = {name: home for name, home in homes.items() if name in symbols.names}
        layout = Layout(homes, cold=symbols.names - homes.keys())
        stays = _stays(symbols, placed(symbols, rules, layout).homes, runs, rules.names.idle)
        there = {*homes.values()}
        layout.phases = {
            phase: [one for one in known.phases.get(phase, stays.get(phase, ())) if one in there]
            for phase in (*rules.phases, *rules.room)
        }
        return layout
    grouped = grouping.group()
    for owner, name in symbols.constructors.items():
        makers = {grouped.get(one, "") for one in symbols.makers[owner]}
        if grouped.get(owner) == CORE and len(makers) == 1 and makers != {""}:
            grouped[name] = makers.pop()
    names = _names(grouped, sizes)
    homes = {symbol: names[group] for symbol, group in grouped.items()}
    layout = Layout(homes, cold=symbols.names - homes.keys())
    # The build moves some, and the layout says so.
    homes = placed(symbols, rules, layout).homes
    layout.homes = {symbol: homes[symbol] for symbol in layout.homes}
    stays = _stays(symbols, homes, runs, rules.names.idle)
    always = set.intersection(*stays.values())
    layout.phases = {phase: sorted(stays.get(phase, always)) for phase in rules.phases}
    for phase, kept in _room(symbols, homes, sizes, runs, stays, rules.room).items():
        layout.phases[phase] = sorted(kept)
    return layout


#: Code that has found a module by name keeps it for at most so many moments.
_NEXT = 8


def _with_modules(symbols: Symbols, run: Run) -> Run:
    """The moments with the modules alive that code finds by name: it keeps one as an object, which
    leaves no mark, from its first use to its last."""
    found = {
        symbols.unit(f"{module}{MARK}{name}")
        for module, names in symbols.looked_up.items()
        for name in names
        if not name.startswith("_")
    }
    unit = {name: symbols.unit(name) for name in symbols.names}
    alive = [set(moment.alive) for moment in run]
    last: dict[str, int] = {}
    for number, moment in enumerate(run):
        for one in {unit.get(name, "") for name in moment.ran} & found:
            before = last.get(one, number)
            if number - before <= _NEXT:
                for between in range(before + 1, number + 1):
                    alive[between].add(one)
            last[one] = number
    return [
        Moment(moment.phase, moment.ran, frozenset(also))
        for moment, also in zip(run, alive, strict=True)
    ]


def _names(homes: Mapping[str, str], sizes: Mapping[str, int]) -> dict[str, str]:
    """The name of each group: that of its largest module with a number, such as `net_http_2`."""
    largest: dict[str, Counter[str]] = defaultdict(Counter)
    for symbol, home in sorted(homes.items()):
        largest[home][module_of(symbol)] += sizes.get(symbol, 0)
    names = {CORE: CORE}
    count: Counter[str] = Counter()
    for home in sorted(largest.keys() - {CORE}, key=lambda one: -sum(largest[one].values())):
        name = largest[home].most_common(1)[0][0].partition(".")[2].replace(".", "_")
        count[name] += 1
        names[home] = f"{name}_{count[name]}"
    return names


#: An object that was alive for so many moments, and while the board was idle, may be at any time.
_LONG = 40


def _stays(
    symbols: Symbols, homes: Mapping[str, str], runs: Sequence[Run], idle: str
) -> dict[str, set[str]]:
    """By phase, the overlays that stay: those that were alive at a begin of it, and those that at
    least half of its begins that find them loaded need."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    used: dict[str, Counter[str]] = defaultdict(Counter)
    always = {homes[one] for one in _long_lived(runs, idle) if one in homes}
    living: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        loaded: set[str] = set()
        for moment in run:
            alive = {homes[one] for one in moment.alive if one in homes} - {CORE}
            needed = alive | {homes[one] for one in moment.ran if one in homes} - {CORE}
            living[moment.phase] |= alive
            found[moment.phase].update(loaded)
            used[moment.phase].update(loaded & needed)
            loaded = needed
    stays = {}
    for phase, kept in living.items():
        counts = found[phase]
        half = {home for home in counts if 2 * used[phase][home] >= counts[home]}
        stays[phase] = without_orphans(symbols, homes, kept | half | always)
    return stays


def _long_lived(runs: Sequence[Run], idle_phase: str) -> set[str]:
    """The symbols that were alive for long, and while the board was idle."""
    found: set[str] = set()
    for run in runs:
        since: dict[str, int] = {}
        idle: set[str] = set()
        for number, moment in enumerate(run):
            since = {one: since.get(one, number) for one in moment.alive}
            idle = (idle & moment.alive) | (moment.alive if moment.phase == idle_phase else set())
            found |= {one for one in idle if number - since[one] >= _LONG}
    return found


def bytes_by_overlay(homes: Mapping[str, str], sizes: Mapping[str, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for symbol, home in homes.items():
        found[home] += sizes.get(symbol, 0)
    for home in found:
        found[home] += OVERLAY_BYTES
    return found


def replayed(
    run: Run, homes: Mapping[str, str], stays: Mapping[str, Collection[str]]
) -> Iterator[tuple[str, set[str], set[str]]]:
    """Yield of each moment its phase, the overlays that it loads, and all that are there then."""
    loaded: set[str] = set()
    for moment in run:
        needed = {homes[one] for one in moment.ran if one in homes} - {CORE}
        alive = {homes[one] for one in moment.alive if one in homes}
        loaded &= alive.union(stays.get(moment.phase, ()))
        new = needed - loaded
        loaded |= needed
        yield moment.phase, new, loaded


def _room(
    symbols: Symbols,
    homes: Mapping[str, str],
    sizes: Mapping[str, int],
    runs: Sequence[Run],
    stays: Mapping[str, set[str]],
    room: Mapping[str, int],
) -> dict[str, set[str]]:
    """The overlays that are worth most where a board has room: with most loads for a byte."""
    loads: Counter[str] = Counter()
    for run in runs:
        for _, new, _ in replayed(run, homes, stays):
            loads.update(new)
    bytes_of = bytes_by_overlay(homes, sizes)
    found = {}
    for phase, limit in room.items():
        kept: set[str] = set()
        size = 0
        for home in sorted(loads, key=lambda one: (-loads[one] / bytes_of[one], one)):
            if size + bytes_of[home] <= limit:
                kept.add(home)
                size += bytes_of[home]
        found[phase] = without_orphans(symbols, homes, kept)
    return found
