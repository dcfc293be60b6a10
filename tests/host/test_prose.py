"""The check of prose finds a planted clause, chain of passives and long sentence, and leaves plain
sentences alone."""

import pytest

from scripts import check_prose

LONG = "The board reads the sensor and " + "then it waits and " * 9 + "sends it."


def kinds(tmp_path, text, name="page.md"):
    path = tmp_path / name
    path.write_text(text)
    return [finding.kind for finding in check_prose.findings(path)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The board keeps what is read.", ["clause"]),
        ("Whoever asks first is served.", ["clause"]),
        ("Who asks twice waits. People who ask wait.", ["clause"]),
        ("It is read, is kept and was sent.", ["passive"]),
        (LONG, ["long"]),
        ("| first | second keeps what it has |", ["clause"]),
        ("What does it cost?", []),
        ("The error says what to do.", []),
        ("The setting `what` is new. It is read and kept.", []),
        ("```\nwhat is here is code\n```\nA board answers.", []),
        ("See [what is new](new.md).", ["clause"]),
    ],
)
def test_pages_are_checked(tmp_path, text, found):
    assert kinds(tmp_path, text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"""What a turn costs."""\n', ["clause"]),
        ("# It keeps what it\n# is given.\nx = 1\n", ["clause"]),
        ("x = 'the board keeps what it has'\n", ["clause"]),
        ("x = f'the board keeps {1} and what it has'\n", ["clause"]),
        ("what = 'what'\n", []),
        ("# " + "word " * 31 + "\n", ["long"]),
        ("# " + "name,other a=b " * 16 + "\n", []),
        ("x = 1  # noqa: what that is\n", []),
    ],
)
def test_modules_are_checked(tmp_path, text, found):
    assert kinds(tmp_path, text, "module.py") == found


def test_an_area_over_its_budget_fails(monkeypatch):
    area, pattern, allowed = check_prose.AREAS[-1]
    assert check_prose.over_budget() == []
    found = sum(len(list(check_prose.findings(path))) for path in check_prose.ROOT.glob(pattern))
    assert found <= allowed
    monkeypatch.setattr(check_prose, "AREAS", [(area, pattern, found - 1)])
    assert "README: " in check_prose.over_budget()[0]
