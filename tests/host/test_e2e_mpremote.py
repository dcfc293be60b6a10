"""mpremote, unmodified, on a board while the agent runs; and the way back to the agent."""

import pytest

from tenner_sim.services import OWNER, STALL
from tests.host.e2e import agent_board


@pytest.fixture(scope="module")
def one_board():
    with agent_board(files={"/workspace/SOUL.md": "Be kind.\n"}) as made:
        yield made.ready()


@pytest.fixture
def bench(one_board):
    """The board with its agent running."""
    yield one_board
    one_board.board.soft_reset()
    one_board.ready()


def test_fs_ls_and_cat_interrupt_the_agent(bench):
    listing = bench.board.mpremote("fs", "ls", ":/workspace")
    assert "SOUL.md" in listing and "HEARTBEAT.md" in listing
    assert "Be kind." in bench.board.mpremote("fs", "cat", ":/workspace/SOUL.md")


def test_fs_cp_in_and_out_and_the_agent_uses_the_file(bench, tmp_path):
    (tmp_path / "USER.md").write_text("The owner likes short answers.\n")
    bench.board.mpremote("fs", "cp", str(tmp_path / "USER.md"), ":/workspace/USER.md")
    bench.board.mpremote("fs", "cp", ":/workspace/USER.md", str(tmp_path / "out.md"))
    assert (tmp_path / "out.md").read_bytes() == (tmp_path / "USER.md").read_bytes()
    bench.board.soft_reset()
    bench.ready()
    bench.fresh()
    bench.echo("hello")
    assert "The owner likes short answers." in bench.model.requests[0].body.decode()


def test_exec_and_mount(bench, tmp_path):
    output = bench.board.mpremote("exec", "import tenner; print('version', tenner.__version__)")
    assert "version " in output
    (tmp_path / "hostfile.py").write_text("print('run from the host,', 6 * 7)\n")
    output = bench.board.mpremote("mount", str(tmp_path), "exec", "import hostfile")
    assert "run from the host, 42" in output


def test_soft_reset_then_reset(bench):
    bench.board.mpremote("exec", "x = 5")
    bench.board.mpremote("soft-reset")
    # As on a chip: a soft reset from the raw REPL does not run main.py, but clears the names.
    assert "NameError" in bench.board.mpremote("resume", "exec", "print(x)", check=False)
    bench.board.mpremote("reset")
    bench.wait_for("(HARD start)")
    bench.ready()
    bench.echo("back again")


def test_ctrl_c_reaches_the_repl_and_ctrl_d_starts_the_agent(bench):
    bench.echo("before")
    bench.board.type("\x03")
    bench.wait_for("agent stopped; Ctrl-D starts it again")
    bench.wait_for(">>> ")
    bench.board.type("print(6 * 7, 'from the REPL')\r")
    bench.wait_for("42 from the REPL")
    bench.board.type("\x04")
    bench.wait_for("MPY: soft reboot")
    bench.ready()
    bench.echo("after")


def test_ctrl_c_in_the_middle_of_a_turn(bench):
    bench.fresh()
    bench.model.plan([STALL])
    bench.telegram.say(OWNER, "say: never")
    bench.model.wait_requests(1)
    bench.board.type("\x03")
    bench.wait_for("agent stopped")
    bench.wait_for(">>> ")
    bench.board.type("\x04")
    bench.ready()
    bench.wait_told("I was restarted while working on this")
    bench.echo("and on")
