"""Group symbols into overlays by the phases in which they run, for the least heap.

The profile is a list of moments: in each begin of a phase, the symbols that ran in it, and those
alive when it began. A moment costs the bytes of the overlays that it touches, so symbols of the
same moments belong together. Two groups are merged as long as that makes the weighted sum of
all moments smaller, since an overlay costs some hundred bytes beside its code. Then single
symbols move as long as that does. The core is a group that every moment touches. Moments with
much code weigh most, since they decide how much heap a board needs. Symbols that never ran are in
no group.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mpy_linker.symbols import Symbols, module_of
from mpy_linker.table import CORE

#: Heap of an overlay and of a function beside the code, and of a method in another overlay than
#: its class.
OVERLAY_BYTES, _FUNCTION_BYTES, _LENT_BYTES = 420, 40, 90
#: The cost of another file, in weighted bytes.
_FILE_COST = 60_000
#: The cost of a load in any moment, in bytes of the weight 1, for its time.
_LOAD_COST = 8_000
#: Weights are numbers of so many bits, and grow with this power of a moment's bytes.
_BITS, _POWER = 6, 5
#: How often every symbol may move.
_PASSES = 4


@dataclass(frozen=True)
class Moment:
    """A phase, the symbols that ran until the next began, and those alive at its begin."""

    phase: str
    ran: frozenset[str]
    alive: frozenset[str]

    @property
    def touched(self) -> frozenset[str]:
        """The symbols whose code this moment needs."""
        return self.ran | self.alive


@dataclass
class _Group:
    bytes: int
    #: The moments that touch it, a bit for each.
    moments: int
    units: list[str]
    pack: str


class Grouping:
    """Groups of symbols; `group` makes them, once."""

    def __init__(
        self,
        symbols: Symbols,
        sizes: Mapping[str, int],
        moments: Sequence[Moment],
        in_core: Iterable[str],
        packs: Mapping[str, str],
    ) -> None:
        """`sizes` are bytes of compiled code, `in_core` the symbols that must be in the core,
        `packs` the packs by module: code of two packs shares no overlay."""
        self.symbols = symbols
        self.packs = packs
        self.sizes = {
            name: size and size + (name not in symbols.silent) * _FUNCTION_BYTES
            for name in symbols.names
            for size in [sizes.get(name, 0)]
        }
        distinct = list(dict.fromkeys((one.phase, one.touched) for one in moments))
        self.all = (1 << len(distinct)) - 1
        self.moments = self._moments(distinct)
        in_core = {symbols.unit(name) for name in in_core if name in symbols.names}
        for one, other in symbols.together:
            symbols.tie(one, other)
        for user, needed in symbols.needs.items():
            for name in needed & symbols.names:
                if user in symbols.names and symbols.unit(name) not in in_core:
                    symbols.tie(user, name)
        for owner, name in symbols.constructors.items():
            symbols.tie(name, owner)
        self.units: dict[str, list[str]] = defaultdict(list)
        for name in sorted(symbols.names):
            self.units[symbols.unit(name)].append(name)
        self._core = {symbols.unit(name) for name in in_core}
        self._masks = self._weights(len(distinct))

    def _moments(self, distinct: Sequence[tuple[str, frozenset[str]]]) -> dict[str, int]:
        found: dict[str, int] = defaultdict(int)
        for number, (_, touched) in enumerate(distinct):
            for name in touched & self.symbols.names:
                found[name] |= 1 << number
        # A symbol without marks is used where its users are; twice, for users without marks.
        for _ in range(2):
            for user, names in self.symbols.uses.items():
                for name in names & self.symbols.silent:
                    found[name] |= found[user]
        return found

    def _weights(self, count: int) -> list[int]:
        """The sets of moments whose weights have the bits 0, 1, ..."""
        totals = [0] * count
        for names in self.units.values():
            size = sum(self.sizes[name] for name in names)
            touched = self._touched(names)
            while touched:
                last = touched & -touched
                totals[last.bit_length() - 1] += size
                touched ^= last
        most = max(totals)
        masks = [0] * _BITS
        for number, total in enumerate(totals):
            weight = max(1, round(((1 << _BITS) - 1) * (total / most) ** _POWER))
            for bit in range(_BITS):
                if weight >> bit & 1:
                    masks[bit] |= 1 << number
        return masks

    def _touched(self, names: Iterable[str]) -> int:
        found = 0
        for name in names:
            found |= self.moments[name]
        return found

    def _weight(self, moments: int) -> int:
        return sum((moments & mask).bit_count() << bit for bit, mask in enumerate(self._masks))

    # --- groups

    def group(self) -> dict[str, str]:
        """The number of a group, or CORE, by symbol that ran."""
        self._join_methods()
        groups = self._first()
        self._merge(groups)
        for _ in range(_PASSES):
            if not self._move(groups):
                break
        return self._by_symbol(groups)

    def extended(self, homes: Mapping[str, str]) -> dict[str, str]:
        """Groups that are known, with the symbols that are new: each joins the group where it
        costs least, or none if it costs less by itself."""
        groups: dict[str, _Group] = {}
        known: dict[str, list[str]] = defaultdict(list)
        new = []
        for unit, names in self.units.items():
            of = Counter(homes[name] for name in names if name in homes)
            if unit in self._core or of[CORE]:
                known[CORE].append(unit)
            elif of:
                known[of.most_common(1)[0][0]].append(unit)
            elif self._touched(names):
                new.append(unit)
        for name, units in known.items():
            groups[name] = self._group(units)
        groups[CORE].moments = self.all
        for unit in new:
            one = self._group([unit])
            alone = one.bytes * self._weight(one.moments) + self._saved(one.moments) + _FILE_COST
            best = self._cheapest(one, groups, "", alone)
            if best:
                self._join(one, groups[best])
        return self._by_symbol(groups)

    def _by_symbol(self, groups: Mapping[str, _Group]) -> dict[str, str]:
        return {
            symbol: name
            for name, group in groups.items()
            for unit in group.units
            for symbol in self.units[unit]
        }

    def _join_methods(self) -> None:
        """Put methods to their class where that is cheaper than to lend them."""
        for owner, methods in self.symbols.methods.items():
            home = self.symbols.unit(owner)
            is_core = home in self._core
            for method in methods:
                unit = self.symbols.unit(method)
                if unit == home or unit not in self.units or unit in self._core:
                    continue
                there, here = self._group([home]), self._group([unit])
                if not here.moments:
                    continue
                if is_core:
                    there.moments, there.bytes = self.all, 0
                together = here.bytes * self._weight(there.moments & ~here.moments)
                together += there.bytes * self._weight(here.moments & ~there.moments)
                if together <= _LENT_BYTES * self._weight(there.moments):
                    self.symbols.tie(unit, home)
                    self.units[home] += self.units.pop(unit)

    def _group(self, units: list[str]) -> _Group:
        names = [name for unit in units for name in self.units[unit]]
        pack = self.packs.get(module_of(names[0]), "") if names else ""
        size = sum(self.sizes[name] for name in names)
        return _Group(size, self._touched(names), units, pack)

    def _first(self) -> dict[str, _Group]:
        """The core, and a group for each set of moments."""
        same: dict[tuple[int, str], list[str]] = defaultdict(list)
        for unit in self.units:
            one = self._group([unit])
            if one.moments and unit not in self._core:
                same[one.moments, one.pack].append(unit)
        core = self._group(sorted(self._core & self.units.keys()))
        core.moments = self.all
        groups = {CORE: core}
        for number, units in enumerate(same.values()):
            groups[str(number)] = self._group(units)
        return groups

    def _cost(self, one: _Group, other: _Group) -> int:
        """The weighted bytes by which a merge makes all moments dearer."""
        if self.all in (one.moments, other.moments):
            small = other if one.moments == self.all else one
            if small.pack:
                return 1
            return small.bytes * self._weight(self.all & ~small.moments) - self._saved(
                small.moments
            )
        if one.pack != other.pack:
            return 1
        return (
            other.bytes * self._weight(one.moments & ~other.moments)
            + one.bytes * self._weight(other.moments & ~one.moments)
            - self._saved(one.moments & other.moments)
            - _FILE_COST
        )

    def _saved(self, moments: int) -> int:
        """The savings of one overlay less in these moments."""
        return OVERLAY_BYTES * self._weight(moments) + _LOAD_COST * moments.bit_count()

    def _merge(self, groups: dict[str, _Group]) -> None:
        names = list(groups)
        queue = [
            (cost, one, other)
            for place, one in enumerate(names)
            for other in names[place + 1 :]
            if (cost := self._cost(groups[one], groups[other])) < 0
        ]
        heapq.heapify(queue)
        number = len(groups)
        while queue:
            _, one, other = heapq.heappop(queue)
            if one not in groups or other not in groups:
                continue
            left, right = groups.pop(one), groups.pop(other)
            made = _Group(
                left.bytes + right.bytes,
                left.moments | right.moments,
                left.units + right.units,
                left.pack,
            )
            if CORE in (one, other):
                groups[CORE] = made
                continue
            name, number = str(number), number + 1
            for old, group in groups.items():
                cost = self._cost(made, group)
                if cost < 0:
                    heapq.heappush(queue, (cost, old, name))
            groups[name] = made

    def _move(self, groups: dict[str, _Group]) -> bool:
        """Move each unit to the group where it costs least; return whether one has moved."""
        changed = False
        for name, group in list(groups.items()):
            for unit in list(group.units):
                if unit in self._core or len(group.units) < 2:
                    continue
                one = self._group([unit])
                rest = self._group([other for other in group.units if other != unit])
                if name == CORE:
                    rest.moments = self.all
                # The cost of the unit here, and of the rest for being with it.
                here = one.bytes * self._weight(group.moments) + rest.bytes * self._weight(
                    group.moments & ~rest.moments
                )
                best = self._cheapest(one, groups, name, here)
                if best == name:
                    continue
                changed = True
                group.units.remove(unit)
                group.bytes, group.moments = rest.bytes, rest.moments
                self._join(one, groups[best])
        return changed

    def _cheapest(self, one: _Group, groups: Mapping[str, _Group], home: str, least: int) -> str:
        """The group to which `one` goes for less than `least`, or else `home`."""
        best = home
        for name, there in groups.items():
            if name == home or there.pack != one.pack:
                continue
            both = there.moments | one.moments
            cost = one.bytes * self._weight(both) + there.bytes * self._weight(
                both & ~there.moments
            )
            if cost < least:
                best, least = name, cost
        return best

    def _join(self, one: _Group, other: _Group) -> None:
        other.units += one.units
        other.bytes += one.bytes
        other.moments |= one.moments
