"""Ctrl-C at the writes to a board, in `tenner sync` and `tenner setup`: one sentence, exit status
130, and a board that starts all old or all new; the same command again finishes.

TENNER_INTERRUPTS=1 tries every write, in place of one in each of some equal parts."""

import json
import os

import pytest
from click.testing import CliRunner

from tenner_host.board.transport import Transport
from tenner_host.cli import main as tenner
from tenner_host.sync import code as codes
from tenner_sim.vboard import VirtualBoard
from tests.host.test_sync import agent

PARTS = 3
POINTS = 14
SETTINGS = "/config.json"


class Strike:
    """Raise KeyboardInterrupt at the n-th write to the port, with half of its bytes sent."""

    def __init__(self, patched, at=0):
        self.at, self.count = at, 0
        self._write = Transport.write
        strike = self

        def write(transport, data):
            strike.count += 1
            if strike.count == strike.at:
                strike._write(transport, data[: len(data) // 2])
                raise KeyboardInterrupt
            strike._write(transport, data)

        patched.setattr(Transport, "write", write)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENNER_SIM_DIR", str(tmp_path / "sim"))
    for name in ("HOME", "TENNER_CONFIG"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    return tmp_path


def called(*arguments, at=0):
    """Run a command; return its result and the number of its writes."""
    with pytest.MonkeyPatch.context() as patched:
        strike = Strike(patched, at)
        done = CliRunner().invoke(tenner, arguments)
    return done, strike.count


def points(total):
    """The writes to interrupt."""
    if os.environ.get("TENNER_INTERRUPTS"):
        return range(1, total + 1)
    # The last ones are of the restart.
    some = [1 + number * total // POINTS for number in range(POINTS)]
    return sorted({*some, total - 2, total - 1, total})


def check(done, at):
    """It has ended in one sentence, in the sense of a shell."""
    assert done.exit_code == 130, (at, done.output, done.exception)
    assert isinstance(done.exception, SystemExit), (at, done.exception)
    said = [line for line in done.stderr.splitlines() if line.startswith("tenner: ")]
    assert said == ["tenner: stopped"] and "Traceback" not in done.output, (at, done.output)


def test_sync(home, monkeypatch):
    trees = [agent(version, PARTS) for version in (1, 2)]
    wanted = trees[1]
    monkeypatch.setattr(codes, "code_tree", lambda *_, **__: dict(wanted))
    with VirtualBoard(trees[0]) as board:
        arguments = ["sync", "--port", board.pty]
        done, total = called(*arguments)
        assert done.exit_code == 0, done.output
        for number, at in enumerate(points(total)):
            wanted = trees[number % 2]
            before = len(board.serial_log)
            done, count = called(*arguments, at=at)
            if count < at:
                # A sync of this version writes less.
                assert done.exit_code == 0, done.output
                continue
            check(done, at)
            there = board.read_tree()
            kept = {path for path in there if path.endswith((".new", ".tmp"))}
            assert not kept, (at, kept)
            code = {path: there[path] for path in there if path in trees[0] | trees[1]}
            assert code in trees, (at, sorted(code))
            assert "MIX" not in board.serial_log[before:], at
            board.reset()
            board.wait_for("boot      tenner ")
            done, _ = called(*arguments)
            assert done.exit_code == 0 and "running" in done.output, (at, done.output)
            there = board.read_tree()
            assert {path: there[path] for path in there if path in wanted} == wanted, at


def test_setup(home):
    with VirtualBoard(agent(1, PARTS) | {SETTINGS: b'{"name": "old"}'}) as board:

        def setup(name, at=0):
            words = ["setup", "--port", board.pty, "--no-test", "--set", f"name={name}"]
            return called(*words, "--set", "llm.base_url=http://127.0.0.1:9/v1", at=at)

        done, total = setup("first")
        assert done.exit_code == 0, done.output
        present = "first"
        for number, at in enumerate(points(total)):
            name = f"name {number}"
            done, count = setup(name, at)
            if count < at:
                assert done.exit_code == 0, done.output
                present = name
                continue
            check(done, at)
            there = board.read_tree()
            assert json.loads(there[SETTINGS])["name"] in (present, name), at
            assert not [path for path in there if path.endswith((".new", ".tmp"))], at
            board.reset()
            board.wait_for("boot      tenner ")
            done, _ = setup(name)
            assert done.exit_code == 0, (at, done.output)
            assert json.loads(board.read_tree()[SETTINGS])["name"] == name
            present = name
