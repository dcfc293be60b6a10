"""docs/own-code.md: its examples run on a board. docs/api.md: the build keeps every name it
lists."""

import re

import pytest

from mpy_linker import table_of
from mpy_linker.bundle import wanted
from mpy_linker.kept import Kept
from mpy_linker.program import read_program
from scripts import api_page
from tenner_host import FIRMWARE, ROOT, RULES, build
from tests.host.e2e import agent_board

PAGE = (ROOT / "docs" / "own-code.md").read_text(encoding="utf-8")
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^`(workspace/\S+)`\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
SENSORS = re.search(r"names it like one that ships: `(.*?)`", PAGE)[1]


def test_the_examples_run_on_a_board():
    files = {"/" + path: text for path, text in EXAMPLE.findall(PAGE)}
    assert len(files) == 3
    files["/workspace/SENSORS.json"] = SENSORS
    with agent_board(files=files) as bench:
        bench.ready()
        # Sonntag's formula by hand: 11.6 degrees.
        assert "11.6 °C" in bench.ask('call dew_point {"celsius": 21, "percent": 55}')
        assert "percent must be from 1 to 100" in bench.ask(
            'call dew_point {"celsius": 21, "percent": 0}'
        )
        bench.board.set("gpio0.volts", 0.6)
        read = 'call sensor {"action": "read", "name": "boiler"}'
        assert re.search(r"boiler.*temperature 60", bench.ask(read))
        bench.board.set("gpio0.volts", 3.0)
        assert re.search(r"boiler.*300.*150", bench.ask(read))


@pytest.fixture(scope="module")
def kept():
    modules, scripts = build.sources(FIRMWARE)
    table = table_of(modules, FIRMWARE / RULES)
    program = read_program(wanted(modules, table), table.is_outside, table.pieces)
    return Kept(program, table, scripts)


@pytest.mark.parametrize("module", api_page.modules())
def test_the_build_keeps_the_names_on_the_page(module, kept):
    listed = [name for name, _ in api_page.public(module)]
    assert listed
    for shown in listed:
        assert f"| `{shown}` |" in API
        # Its name, and those of its arguments, which stand before their types.
        names = re.findall(r"^\w+|\w+(?=:)", shown.split("=")[0])
        assert all(name in kept for name in names), shown
