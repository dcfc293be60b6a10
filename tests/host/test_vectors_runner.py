"""The table runner as a person starts it: its output and its exit status."""

import json
import subprocess
import sys

import pytest

from tenner_host import ROOT

RUNNER = ROOT / "tests" / "vectors.py"
GOOD = {"reply": "HEARTBEAT_OK", "deliver": None}
BAD = {"reply": "HEARTBEAT_OK", "deliver": "no"}


@pytest.fixture(params=["cpython", "micropython", "micropython32"])
def runner(request, tmp_path):
    """Runs tables on one interpreter from a folder that is not the checkout's."""
    if request.param == "cpython":
        command = [sys.executable]
    else:
        command = request.getfixturevalue(request.param).command()

    def run(*texts):
        paths = []
        for number, text in enumerate(texts):
            path = tmp_path / f"table{number}.json"
            path.write_text(text if isinstance(text, str) else json.dumps(text))
            paths.append(path.name)
        done = subprocess.run(
            [*command, str(RUNNER), *paths],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr
        return done.returncode, done.stdout.splitlines()

    return run


def table(*cases, kind="heartbeat_ack"):
    return {"kind": kind, "cases": list(cases)}


def test_a_table_that_passes(runner):
    assert runner(table(GOOD, GOOD)) == (0, ["2 passed, 0 failed"])


def test_a_failing_case_says_what_was_expected_and_what_came(runner):
    status, lines = runner(table(GOOD, BAD), table(GOOD))
    assert status != 0
    assert lines[-1] == "2 passed, 1 failed"
    assert "case 2" in lines[0]
    assert "'no'" in lines[0]
    assert "None" in lines[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"kind": "heartbeat_ack", "cases": [', "is not a JSON table"),
        ('{"kind": "nonsense", "cases": [{}]}', 'unknown kind "nonsense"'),
        ('{"kind": "heartbeat_ack", "cases": []}', "has no cases"),
        ('{"kind": "heartbeat_ack",\n"cases": [{},\n{"reply" 1}]}', "line 3: expected"),
        ('{"kind": "heartbeat_ack", "cases": [{} {}]}', "line 1: expected"),
        ('{"kind": "heartbeat_ack", "see": [{}], "cases": [{}]}', "only cases"),
        ("[1, 2]", "unknown kind"),
        ('{"kind": "heartbeat_ack", "cases": [{"reply": "x"}]}', "expects nothing"),
    ],
)
def test_a_file_that_cannot_be_run_is_a_failure(runner, text, sentence):
    status, lines = runner(text)
    assert status != 0
    assert sentence in lines[0]
    assert lines[-1] == "0 passed, 1 failed"


def test_a_table_larger_than_a_boards_heap_is_read_case_by_case(tmp_path, micropython32):
    texts = [f"Hot {number}" + ' a "b" {c} [\\' * 40 for number in range(900)]
    cases = [{"reply": text, "deliver": text} for text in texts]
    path = tmp_path / "large.json"
    path.write_text(json.dumps(table(*cases)))
    assert path.stat().st_size > 500_000
    command = micropython32.command(RUNNER, path, heap="140K")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["900 passed, 0 failed"]


def test_emoji_in_escaped_form_are_one_character(runner):
    alert = {"reply": "Hot \ud83d\ude00", "deliver": "Hot \ud83d\ude00"}
    assert runner(json.dumps(table(alert), ensure_ascii=True)) == (0, ["1 passed, 0 failed"])


def test_an_absent_file_is_a_failure(runner, tmp_path):
    done = subprocess.run(
        [sys.executable, str(RUNNER), str(tmp_path / "absent.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "cannot be read" in done.stdout
