"""Runs the measurements, prints the table and writes build/bench.json.

With `--modules` it prints instead what each module of the idle agent adds to the heap.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Iterable

from rich.console import Console
from rich.table import Table

from host_tools import ROOT, tenner_version
from host_tools.bench import code
from host_tools.bench.rows import BUDGETS, NotMeasured, Row

#: Row name -> the function that measures it. A row without one says so in the table.
MEASURES: dict[str, Callable[[], float]] = {
    "flash.code_mpy_kb": code.code_mpy_kb,
    "heap.idle_import_kb": code.idle_import_kb,
}

OUTPUT = ROOT / "build" / "bench.json"


def collect(measures: dict[str, Callable[[], float]], rows: Iterable[Row] = BUDGETS) -> list[Row]:
    """Measure every row; what cannot be measured keeps its reason."""
    results = []
    for row in rows:
        result = dataclasses.replace(row)
        try:
            if row.name not in measures:
                raise NotMeasured("nothing measures it yet")
            result.value = round(measures[row.name](), 2)
        except NotMeasured as exc:
            result.note = str(exc)
        results.append(result)
    return results


def show(rows: list[Row], console: Console) -> None:
    table = Table(title=f"tenner {tenner_version()}", title_justify="left", box=None)
    table.add_column("figure", no_wrap=True)
    for heading in ("measured", "budget"):
        table.add_column(heading, justify="right")
    for heading in ("best peer", ""):
        table.add_column(heading, no_wrap=True)
    for row in rows:
        measured = "-" if row.value is None else f"{row.value:g}"
        budget = "" if row.budget is None else f"{row.budget:g}"
        table.add_row(row.what, measured, budget, row.peer, row.verdict)
    console.print(table, markup=False)
    for row in rows:
        if row.note:
            console.print(f"{row.what}: {row.note}", markup=False, highlight=False)


def show_modules() -> None:
    """What each part of the idle agent costs: where to look when the heap is over its budget."""
    for name, size in code.import_costs(code.wired_modules()):
        print(f"{size:8d}  {name}")


def main() -> int:
    if sys.argv[1:] == ["--modules"]:
        show_modules()
        return 0
    rows = collect(MEASURES)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    report = {"version": tenner_version(), "rows": [row.as_json() for row in rows]}
    OUTPUT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    show(rows, Console())
    print(f"written to {OUTPUT.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
