"""A short run of each fuzzer; `make fuzz S=600` runs longer."""

import pytest

from tests.fuzz.parsers import PARSERS
from tests.fuzz.run import Elsewhere, check, corpus, fuzz
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


@pytest.fixture(scope="module")
def elsewhere(micropython32):
    there = Elsewhere(micropython32)
    yield there
    there.close()


@pytest.mark.parametrize("name", PARSERS)
def test_no_input_breaks_it_on_micropython(elsewhere, name):
    for data in corpus(name):
        check(elsewhere.target(name), data)
    fuzz(name, 60, 0, elsewhere.target(name))


def test_a_parser_that_breaks_on_micropython_is_noticed(micropython32, monkeypatch):
    monkeypatch.setitem(TARGETS, "unknown", TARGETS["url"])
    there = Elsewhere(micropython32)
    with pytest.raises(AssertionError, match="it ended"):
        fuzz("unknown", 2, 0, there.target("unknown"))
    there.close()
