"""The check of terms finds a retired word in names, texts, docs and file names, and leaves its
neighbors alone."""

import pytest

from scripts import check_terms, lint


def terms(tmp_path, text, name="module.py"):
    path = tmp_path / name
    path.write_text(text)
    return [(finding.line, finding.term) for finding in check_terms.findings([path])]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def open_gate(): pass\n", [(1, "gate")]),
        ("x = 1\nclass Cage: pass\n", [(2, "Cage")]),
        ("self._keeper = 1\n", [(1, "keeper")]),
        ("log('the file was put aside')\n", [(1, "put aside")]),
        ("# It starts anew.\n", [(1, "anew")]),
        ("put_back = PutBack()\n", [(1, "put_back"), (1, "PutBack")]),
        ("aggregate, delegate, propagated, investigate = 1, 2, 3, 4\n", []),
        ("bookkeeper = package = 1\n", []),
        ("import test_store_jsontext\n", [(1, "jsontext")]),
        ("from tenner_host.talk import run\n", [(1, "tenner_host.talk")]),
        ("class TroubleFound(PtyOutlet): pass\n", [(1, "TroubleFound"), (1, "PtyOutlet")]),
    ],
)
def test_names_comments_and_logs_are_checked(tmp_path, text, found):
    assert terms(tmp_path, text) == found


def test_prose_keeps_words_that_only_code_lost(tmp_path):
    assert terms(tmp_path, "A keeper was put back.\n", "page.md") == []
    assert terms(tmp_path, "The gate is shut.\n", "page.md") == [(1, "gate")]


def test_a_file_name_is_checked(tmp_path):
    assert terms(tmp_path, "", "open_gate.py") == [(0, "gate")]


def test_a_finding_names_the_term_to_use(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("upkeep = 1\n")
    (sentence,) = check_terms.problems([path])
    assert sentence.endswith("module.py:1: `upkeep` is retired: accounting or maintenance")


def test_the_project_has_none():
    assert check_terms.problems(lint.tracked_files()) == []
