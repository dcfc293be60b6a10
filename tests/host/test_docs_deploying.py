"""docs/deploying.md names tests that exist, for each fault and for each pain of other tools."""

import ast
import os
import re
from pathlib import Path

import pytest

from tenner_host import ROOT
from tenner_sim.vboard import VirtualBoard

TEXT = (ROOT / "docs" / "deploying.md").read_text()
TABLES = {
    title: [line.strip("|").split("|") for line in table.splitlines()[2:]]
    for title, table in re.findall(
        r"^## ([^\n]+)\n.*?\n(\|.*?)\n\n", TEXT, re.DOTALL | re.MULTILINE
    )
}


def names_in(name):
    tree = ast.parse((Path(__file__).parent / f"{name}.py").read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("title", "rows"), [("Faults", 17), ("Problems of other tools", 23)])
def test_each_row_has_a_test_that_exists(title, rows):
    assert len(TABLES[title]) == rows
    for what, _, seen in TABLES[title]:
        named = re.findall(r"`(\w+)::(\w+)`", seen)
        assert named, what
        for file, test in named:
            assert test in names_in(file), (what, test)


def test_a_board_goes_on_when_nobody_reads_its_console():
    """A program has the port open and reads nothing. (On a chip, MicroPython drops output that USB
    does not take.)"""
    main = (
        b"import machine\nfor _ in range(45):\n    print('x' * 4000)\nmachine.deepsleep(60000)\n"
    )
    with VirtualBoard({"/main.py": main}, power=False) as board:
        reader = os.open(board.pty, os.O_RDWR | os.O_NOCTTY)
        board.power_on()
        board.wait_state("asleep")
        os.close(reader)
