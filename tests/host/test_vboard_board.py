"""Boot, resets, power, clock and files of the virtual board, and that it leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tenner_host.interpreters import (
    Interpreter,
    InterpreterMissing,
    find_micropython,
    find_micropython32,
)
from tenner_sim import LIMIT_S
from tenner_sim.vboard import BoardError, VirtualBoard
from tenner_sim.vboard.console import OutputFilter, RawBanner, ReplMode
from tenner_sim.vboard.runtime import OVERLAY_HEAP, SHARED_NAMES, is_busy

ROOT = Path(__file__).resolve().parent.parent.parent

CAUSE = b"import machine\nprint('cause', machine.reset_cause())\n"


@pytest.fixture
def board():
    """A board whose main.py prints why it was reset."""
    with VirtualBoard({"/main.py": CAUSE}) as board:
        board.wait_for("cause 1")
        board.wait_for(">>> ")
        yield board


def gone(pid):
    """Wait until a process has ended; a zombie whose parent has not looked yet counts."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        try:
            status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if status == "Z":
            return True
        time.sleep(0.01)
    return False


def test_boot_prints_what_a_board_prints(board):
    lines = board.serial_log.splitlines()
    assert lines[0].startswith("ESP-ROM:esp32c3")
    assert lines[2] == "rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)"
    assert lines[3] == "cause 1"
    assert lines[4].startswith("MicroPython ")
    assert "\r\n" in (board.folder / "serial.log").read_bytes().decode()
    assert "\n\n" not in board.serial_log.replace("\r\n", "\n")


def test_the_heap_is_what_was_asked_for():
    with VirtualBoard({}, heap="128K") as board:
        board.wait_for(">>> ")
        free = board.status()["heap_free"]
    assert 112 * 1024 < free < 144 * 1024


def test_a_board_of_32_bits():
    """Its MicroPython has no raw REPL, so it is typed at."""
    try:
        interpreter = find_micropython32()
    except InterpreterMissing as exc:
        pytest.skip(str(exc))
    with VirtualBoard({"/main.py": CAUSE}, interpreter=interpreter, heap="112K") as board:
        board.wait_for("cause 1")
        board.wait_for(">>> ")
        # Less 9 KB for tables of names, which the firmware would have to have anyway.
        assert 96 * 1024 < board.status()["heap_free"] < 112 * 1024
        board.type("machine.I2C(0).readfrom_mem(0x48, 0, 2)\r")
        board.wait_for("b'\\x15\\x80'")
        # Typed before the prompt it would be lost: the terminal changes its mode there.
        board.wait_for(">>> ")
        board.type("\x04")
        board.wait_for("cause 5")


def test_soft_reset_runs_main_and_keeps_wifi(board):
    board.exec(
        "import network, time\n"
        "wlan = network.WLAN()\n"
        "wlan.active(True)\n"
        "wlan.connect('virtual', 'tenner-virtual')\n"
        "while not wlan.isconnected():\n"
        "    time.sleep_ms(5)\n"
    )
    board.type("\x04")
    board.wait_for("MPY: soft reboot")
    board.wait_for("cause 5")
    board.wait_for(">>> ")
    assert board.status()["wifi_connected"]
    board.type("machine.soft_reset()\r")
    board.wait_for("cause 5")
    board.type("import sys; sys.exit()\r")
    board.wait_for("cause 5")


def test_a_soft_reset_leaves_the_raw_repl(board):
    board.type("\x01")
    board.wait_for("raw REPL; CTRL-B to exit")
    board.soft_reset()
    board.wait_for("cause 5")
    board.wait_for(">>> ")


def test_reset_from_code_and_from_the_button(board):
    board.type("machine.reset()\r")
    board.wait_for("SW_SYS_RST")
    board.wait_for("cause 2")
    board.reset()
    board.wait_for("cause 1")
    assert not board.status()["wifi_connected"]


def test_deep_sleep_wakes_with_rtc_memory(board):
    board.type("machine.RTC().memory(b'kept'); machine.deepsleep(50)\r")
    board.wait_for("rst:0x5 (DSLEEP)")
    board.wait_for("cause 4")
    board.wait_for(">>> ")
    assert board.exec("import machine\nprint(machine.RTC().memory())") == "b'kept'\n"
    board.power_cycle()
    board.wait_for("cause 1")
    assert board.exec("import machine\nprint(machine.RTC().memory())") == "b''\n"


def test_passing_time_ends_a_long_sleep(board):
    board.type("machine.deepsleep(3600000)\r")
    board.wait_state("asleep")
    board.clock(advance_s=3600)
    board.wait_for("cause 4")


def test_the_watchdog_resets_the_board(board):
    board.type("wdt = machine.WDT(timeout=30)\r")
    board.wait_for("TG0WDT_SYS_RST")
    board.wait_for("cause 3")


