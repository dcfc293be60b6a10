"""The bench's bookkeeping; its measurements are never a test's verdict."""

import io
import json

import pytest
from rich.console import Console

from tenner_host.littlefs_image import taken
from tests.bench import __main__ as bench
from tests.bench import code, loaded, riscv64, schedule
from tests.bench.rows import NotMeasured, Row

pytestmark = pytest.mark.long


def row(value=None, budget=2):
    found = Row("a.b", "a figure", "KB", lambda: 1.005, budget)
    found.value = value
    return found


def test_every_row_is_measured_or_says_why():
    def impossible():
        raise NotMeasured("no such part")

    def broken():
        return {}["missing"]

    rows = [row(), Row("c.d", "second", "B", impossible, 1), Row("e.f", "third", "B", broken)]
    kept = []
    bench.collect(rows, lambda: kept.append([found.value for found in rows]))
    assert [(found.value, found.ok) for found in rows] == [(1.0, True), (None, None), (None, None)]
    assert rows[1].as_json()["note"] == "no such part"
    assert rows[2].as_json()["note"] == "the bench itself failed: KeyError('missing')"
    assert len(kept) == 3 and kept[0] == [1.0, None, None]


def test_a_row_that_fails_costs_no_other(monkeypatch, tmp_path, capsys):
    output = tmp_path / "build" / "bench.json"
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(bench, "OUTPUT", output)

    def interrupted():
        assert [one["name"] for one in json.loads(output.read_text())] == ["a.b"]
        raise KeyboardInterrupt

    monkeypatch.setattr(bench, "ROWS", [row(), Row("a.c", "then", "B", interrupted), row()])
    with pytest.raises(KeyboardInterrupt):
        bench.main(["a."])
    assert json.loads(output.read_text())[0]["value"] == 1.0
    monkeypatch.setattr(bench, "ROWS", [Row("a.b", "broken", "B", lambda: {}["missing"])])
    assert bench.main(["a."]) == 1


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
    monkeypatch.setattr(
        bench, "collect", lambda rows, _: measured.append([row.name for row in rows])
    )
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


def test_the_heap_of_the_core_is_seen(micropython32):
    assert 20 < code.idle_import_kb() < 60


def test_what_is_loaded_when_used_and_evicted(micropython32):
    taken, left = loaded.loading("tenner.chart_picture")
    assert 12000 > taken > 3000 > left >= 0
    with pytest.raises(NotMeasured, match="loading tenner.none failed: ImportError"):
        loaded.loading("tenner.none")


def test_every_overlay_and_tool_has_its_line():
    names = {found.name for found in loaded.rows()}
    assert {"overlay.turn.heap", "overlay.turn.left", "overlay.web_page.mpy"} <= names
    assert "tool.i2c.schema" in names
    assert not any(name.startswith(("overlay.app.", "tool.exec.")) for name in names)
    rows = [found for found in loaded.rows() if found.name.startswith("overlay.turn.")]
    for found, value in zip(rows, (2512, 288, None), strict=True):
        found.value = value
    rows[-1].note = "not here"
    output = io.StringIO()
    loaded.show(rows, Console(file=output, width=120))
    assert output.getvalue().split()[-6:] == "overlay.turn 2512 288 - not here".split()


def test_a_day_of_the_heartbeat():
    assert schedule.day(None) == (0, 0)
    assert schedule.day(schedule.CONDITIONS) == (0, 0)
    calls, size = schedule.day(schedule.CONDITIONS, schedule.NOON)
    assert calls == 1
    calls, ten = schedule.day(schedule.TEN_TASKS)
    assert calls == 48
    assert ten > 48 * size > 48 * 1000


def test_a_day_that_cannot_be_lived_is_not_measured():
    with pytest.raises(NotMeasured, match="the day ended early"):
        schedule.day("- Look.\n", "noon")


def test_flash_is_counted_in_blocks():
    empty = taken({})
    # A small file lies in the folder's own blocks, a larger one takes whole blocks.
    assert taken({"/small": b"x" * 20}) == empty
    assert taken({"/large": b"x" * 4097}) == empty + 2 * 4096
    assert taken({"/lib/a/small": b"x"}) == empty + 2 * 2 * 4096
