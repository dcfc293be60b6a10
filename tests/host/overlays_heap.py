"""What a debug build prints after each phase (firmware/tenner/overlay.py), counted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_ENTERED = re.compile(r"entered (\S+) (\d+) ?(.*)")
_LAYOUT = re.compile(r"[0-9a-f]{8}: (.*)")


@dataclass
class Look:
    """The heap just after a phase was entered."""

    phase: str
    overlays: list[str]
    evicted: list[str]
    #: Objects that are modules, without the overlays and the modules in sys.modules.
    others: int


def looks(lines: Iterable[str]) -> list[Look]:
    """Each look at the heap in what a board has printed."""
    found: list[Look] = []
    evicted: list[str] = []
    for line in lines:
        entered = _ENTERED.match(line)
        layout = _LAYOUT.match(line)
        if entered:
            overlays = entered[3].split()
            found.append(Look(entered[1], overlays, evicted, -len(overlays) - int(entered[2])))
            evicted = []
        elif line.startswith("evicted "):
            evicted.append(line.split()[1])
        elif layout and found:
            found[-1].others += layout[1].count("M")
    return found


def stale(found: list[Look]) -> list[str]:
    """A sentence for each phase after which code is alive that it may not hold."""
    least = min(look.others for look in found)
    sentences = []
    for before, look in zip([None, *found], found, strict=False):
        if look.others > least:
            sentences.append(
                f"{look.phase} (after {before.phase if before else 'the start'}): "
                f"{look.others - least} too many; evicted: {' '.join(sorted(look.evicted))}"
            )
    return sentences
