"""Counts the output of a debug build after each phase (firmware/tenner/overlay_loader.py)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_ENTERED = re.compile(r"entered (\S+) (\d+) ?(.*)")
_EVICTED = re.compile(r"evicted (\S+) (\d+)")
_BASE = re.compile(r"GC memory layout; from ([0-9a-f]+):")
_LAYOUT = re.compile(r"([0-9a-f]{8}): (.*)")
_BLOCK_BYTES = 16


@dataclass
class Look:
    """The heap just after a phase was entered."""

    phase: str
    overlays: list[str]
    #: By its address each overlay that was evicted for it.
    evicted: dict[int, str]
    #: Objects that are modules, without the overlays and the modules in sys.modules.
    others: int
    #: Those of `evicted` that something still refers to.
    alive: list[str] = field(default_factory=list)


def looks(lines: Iterable[str]) -> list[Look]:
    """Return the whole looks at the heap in a board's output, which may end within one."""
    found: list[Look] = []
    look: Look | None = None
    evicted: dict[int, str] = {}
    base = 0
    for line in lines:
        if match := _ENTERED.match(line):
            overlays = match[3].split()
            look = Look(match[1], overlays, evicted, -len(overlays) - int(match[2]))
            evicted = {}
        elif match := _EVICTED.match(line):
            evicted[int(match[2])] = match[1]
        elif match := _BASE.match(line):
            base = int(match[1], 16)
        elif line == "looked" and look:
            found.append(look)
            look = None
        elif (match := _LAYOUT.match(line)) and look:
            start = base + int(match[1], 16)
            for block in re.finditer("M", match[2]):
                look.others += 1
                name = look.evicted.get(start + _BLOCK_BYTES * block.start())
                # Another overlay may lie there by now.
                if name and name not in look.overlays:
                    look.alive.append(name)
    return found


def stale(found: list[Look]) -> list[str]:
    """A sentence for each phase after which code is alive that does not stay in it."""
    least = min(look.others for look in found)
    sentences = []
    for before, look in zip([None, *found], found, strict=False):
        if look.others > least:
            sentences.append(
                f"{look.phase} (after {before.phase if before else 'the start'}): "
                f"{look.others - least} too many: {' '.join(look.alive) or '?'}"
            )
    return sentences
