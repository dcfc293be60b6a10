"""The bench's bookkeeping; what it measures is never a test's verdict."""

import io
import json

from rich.console import Console

from host_tools.bench import __main__ as bench
from host_tools.bench import code, rows


def test_every_row_is_measured_or_says_why():
    def impossible():
        raise rows.NotMeasured("no such part")

    wanted = [rows.Row("a.b", "first", 2), rows.Row("c.d", "second", 1), rows.Row("e.f", "third")]
    found = bench.collect({"a.b": lambda: 1.005, "c.d": impossible}, wanted)
    assert [(row.value, row.verdict) for row in found] == [(1.0, "ok"), (None, "-"), (None, "-")]
    assert found[1].note == "no such part"
    assert found[2].note
    assert wanted[0].value is None


def test_over_budget_is_said():
    assert rows.Row("a.b", "first", 2, value=2.0).verdict == "ok"
    assert rows.Row("a.b", "first", 2, value=2.01).verdict == "over"


def test_every_measurement_has_its_row():
    assert set(bench.MEASURES) <= {row.name for row in rows.BUDGETS}


def test_the_table_fits_a_terminal_and_the_report_is_json():
    output = io.StringIO()
    bench.show(rows.BUDGETS, Console(file=output, width=80))
    for row in rows.BUDGETS:
        assert row.what in output.getvalue()
    json.dumps([row.as_json() for row in rows.BUDGETS])


def test_the_heap_of_an_import_is_seen(micropython32):
    costs = code.import_costs(["tenner.net.http"])
    assert costs[-1][0] == "heap"
    assert costs[-1][1] == sum(size for _, size in costs[:-1]) > 1000
