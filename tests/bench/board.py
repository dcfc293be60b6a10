"""The figures of a real board at $PORT, led through its whole life by tests/hw (its other options
are in $HW_...)."""

from __future__ import annotations

import importlib
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.bench.rows import NotMeasured, Row


@cache
def _report() -> Any:
    try:
        hw = importlib.import_module("tests.hw.__main__")
    except ImportError as exc:
        raise NotMeasured(f"tests/hw is not here: {exc}") from exc
    arguments = hw.parser().parse_args([])
    if not arguments.port:
        raise NotMeasured("there is no board: make bench B=chip. PORT=...")
    with tempfile.TemporaryDirectory(prefix="tenner-hw-") as folder:
        report = hw.live(hw.options(arguments), Path(folder))
    print(report.text())
    return report


def _figure(name: str) -> float:
    report = _report()
    if name not in report.figures:
        raise NotMeasured(f"the board did not get so far: {'; '.join(report.failures)}")
    return float(report.figures[name])


def _row(
    name: str, what: str, unit: str, budget: float | None = None, *, floor: bool = False
) -> Row:
    return Row(name, what, unit, lambda: _figure(name), budget, floor=floor)


ROWS = [
    _row("chip.first_poll_s", "a board's start to its first poll", "s", 20),
    _row("chip.turn.plain_s", "its answer without a tool, median", "s", 10),
    _row("chip.turn.tool_s", "its answer with a tool, median", "s", 18),
    _row("chip.turns_in_row", "turns without a failed connection", "turns", 50, floor=True),
    _row("chip.gc_used_kb", "Python's heap at the most", "KB"),
    _row("chip.idf_free_kb", "ESP-IDF's memory, least free", "KB"),
    _row("chip.idf_largest_kb", "its largest free block, at the least", "KB"),
    _row("chip.idf_least_kb", "the least that was ever free", "KB", 24, floor=True),
]
