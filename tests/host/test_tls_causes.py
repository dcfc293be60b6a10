"""The tables of TLS failures and of shortages: their tests exist, and their sentences are true."""

import ast
import re
from pathlib import Path

import pytest

import tls_causes

TESTS = Path(__file__).resolve().parents[1]
EVERY = [(row[0], row[-1]) for row in (*tls_causes.FAULTS, *tls_causes.SHORTAGES)]
_MEMORY = re.compile(r"memory|\bKB\b")


@pytest.mark.parametrize(("cause", "test"), EVERY)
def test_the_test_of_each_cause_exists(cause, test):
    file, _, name = test.partition("::")
    tree = ast.parse((TESTS / file).read_text())
    found = [one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    assert name in found, f"{cause}: {test}"


@pytest.mark.parametrize(("cause", "error", "test"), tls_causes.FAULTS)
def test_each_fault_has_a_sentence_without_a_wrong_remedy(cause, error, test):
    said = tls_causes.explained(error)
    assert said != "None" and "\n" not in said, cause
    assert "try again later" not in said
    # A file in /certs helps against an unknown root alone.
    assert ("/certs" in said) is (error is tls_causes.UNKNOWN)
    assert not _MEMORY.search(said)


def test_each_place_has_its_sentence():
    for cause, place, sentence, _ in tls_causes.SHORTAGES:
        said = sentence()
        assert _MEMORY.search(said), (cause, place, said)
        assert "/certs" not in said, said
        assert "\n" not in said


def test_a_shortage_of_a_model_is_no_fault_of_its_address():
    said = tls_causes.model(OSError(12))
    assert "too little memory" in said and "base_url" not in said, said
    assert tls_causes.telegram(OSError(12)) == tls_causes.explained(OSError(12))
