"""The soak of tests/host/soak.py as figures: the number of memory shortages, and the heap that is
enough."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from tests.bench.rows import NotMeasured, Row

MESSAGES, ALERTS, SEED = 2000, 500, 1
#: The heap at which shortages are counted.
BUDGET_KB = 112
#: The heaps to try, smallest first: each further run takes a quarter of an hour.
HEAPS_KB = range(88, 132, 4)


@cache
def _report(heap_kb: int) -> Any:
    try:
        module = importlib.import_module("tests.host.soak")
    except ImportError as exc:
        raise NotMeasured(f"the soak is not here: {exc}") from exc
    return module.soak(MESSAGES, ALERTS, SEED, f"{heap_kb}K")


def shortages() -> float:
    """How often memory was short at the budget's heap."""
    return int(_report(BUDGET_KB).short)


def clean_at_kb() -> float:
    """The smallest heap in which the soak passes and memory is never short."""
    low, high = 0, len(HEAPS_KB)
    while low < high:
        middle = (low + high) // 2
        report = _report(HEAPS_KB[middle])
        if report.problems or report.short:
            low = middle + 1
        else:
            high = middle
    if low == len(HEAPS_KB):
        raise NotMeasured(f"not clean in {HEAPS_KB[-1]} KB either")
    return HEAPS_KB[low]


ROWS = [
    Row("soak.shortages", f"soak in {BUDGET_KB} KB: short of memory", "times", shortages, 0),
    Row("soak.clean_at_kb", "soak: heap in which it never is", "KB", clean_at_kb, 104),
]
