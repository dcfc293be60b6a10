"""The walks of docs/architecture.md: the same on each run, short, and of code that is there."""

import pytest

from scripts import walks
from tenner_host import FIRMWARE


def test_each_run_records_the_same():
    assert walks.recorded(seed=1) == walks.recorded(seed=2)


@pytest.mark.parametrize("walk", ["a message", "a beat", "an update"])
def test_a_walk_is_short_and_names_what_is_there(walk):
    rows = walks.tables()[walk].splitlines()[2:]
    assert 10 <= len(rows) <= 25
    for row in rows:
        module, functions, about = (cell.strip() for cell in row.strip("| ").split(" | "))
        text = (FIRMWARE / "tenner" / f"{module.strip('`')}.py").read_text()
        for name in functions.removesuffix(", …").split(", "):
            assert f"def {name.strip('`').rpartition('.')[2]}(" in text, (module, name)
        assert about, row


def test_the_page_has_todays_walks():
    assert walks.page() == walks.TARGET.read_text()
