"""The bench's bookkeeping; what it measures is never a test's verdict."""

import io
import json

import pytest
from rich.console import Console

from host_tools.bench import __main__ as bench
from host_tools.bench import code, loaded, riscv64, schedule
from host_tools.bench.rows import NotMeasured, Row


def row(value=None, budget=2):
    found = Row("a.b", "a figure", "KB", lambda: 1.005, budget)
    found.value = value
    return found


def test_every_row_is_measured_or_says_why():
    def impossible():
        raise NotMeasured("no such part")

    rows = [row(), Row("c.d", "second", "B", impossible, 1)]
    bench.collect(rows)
    assert [(found.value, found.ok) for found in rows] == [(1.0, True), (None, None)]
    assert rows[1].as_json()["note"] == "no such part"


@pytest.mark.parametrize(
    ("value", "budget", "ok"), [(2.0, 2, True), (2.01, 2, False), (2.0, None, None), (0, 0, True)]
)
def test_over_budget_is_said(value, budget, ok):
    assert row(value, budget).ok is ok


def test_a_budget_may_be_a_floor():
    found = [row(0.96, 0.97), row(0.97, 0.97)]
    for one in found:
        one.floor = True
    assert [one.ok for one in found] == [False, True]
    output = io.StringIO()
    bench.show(found, Console(file=output, width=120))
    assert ">= 0.97  under" in output.getvalue()


def test_a_row_says_how_it_was_measured():
    assert row(1.0).as_json() == {
        "name": "a.b",
        "value": 1.0,
        "unit": "KB",
        "budget": 2,
        "ok": True,
        "how": "make bench B=a.b",
    }
    rows = bench.ROWS + riscv64.ROWS
    assert len({found.name for found in rows}) == len(rows)


def test_what_takes_minutes_is_only_measured_when_it_is_asked_for(monkeypatch, tmp_path):
    measured = []
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(bench, "OUTPUT", tmp_path / "bench.json")
    monkeypatch.setattr(bench, "collect", lambda rows: measured.append([row.name for row in rows]))
    monkeypatch.setattr(bench, "show", lambda *_: None)
    for argv in (["riscv64.start."], ["lane."]):
        assert bench.main(argv) == 0
    assert measured[::2] == [
        ["riscv64.start.micropython", "riscv64.start.cpython"],
        ["lane.person_wait_ms"],
    ]
    assert bench.main(["none."]) == 2


def test_the_table_shows_every_row():
    output = io.StringIO()
    bench.show(bench.ROWS, Console(file=output, width=120))
    for found in bench.ROWS:
        assert found.name in output.getvalue()
    json.dumps([found.as_json() for found in bench.ROWS])


def test_the_heap_of_an_import_is_seen(micropython32):
    costs = code.import_costs(["tenner.net.http"])
    assert costs[-1][0] == "heap"
    assert costs[-1][1] == sum(size for _, size in costs[:-1]) > 1000


def test_what_is_loaded_when_used_and_let_go(micropython32):
    taken, left = loaded.loading("driver", "tenner.sensors.sht")
    assert 5000 > taken > 1000 > left >= 0
    with pytest.raises(NotMeasured, match="loading tenner.sensors.none failed: ImportError"):
        loaded.loading("driver", "tenner.sensors.none")


def test_every_driver_and_tool_has_its_line():
    names = {found.name for found in loaded.rows()}
    assert {"driver.bme280.heap", "driver.gpio.mpy", "tool.i2c.schema", "tool.i2c.left"} <= names
    assert "driver.bme280.schema" not in names
    rows = [found for found in loaded.rows() if found.name.startswith("tool.i2c.")]
    for found, value in zip(rows, (2512, 288, 1366, None), strict=True):
        found.value = value
    rows[-1].note = "not here"
    output = io.StringIO()
    loaded.show(rows, Console(file=output, width=120))
    assert output.getvalue().split()[-7:] == "tool.i2c 2512 288 1366 - not here".split()


def test_a_day_of_the_heartbeat():
    assert schedule.day(None) == (0, 0)
    assert schedule.day(schedule.GATED) == (0, 0)
    calls, size = schedule.day(schedule.GATED, schedule.NOON)
    assert calls == 1
    calls, ten = schedule.day(schedule.TEN_TASKS)
    assert calls == 48
    assert ten > 48 * size > 48 * 1000


def test_a_day_that_cannot_be_lived_is_not_measured():
    with pytest.raises(NotMeasured, match="the day ended early"):
        schedule.day("- Look.\n", "noon")