def test_a_watchdog_that_is_fed_starts_over(board):
    board.exec("import machine\nwdt = machine.WDT(timeout=600000)")
    while (hungry := board.status()["watchdog_s"]) > 599.5:
        time.sleep(0.01)
    # Not in one look: a busy machine may take longer to look than it has waited.
    while board.status()["watchdog_s"] <= hungry:
        board.exec("wdt.feed()")
    assert board.status()["boots"] == 1


def test_clock_starts_in_2000_and_keeps_time_over_resets(board):
    shown = "import time\nprint(time.gmtime(0)[:3], time.gmtime()[:3])"
    assert board.exec(shown) == "(2000, 1, 1) (2000, 1, 1)\n"
    board.exec("import machine\nmachine.RTC().datetime((2026, 3, 1, 6, 12, 34, 56, 0))")
    shown = (
        "import time\nt = time.localtime()\n"
        "print(t[:5], t[6:], len(t), t == time.gmtime(time.mktime(t)))"
    )
    assert board.exec(shown) == "(2026, 3, 1, 12, 34) (6, 60) 8 True\n"
    board.type("\x04")
    board.wait_for("cause 5")
    board.type("machine.reset()\r")
    board.wait_for("cause 2")
    board.wait_for(">>> ")
    assert board.exec(shown) == "(2026, 3, 1, 12, 34) (6, 60) 8 True\n"
    board.power_cycle()
    board.wait_for("cause 1")
    assert board.exec("import time\nprint(time.gmtime()[0])") == "2000\n"


@pytest.mark.parametrize(
    "day", [(2000, 1, 1), (2000, 2, 29), (2024, 2, 29), (2026, 12, 31), (2027, 1, 1), (2032, 3, 1)]
)
def test_rtc_counts_days_by_the_calendar(board, day):
    text = f"import machine\nr = machine.RTC()\nr.datetime({(*day, 0, 23, 59, 50, 0)})\n"
    assert board.exec(text + "print(r.datetime()[:3])") == f"{day}\n"


def test_time_can_be_moved(board):
    before = board.clock()
    after = board.clock(advance_s=86400)
    assert after["time"] - before["time"] in (86400, 86401)
    assert board.exec("import time\nprint(time.gmtime()[:3])") == "(2000, 1, 2)\n"
    board.clock(drift_s=86400)
    assert board.exec("import time\nprint(time.gmtime()[:3])") == "(2000, 1, 3)\n"


def test_files_survive_a_power_cycle(board):
    board.exec("with open('/note', 'w') as file:\n    file.write('kept')")
    board.power_cycle()
    board.wait_for("cause 1")
    assert board.read_tree()["/note"] == b"kept"


def ends(board, text):
    """Wait until the board prints a text, or is without power; return whether it printed it."""
    while True:
        off = board.status()["state"] == "off"
        try:
            board.wait_for(text, timeout_s=0.01)
            return True
        except BoardError:
            if off:
                return False


@pytest.mark.parametrize("torn", [False, True])
def test_a_power_cut_never_damages_other_files(torn):
    """Old or new contents, at every write of a rename; the other file is never touched."""
    old, new, other = b"o" * 700, b"n" * 900, bytes(range(256)) * 12
    program = (
        b"import os\n"
        b"print('go')\n"
        b"with open('/f.tmp', 'wb') as file:\n    file.write(b'n' * 900)\n"
        b"os.rename('/f.tmp', '/f')\n"
        b"print('done')\n"
    )
    seen = set()
    with VirtualBoard({"/f": old, "/other": other}) as board:
        board.wait_for(">>> ")
        for cut in range(60):
            board.exec("with open('/f', 'wb') as file:\n    file.write(b'o' * 700)")
            board.power_cut(after_writes=cut, torn=torn)
            board.type("\x05" + program.decode().replace("\n", "\r") + "\x04")
            board.wait_for("\ngo\r\n")
            lost = not ends(board, "done\r\n")
            tree = board.read_tree()
            assert tree["/other"] == other
            assert tree["/f"] in (old, new)
            seen.add((lost, tree["/f"] == new))
            if not lost:
                break
            board.power_on()
            board.wait_for(">>> ")
    assert seen >= {(True, False), (False, True)}, "the cuts covered the whole write"


def test_flash_counters(board):
    before = board.flash_counters()
    board.exec("with open('/big', 'wb') as file:\n    file.write(bytes(8000))")
    cost = board.flash_counters().since(before)
    assert cost.erases >= 2
    assert cost.bytes >= 8000
    assert cost.operations == cost.erases + cost.programs


def test_an_application_that_prints_for_ever_is_interrupted():
    with VirtualBoard({"/main.py": b"while True:\n    print('x' * 100)\n"}) as board:
        board.wait_for("xxx")
        assert board.exec("print('free')") == "free\n"


