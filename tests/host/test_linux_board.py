"""A Linux board's files through the scripts of its ssh connection, which a local shell runs."""

import pytest

from tenner_host.board.linux_board import LinuxBoard, Probe
from tenner_host.board.ports import Port
from tenner_host.errors import Conflict

#: Runs the command, the last of its words, here.
_SSH = '#!/bin/sh\nfor word; do [ "$word" != exit ] || exit 0; done\nexec sh -c "$word"\n'
NOTE = "/workspace/NOTE.md"


@pytest.fixture
def board(tmp_path, monkeypatch):
    ssh = tmp_path / "ssh"
    ssh.write_text(_SSH)
    ssh.chmod(0o755)
    monkeypatch.setenv("TENNER_SSH", str(ssh))
    (tmp_path / "data" / "workspace").mkdir(parents=True)
    made = LinuxBoard(Port("ssh://board"))
    made._probe = Probe({"data": str(tmp_path / "data"), "etc": str(tmp_path / "etc")})
    yield made
    made.close()


def test_a_removed_file_is_written_again(board):
    board.write_files({NOTE: b"one"})
    assert board.remove([NOTE, "/boot.py"]) == []
    assert board.read_files([NOTE]) == {}
    board.write_files({NOTE: b"two"})
    assert board.read_files([NOTE]) == {NOTE: b"two"}


def test_a_file_that_was_not_removed_is_still_known(board, tmp_path):
    board.write_files({NOTE: b"one"})
    note = tmp_path / "data" / "workspace" / "NOTE.md"
    note.unlink()
    note.mkdir()
    assert board.remove([NOTE]) == [NOTE]
    note.rmdir()
    with pytest.raises(Conflict, match="the agent has just changed /workspace/NOTE.md"):
        board.write_files({NOTE: b"two"})
