"""The unmodified mpremote on the virtual board. Every call is under a limit: it may wait for
ever."""

import os

import pytest

from tenner_sim.vboard import BoardError, VirtualBoard

AGENT = b"""
import asyncio

async def agent():
    print("agent runs")
    while True:
        await asyncio.sleep_ms(5)

asyncio.run(agent())
"""


@pytest.fixture(scope="module")
def board():
    """One board for the commands that do not depend on earlier ones."""
    with VirtualBoard({"/workspace/SOUL.md": b"be kind\n"}) as board:
        yield board


def test_ls_and_cat(board):
    assert "SOUL.md" in board.mpremote("fs", "ls", ":/workspace")
    assert "be kind" in board.mpremote("fs", "cat", ":/workspace/SOUL.md")


def test_cp_in_and_out(board, tmp_path):
    data = os.urandom(20000)
    (tmp_path / "in.bin").write_bytes(data)
    board.mpremote("fs", "cp", str(tmp_path / "in.bin"), ":/workspace/data.bin")
    board.mpremote("fs", "cp", ":/workspace/data.bin", str(tmp_path / "out.bin"))
    assert (tmp_path / "out.bin").read_bytes() == data
    assert board.read_tree()["/workspace/data.bin"] == data


def test_cp_r_mkdir_rm(board, tmp_path):
    (tmp_path / "pkg" / "sub").mkdir(parents=True)
    (tmp_path / "pkg" / "__init__.py").write_text("VALUE = 42\n")
    (tmp_path / "pkg" / "sub" / "mod.py").write_text("VALUE = 43\n")
    board.mpremote("fs", "cp", "-r", str(tmp_path / "pkg"), ":/")
    code = "import pkg, pkg.sub.mod; print(pkg.VALUE, pkg.sub.mod.VALUE)"
    assert "42 43" in board.mpremote("exec", code)
    board.mpremote("fs", "mkdir", ":/made")
    board.mpremote("fs", "rm", ":/pkg/__init__.py")
    tree = board.read_tree()
    assert "/pkg/__init__.py" not in tree
    assert "/pkg/sub/mod.py" in tree


def test_exec_eval_run_resume(board, tmp_path):
    assert "3\r\n" in board.mpremote("exec", "print(1 + 2)")
    assert "3\r\n" in board.mpremote("eval", "1 + 2")
    (tmp_path / "script.py").write_text("print('from a script')\n")
    assert "from a script" in board.mpremote("run", str(tmp_path / "script.py"))
    board.mpremote("exec", "x = 5")
    assert "5" in board.mpremote("resume", "exec", "print(x)")
    assert "NameError" in board.mpremote("exec", "print(x)", check=False), "exec resets softly"


def test_an_exception_is_reported(board):
    output = board.mpremote("exec", "import machine; machine.I2C(0).writeto(9, b'')", check=False)
    assert "OSError: [Errno 19] ENODEV" in output
    assert "vboard" not in output


def test_mount_reads_writes_and_imports(board, tmp_path):
    everything = bytes(range(256)) * 8
    (tmp_path / "in.bin").write_bytes(everything)
    (tmp_path / "hostmod.py").write_text("print('imported from the host')\n")
    code = (
        "import hostmod\n"
        "with open('/remote/in.bin', 'rb') as file:\n"
        "    data = file.read()\n"
        "with open('/remote/out.bin', 'wb') as file:\n"
        "    file.write(data)\n"
        "print(len(data))\n"
    )
    output = board.mpremote("mount", str(tmp_path), "exec", code)
    assert "imported from the host" in output
    assert "2048" in output
    assert (tmp_path / "out.bin").read_bytes() == everything
    assert "3" in board.mpremote("eval", "1 + 2"), "the line is text again"


def test_soft_reset_and_reset(board):
    board.mpremote("soft-reset")
    board.mpremote("reset")
    board.wait_for("RTC_SW_SYS_RST")
    board.wait_state("running")
    assert "0" in board.mpremote("exec", "import network; print(network.WLAN().active() + 0)")


def test_df_and_rtc(board):
    assert "2097152" in board.mpremote("df")
    board.mpremote("rtc", "--set")
    assert "(2000" not in board.mpremote("rtc")


def test_no_stale_output_reaches_the_next_client(board):
    board.type("print('stale' * 2000)\r")
    board.wait_for("stalestale")
    assert "stale" not in board.mpremote("resume", "exec", "print('fresh')")


@pytest.mark.parametrize(
    ("main", "sign"),
    [(AGENT, "agent runs\r\n"), (b"print('spins')\nwhile True:\n    pass\n", "spins\r\n")],
    ids=["asyncio", "busy loop"],
)
def test_ctrl_c_stops_a_running_program(main, sign):
    with VirtualBoard({"/main.py": main}) as board:
        board.wait_for(sign)
        board.type("\x03")
        board.wait_for("KeyboardInterrupt")
        board.wait_for(">>> ")
        board.reset()
        board.wait_for(sign)
        assert "7" in board.mpremote("exec", "print(3 + 4)")
        assert "main.py" in board.mpremote("fs", "ls", ":/")


def test_a_hanging_mpremote_is_ended(board):
    with pytest.raises(BoardError, match="hangs"):
        board.mpremote("exec", "while True: pass", timeout_s=1)
    assert board.exec("print('alive')") == "alive\n"
