"""`make test CHANGED=1`: the tests that a change touches, by imports and names."""

import pytest

from scripts import changed_tests
from scripts.changed_tests import module_of, touched

TESTS = {
    "tests/test_store_zone.py": "from tenner.store.zone import rule\n",
    "tests/test_clock.py": "from tenner import clock\n",
    "tests/test_other.py": "from tenner import other\nROWS = 'rows.tsv'\n",
}
USERS = {"tenner.store.deep": {"tenner.store.zone"}, "tenner.store.zone": {"tenner.clock"}}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("firmware/tenner/store/zone.py", ["tests/test_store_zone.py"]),
        # No test knows it: those of the module that imports it.
        ("firmware/tenner/store/deep.py", ["tests/test_store_zone.py"]),
        ("firmware/tenner/clock.py", ["tests/test_clock.py"]),
        ("firmware/tenner/store/rows.tsv", ["tests/test_other.py"]),
        ("tests/test_clock.py", ["tests/test_clock.py"]),
        ("firmware/tenner/alone.py", []),
    ],
)
def test_the_nearest_tests(path, expected):
    assert touched([path], TESTS, USERS) == expected


def test_names_of_modules():
    assert module_of("firmware/tenner/net/__init__.py") == "tenner.net"
    assert module_of("host_tools/tenner_host/cli.py") == "tenner_host.cli"
    assert module_of("tests/update_fakes.py") == "tests.update_fakes"
    assert module_of("docs/llm.md") == ""


def test_imports_of_the_house_are_known():
    users = changed_tests.importers()
    assert "tenner_host.doctor.outside" in users["tenner.log"]
    assert "tenner.app" in users["tenner.log"]
