"""The findings of a run, as text that can be pasted into an issue."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.hw.line import Sample


@dataclass
class Step:
    """One step, how long it took, its observation, and why it failed if it did."""

    name: str
    took_s: float = 0.0
    seen: str = ""
    failure: str = ""
    samples: Sequence[Sample] = ()


@dataclass
class Report:
    """The steps of a run, and its figures by the names of the bench's rows."""

    about: str
    steps: list[Step] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def failures(self) -> list[str]:
        return [f"{step.name}: {step.failure}" for step in self.steps if step.failure]

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[Step]:
        """Time the step; note its exception and raise that again."""
        step = Step(name)
        self.steps.append(step)
        begun = time.monotonic()
        try:
            yield step
        except (Exception, KeyboardInterrupt) as exc:
            step.failure = step.failure or str(exc).strip() or type(exc).__name__
            raise
        finally:
            step.took_s = time.monotonic() - begun

    def text(self) -> str:
        lines = [self.about, ""]
        heads = ("step", "s", "gc used", "idf free", "largest", "least", "")
        rows = [(step.name, f"{step.took_s:.1f}", *_memory(step.samples)) for step in self.steps]
        widths = [max(len(row[n]) for row in [heads, *rows]) for n in range(6)]
        ends = [("FAILED: " if s.failure else "") + (s.failure or s.seen) for s in self.steps]
        for row, end in zip([heads, *rows], ["", *ends], strict=True):
            cells = [row[0].ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(row[1:6], widths[1:], strict=True)]
            lines.append("  ".join([*cells, end.replace("\n", " | ")]).rstrip())
        lines += [
            "",
            "gc used: the most; idf free, largest block and least ever: the least, in bytes",
        ]
        lines += [f"{name} {value:g}" for name, value in sorted(self.figures.items())]
        found = self.failures
        lines.append("PASSED" if not found else f"FAILED: {len(found)} of {len(self.steps)} steps")
        return "\n".join(lines) + "\n"


def _memory(samples: Sequence[Sample]) -> tuple[str, ...]:
    if not samples:
        return ("", "", "", "")
    used = max(one.gc_used for one in samples)
    least = [min(column) for column in zip(*(one[-3:] for one in samples), strict=True)]
    return tuple(str(value) for value in (used, *least))
