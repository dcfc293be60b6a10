"""Output and file names of a board are shown visibly, and written only where they belong."""

import json

import pytest
from click.testing import CliRunner

from tenner_host import output
from tenner_host.board.board import Entry
from tenner_host.board.serial_board import _entries
from tenner_host.cli import main as tenner
from tenner_host.errors import CommandError
from tenner_host.project import Project
from tenner_host.sync.workspace import Workspace

TRICKS = {
    "\x1b]52;c;cm0=\x07": "\\x1b]52;c;cm0=\\x07",
    "\x9b2J": "\\x9b2J",
    "a\x00b\x7f\r": "a\\x00b\\x7f\\x0d",
    "\u202egpj.exe": "\\u202egpj.exe",
    "a\u200b\ufeff\u00ad\u3164": "a\\u200b\\ufeff\\xad\\u3164",
    "\U000e0041": "\\ue0041",
}


@pytest.mark.parametrize(("text", "shown"), TRICKS.items())
def test_what_is_hidden_or_obeyed_is_shown(text, shown, capsys):
    assert output.visible(text) == shown
    output.echo("x" + text, fg="cyan")
    assert capsys.readouterr().out == "x" + shown + "\n"
    document = output.json_text({"a": text})
    assert json.loads(document) == {"a": text}
    assert output.visible(document) == document


def test_letters_of_every_language_stay():
    for text in ("", "plain", "Grüße, 東京 שלום", "\U0001f600 ❤️ \u20ac\u00a0…", "a\n\tb"):
        assert output.visible(text) == text


def test_an_error_is_shown_visibly(monkeypatch, tmp_path):
    def broken(*_):
        raise CommandError("the board says \x1b[2J\u202e")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tenner_host.console.commands.open_line", broken)
    done = CliRunner().invoke(tenner, ["status"])
    assert done.exit_code == 1
    assert "tenner: the board says \\x1b[2J\\u202e\n" in done.output


# The names of a board's files.


@pytest.fixture
def workspace(tmp_path):
    return Workspace(Project(tmp_path), "a")


@pytest.mark.parametrize(
    "name", ["a\0b", "\x1b[2J", "a\nb", "\u202eb", "../x", "a/../../x", "/etc/x", ""]
)
def test_a_name_that_is_none_is_refused_with_a_sentence(workspace, name):
    for act in (workspace._write, workspace.save):
        with pytest.raises(CommandError, match="cannot be stored here") as caught:
            act(name, b"x")
        assert output.visible(caught.value.message) == caught.value.message


@pytest.mark.parametrize(
    "line", ["12 abcd 'a", "12 abcd __import__('os')", "x y 'z'", "/ (", "12"]
)
def test_a_list_of_files_that_is_none_is_a_sentence(line):
    with pytest.raises(CommandError, match="list of files"):
        _entries(line)


def test_nothing_is_written_through_a_link(workspace, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    workspace.folder.mkdir()
    (workspace.folder / "photos").symlink_to(outside)
    (workspace.folder / "file").symlink_to(outside / "file")
    (workspace.folder / "later").symlink_to(outside / "none")

    class Board:
        def read_files(self, paths, progress=None):
            return dict.fromkeys(paths, b"theirs")

    for name in ("photos/file", "photos/new/x", "file", "later"):
        there = {"/workspace/" + path: Entry(6, "0" * 8) for path in ("a good one", name)}
        steps = [step for step in workspace.plan(there) if step.path in ("a good one", name)]
        with pytest.raises(CommandError, match="is a link"):
            workspace.settle(Board(), steps, ask=lambda *_: "board", push=False)
        # Not even the part before it.
        assert not (workspace.folder / "a good one").exists()
    assert sorted(path.name for path in outside.iterdir()) == ["file"]
    assert (outside / "file").read_text() == "mine"
