"""A short run of each fuzzer; `make fuzz S=600` runs longer."""

import pytest

from tests.fuzz.run import check, corpus, fuzz
from tests.fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_what_was_found_before_stays_fixed(name):
    for data in corpus(name):
        check(TARGETS[name], data)


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_of_a_short_run_breaks_it(name):
    fuzz(name, 150)


def test_a_target_that_breaks_is_noticed(monkeypatch):
    def broken(data):
        assert b"\x1b" not in data

    monkeypatch.setitem(TARGETS, "scanner", type(TARGETS["scanner"])(broken, (b"a",)))
    with pytest.raises(AssertionError):
        fuzz("scanner", 2000)