@pytest.mark.parametrize(
    ("call", "busy"),
    [
        ("-1 0x7ffc 0x7f00\n", True),
        ("running\n", False),
        ("0 0x9 0x7ffc 0x80 0x0 0x0 0x0 0x7ffc 0x7f00\n", True),
        ("0 0x0 0x7ffc 0x80 0x0 0x0 0x0 0x7ffc 0x7f00\n", False),
    ],
    ids=["computes", "runs", "reads its flash", "reads its terminal"],
)
def test_ctrl_c_waits_for_the_flash(tmp_path, call, busy):
    """Else littlefs takes unread bytes for the content, and misses a file."""
    (tmp_path / "syscall").write_text(call)
    assert is_busy(tmp_path, {8, 9}) is busy


def test_overlay_frames_do_not_show(board):
    with pytest.raises(BoardError) as caught:
        board.exec("import machine\nmachine.I2C(0).readfrom(0x10, 1)")
    assert str(caught.value) == (
        "Traceback (most recent call last):\n"
        '  File "<stdin>", line 2, in <module>\n'
        "OSError: [Errno 19] ENODEV\n"
    )


def test_an_interrupted_transaction_does_not_confuse_the_next(board):
    board.exec("with open('/main.py', 'w') as file:\n    file.write('''" + _BUSY + "''')")
    board.reset()
    for _ in range(30):
        board.wait_for("busy")
        board.type("\x03")
        board.wait_for(">>> ")
        board.type("bus.readfrom_mem(0x48, 0, 2), bus.readfrom_mem(0x48, 3, 2)\r")
        board.wait_for("(b'\\x15\\x80', b'P\\x00')")
        board.type("\x04")


_BUSY = """
import machine
bus = machine.I2C(0)
print("busy")
while True:
    bus.readfrom_mem(0x48, 0, 2)
    bus.scan()
"""


def test_a_crashing_boot_file_leads_to_the_prompt():
    with VirtualBoard({"/boot.py": b"1 / 0\n", "/main.py": CAUSE}) as board:
        board.wait_for("ZeroDivisionError")
        board.wait_for("cause 1")
        assert 'File "boot.py", line 1' in board.serial_log
        assert "_boot" not in board.serial_log


def test_raw_tcp_is_a_serial_line_too():
    import serial

    with (
        VirtualBoard({"/main.py": CAUSE}, tcp_port=0) as board,
        serial.serial_for_url(f"socket://127.0.0.1:{board.tcp_port}", timeout=LIMIT_S) as line,
    ):
        board.wait_for(">>> ")
        line.write(b"print(6 * 7)\r\n")
        assert b"42\r\n" in line.read_until(b"42\r\n")


def test_the_last_words_of_a_client_that_has_gone_are_read(board):
    for number in range(20):
        client = os.open(board.pty, os.O_RDWR | os.O_NOCTTY)
        os.write(client, b"print(%d * 1000)\r" % (number + 2))
        os.close(client)
        board.wait_for(f"\n{number + 2}000\r\n")


def test_wrong_requests_are_refused_with_a_sentence(board):
    with pytest.raises(BoardError, match="did you mean room.temperature"):
        board.set("room.temprature", 1)
    with pytest.raises(BoardError, match="not a finite number"):
        board.set("room.temperature", float("nan"))
    with pytest.raises(BoardError, match="available: tmp102, sht31, eeprom, oven"):
        board.fault("bmp280", "absent")
    with pytest.raises(BoardError, match="it has: absent, nack, stuck"):
        board.fault("tmp102", "on fire")
    with pytest.raises(BoardError, match="'nonsense' did not appear"):
        board.wait_for("nonsense", timeout_s=0.01)


def test_a_board_that_is_off_says_so(board):
    board.power_off()
    assert board.status()["state"] == "off"
    with pytest.raises(BoardError, match="no power"):
        board.reset()


@pytest.mark.parametrize("total_kb", [0, 1, 2, 3, 4, 6, 10, 20])
def test_an_interpreter_whose_heap_is_too_small_is_reported(total_kb):
    """The interpreter has memory for nothing, for an error, or for some of the chip's modules: in
    each case it ends, and its own prompt, which is on the host's files, does not come."""
    # These modules are 30 KB of code in any build.
    heap = total_kb * 1024 - OVERLAY_HEAP[64]
    with VirtualBoard({}, heap=heap) as board:
        board.wait_for("micropython did not start (")
        assert board.status()["state"] == "failed"
        assert ">>>" not in board.serial_log


