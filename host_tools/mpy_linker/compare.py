"""Replay a profile with two layouts, and compare them.

The code of a phase is that of the core and of each overlay that has stayed, is alive, or has code
that ran. An overlay costs some heap beside its code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mpy_linker.layout import Run, bytes_by_overlay, replayed
from mpy_linker.place import Placed
from mpy_linker.table import CORE


@dataclass
class Cost:
    """A phase in all runs: the most bytes of code, and the loads."""

    peak: int = 0
    loads: int = 0


def replay(layout: Placed, runs: Sequence[Run], sizes: Mapping[str, int]) -> dict[str, Cost]:
    """The cost of each phase; `sizes` are bytes of code by symbol."""
    bytes_of = bytes_by_overlay(layout.homes, sizes)
    costs: dict[str, Cost] = defaultdict(Cost)
    for run in runs:
        for phase, new, loaded in replayed(run, layout.homes, layout.stays):
            cost = costs[phase]
            cost.loads += len(new)
            peak = sum(bytes_of.get(one, 0) for one in {*loaded, CORE})
            cost.peak = max(cost.peak, peak)
    return dict(costs)


def table(before: Mapping[str, Cost], made: Mapping[str, Cost]) -> Iterator[str]:
    """Yield the lines of a table of all phases and their sums."""
    yield f"{'':16} {'peak code, bytes':>20}   {'loads':>15}"
    yield f"{'phase':16} {'before':>9} {'made':>10}   {'before':>6} {'made':>8}"
    for phase, one in sorted(before.items(), key=lambda item: -item[1].peak):
        other = made[phase]
        yield f"{phase:16} {one.peak:9,} {other.peak:10,}   {one.loads:5} {other.loads:9}"
    most = [max(one.peak for one in costs.values()) for costs in (before, made)]
    loads = [sum(one.loads for one in costs.values()) for costs in (before, made)]
    yield f"{'most, and all':16} {most[0]:9,} {most[1]:10,}   {loads[0]:5} {loads[1]:9}"