@pytest.mark.parametrize("find", [find_micropython, find_micropython32])
def test_the_heap_of_the_emulation_is_what_it_takes(find):
    try:
        interpreter = find()
    except InterpreterMissing as exc:
        pytest.skip(str(exc))
    say = "import gc; gc.collect(); print('taken', gc.mem_alloc())"
    bare = subprocess.run(interpreter.command("-c", say), capture_output=True, check=True)
    with VirtualBoard({"/main.py": say.encode()}, interpreter=interpreter) as board:
        board.wait_for("taken")
        board.wait_for(">>> ")
        taken = _taken(board.serial_log) - _taken(bare.stdout.decode())
    assert abs(taken - SHARED_NAMES[interpreter.bits]) < 1024, taken


def _taken(text):
    return int(re.search(r"taken (\d+)", text)[1])


def test_an_interpreter_that_cannot_start_is_reported():
    broken = Interpreter("broken", (sys.executable, "-c", "import no_such_module"), (1, 25, 0), 64)
    with VirtualBoard({}, interpreter=broken) as board:
        board.wait_for("No module named 'no_such_module'")
        board.wait_for("micropython did not start (exit status 1)")
        board.reset()
        board.wait_for("did not start")
        assert board.status()["boots"] == 2


def test_nothing_is_left_after_stop():
    with VirtualBoard({}) as board:
        board.wait_for(">>> ")
        pids = [board.status()["pid"], board.status()["child"]]
        folder = board.folder
    assert all(gone(pid) for pid in pids)
    assert not folder.exists()


@pytest.mark.parametrize("hangup", [signal.SIG_DFL, signal.SIG_IGN])
def test_nothing_is_left_when_the_supervisor_is_killed(hangup):
    """Also where the parent ignores the hang-up, as `nohup` does: a child inherits that."""
    before = signal.signal(signal.SIGHUP, hangup)
    try:
        board = VirtualBoard({"/main.py": b"while True: pass\n"}).start()
    finally:
        signal.signal(signal.SIGHUP, before)
    board.wait_state("running")
    status = board.status()
    os.kill(status["pid"], signal.SIGKILL)
    assert gone(status["child"])
    with pytest.raises(BoardError):
        board.status()
    board.stop()


def test_nothing_is_left_when_the_owner_is_killed():
    code = (
        "from tenner_sim.vboard import VirtualBoard\n"
        "board = VirtualBoard({}).start()\n"
        "board.wait_for('>>> ')\n"
        "print(board.status()['pid'], board.status()['child'], board.folder, flush=True)\n"
        "import time\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        *pids, folder = owner.stdout.readline().split()
        owner.kill()
    assert len(pids) == 2
    assert all(gone(int(pid)) for pid in pids)
    assert not Path(folder).exists()


# The filter between the interpreter and the line.

MIXED = (
    b'one\ntwo\r\n  File "main.py", line 1, in f\n  File "vboard/machine.py", line 9, in g\n'
    b'OSError: 19\n\x1b[31mred\x1b[0m\n\x1b]vb-\x07bin\n\r\n  File "vboard/x"\n\x1b]vb\x1b]vb+\x07'
    b"text\n  \n"
)
MIXED_OUT = (
    b'one\r\ntwo\r\n  File "main.py", line 1, in f\r\nOSError: 19\r\n\x1b[31mred\x1b[0m\r\n'
    b'bin\n\r\n  File "vboard/x"\n\x1b]vbtext\r\n  \r\n'
)


def test_output_filter_whole_and_split_at_every_byte():
    assert OutputFilter().feed(MIXED) == MIXED_OUT
    for cut in range(len(MIXED)):
        line = OutputFilter()
        assert line.feed(MIXED[:cut]) + line.feed(MIXED[cut:]) == MIXED_OUT, cut
    line = OutputFilter()
    assert b"".join(line.feed(bytes([byte])) for byte in MIXED) == MIXED_OUT


def test_output_that_is_held_back_is_given_out_in_the_end():
    line = OutputFilter()
    assert line.feed(b"a\n  ") == b"a\r\n"
    assert line.holding
    assert line.flush() == b"  "
    assert line.feed(b"b\n") == b"b\r\n"


def test_repl_mode_is_followed_over_cuts():
    text = b"\r\nraw REPL; CTRL-B to exit\r\n>OK\x04"
    for cut in range(len(text)):
        mode = ReplMode()
        mode.feed(text[:cut])
        mode.feed(text[cut:])
        assert mode.raw, cut
        mode.feed(b'Type "help()" for more information.\r\n>>> ')
        assert not mode.raw


def test_the_friendly_banner_is_dropped_in_raw_mode():
    text = (
        b'boot says\r\nMicroPython v1\r\nType "help()" for more information.\r\n>>> \r\n'
        b"raw REPL; CTRL-B to exit\r\n>"
    )
    for cut in range(len(text)):
        banner = RawBanner()
        out = banner.feed(text[:cut])
        out += text[cut:] if banner.done else banner.feed(text[cut:])
        assert out == b"boot says\r\nraw REPL; CTRL-B to exit\r\n>", cut
