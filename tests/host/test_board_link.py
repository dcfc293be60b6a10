"""The link to a board that is busy, silent, shared, taken or gone."""

import errno
import json
import os
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tenner_host import BOARDS, prompts
from tenner_host.board import port_errors, ports, transfer
from tenner_host.board.opening import open_board
from tenner_host.board.serialport import new_port
from tenner_host.board.transfer import short_hash
from tenner_host.board.transport import Transport
from tenner_host.errors import BoardGone, BoardRefused, BoardSilent, PortError
from tenner_host.project import Project
from tenner_sim.vboard import VirtualBoard

AGENT = b"""
import asyncio

async def agent():
    print("agent runs")
    while True:
        await asyncio.sleep_ms(5)

asyncio.run(agent())
"""
# Programs that must not keep us out: one never returns, one clears up slowly, one blocks.
BUSY = {
    "asyncio": AGENT,
    "loop": b"print('agent runs')\nwhile True:\n    pass\n",
    "catches": b"""
import time
print("agent runs")
for _ in range(4):
    try:
        while True:
            time.sleep_ms(1)
    except KeyboardInterrupt:
        pass
""",
    "floods": b"""
import machine
while True:
    print("agent runs after reset", machine.reset_cause(), "x" * 200)
""",
    "blocks": b"import time\nprint('agent runs')\nwhile True:\n    time.sleep(1)\n",
    # As in a TLS handshake, which a chip computes for a second or two: Ctrl-C is not heard, and is
    # lost.
    "computes": b"""
import micropython
import time
print("agent runs")
micropython.kbd_intr(-1)
time.sleep_ms(600)
micropython.kbd_intr(3)
while True:
    time.sleep_ms(5)
""",
    # As aiorepl does: Ctrl-C is a key like others, Ctrl-D ends it.
    "takes Ctrl-C": b"""
import micropython
import sys
print("agent runs")
micropython.kbd_intr(-1)
while sys.stdin.read(1) != "\x04":
    pass
micropython.kbd_intr(3)
""",
    "reads": b"import sys\nprint('agent runs')\nwhile True:\n    sys.stdin.readline()\n",
}
ODD_NAMES = ['/it\'s "quoted".txt', "/a=b.txt", "/ü€/é.txt", "/back\\slash.txt", "/ lead"]


@pytest.fixture(scope="module")
def board():
    with VirtualBoard({"/main.py": AGENT}, tcp_port=0) as board:
        yield board


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """No project of the developer's is seen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENNER_SIM_DIR", str(tmp_path / "sim"))


class Slow:
    """A transport whose answers take this long, by a clock of its own; "" is silence."""

    device_name = "slow"

    def __init__(self, *answers):
        self.answers = list(answers)
        self.limits = []
        self.now = 0.0

    def monotonic(self):
        return self.now

    def exec_raw_no_follow(self, code):
        pass

    def write(self, data):
        pass

    def read_one(self, limit_s):
        self.limits.append(limit_s)
        taken_s, answer = self.answers.pop(0)
        self.now += taken_s
        return answer


def test_a_slow_board_gets_more_time_and_a_silent_one_does_not(monkeypatch):
    slow = Slow((1, b"+"), (3, b"+"), (14, b"+"), (80, b"k"))
    monkeypatch.setattr(transfer, "time", slow)
    transfer._Sender(slow, False, False)._wait(b"k")
    assert slow.limits == [15, 15, 24, 112]
    silent = Slow((15, b""))
    monkeypatch.setattr(transfer, "time", silent)
    with pytest.raises(BoardSilent, match="stopped taking files"):
        transfer._Sender(silent, False, False)._wait(b"k")


@pytest.mark.parametrize("main", BUSY.values(), ids=BUSY)
def test_a_busy_board_is_entered_and_runs_again(main):
    with VirtualBoard({"/main.py": main}) as board:
        board.wait_for("agent runs")
        with open_board(board.pty) as link:
            assert link.run("print(6 * 7)") == "42\n"
            assert link.was_running
        # A flood pushes any single line out of the log before it is looked for.
        board.wait_for("agent runs after reset 5" if b"reset_cause" in main else "agent runs")


DEVICES = BOARDS / "VIRTUAL" / "devices.json"
HANDSHAKE = """
import network, socket, ssl, time
wifi = %r
wlan = network.WLAN(0)
wlan.active(True)
wlan.connect(wifi["ssid"], wifi["password"])
while not wlan.isconnected():
    time.sleep_ms(5)
line = socket.socket()
line.connect(socket.getaddrinfo("127.0.0.1", %d)[0][-1])
ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).wrap_socket(line, server_hostname="x")
"""


def test_a_board_in_a_tls_handshake_is_entered():
    """With a server that takes the connection and then says nothing, as one behind a bad link
    seems to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        main = HANDSHAKE % (json.loads(DEVICES.read_text())["wifi"], server.getsockname()[1])
        with VirtualBoard({"/main.py": main.encode()}) as board:
            held, _ = server.accept()
            with held:
                assert held.recv(1) == b"\x16", "the first byte of a handshake"
                with open_board(board.pty) as link:
                    assert link.run("print(6 * 7)") == "42\n"
                    assert link.was_running
                assert "KeyboardInterrupt" in board.serial_log


def test_an_armed_watchdog_gets_more_time():
    main = b"""
import machine
wdt = machine.WDT(timeout=9000)
print("agent runs")
while True:
    wdt.feed()
"""
    with VirtualBoard({"/main.py": main}) as board:
        board.wait_for("agent runs")
        assert board.status()["watchdog_s"] < 10
        with open_board(board.pty) as link:
            link.guard()
            assert board.status()["watchdog_s"] > 60
            link.fresh()
            assert link.evaluate("t_wdt is not None"), "it can still be fed"


def test_a_board_that_was_guarded_and_left_starts_by_itself():
    with VirtualBoard({"/main.py": AGENT}) as left:
        left.wait_for("agent runs")
        link = open_board(left.pty)
        link.guard(1)
        # The cable is pulled.
        link.transport.close()
        left.wait_for("agent runs")


def test_a_board_at_the_prompt_stays_there():
    with VirtualBoard({"/main.py": b"print('done')\n"}) as board:
        board.wait_for(">>> ")
        with open_board(board.pty) as link:
            assert not link.was_running
        assert board.serial_log.count("done") == 1


def test_a_boot_loop_is_caught():
    loop = b"import machine, time\nprint('agent runs')\ntime.sleep_ms(40)\nmachine.reset()\n"
    with VirtualBoard({"/main.py": loop}) as board:
        board.wait_for("agent runs")
        with open_board(board.pty) as link:
            assert link.run("print(6 * 7)") == "42\n"


def test_every_mode_a_session_may_have_left_it_in(board):
    # (as if another program had been cut off there)
    for typed in ("\x03\x01", "\x03\x01\x05A\x01print(", "\x03\x05pasted", "\x03\x03'''open"):
        board.type(typed)
        with open_board(board.pty) as link:
            assert link.run("print(6 * 7)") == "42\n", repr(typed)


@pytest.mark.parametrize("port", ["pty", "socket"])
def test_files_go_both_ways(board, port):
    url = board.pty if port == "pty" else f"socket://127.0.0.1:{board.tcp_port}"
    files = {name: name.encode() for name in ODD_NAMES}
    files |= {"/empty": b"", "/random": os.urandom(10000), "/zeros": bytes(20000)}
    files |= {"/ctrl": bytes([3, 16, 67, 80, 16, 3]) * 2000, "/ctrl-c": b"\x03" * 9000}
    files |= {"/block": bytes(range(256)) * 16, "/deep/er/and/deeper.bin": b"\x00\x03\x04\r\n"}
    done = []
    with open_board(url) as link:
        link.write_files(files, progress=lambda path, count: done.append((path, count)))
        assert link.read_files([*files, "/not there"]) == files
        manifest = link.manifest(["/"])
        for path, data in files.items():
            assert manifest[path].size == len(data)
            assert manifest[path].hash == short_hash(data)
            assert (path, len(data)) in done
        assert link.remove([*files, "/not there"]) == ["/not there"]
        assert not set(files) & set(link.manifest(["/"]))


def test_a_manifest_is_one_call_however_many_files(board):
    with open_board(board.pty) as link:
        link.write_files({f"/many/{number}": b"x" * number for number in range(60)})
        link.load("tree")
        before = link.transport.round_trips
        assert len(link.manifest(["/many"])) == 60
        # The call goes in one window; the board's output may come in many pieces.
        assert link.transport.round_trips - before <= 4
        link.remove([*link.manifest(["/many"]), "/many"])


def test_a_large_file_takes_few_round_trips(board):
    data = os.urandom(20000)
    with open_board(board.pty) as link:
        link.load("files")
        before = link.transport.round_trips
        link.write_files({"/large": data})
        # mpremote sends 256 bytes at a time, and waits for several signs after each.
        assert link.transport.round_trips - before < len(data) / 100
        before = link.transport.round_trips
        link.write_files({"/zeros": bytes(20000)})
        assert link.transport.round_trips - before < 40
        link.remove(["/large", "/zeros"])


def test_what_it_is(board):
    with open_board(board.pty) as link:
        info = link.info()
    assert info.mpy_version == 6
    assert info.agent is None
    assert 0 < info.flash_free < info.flash_total == 0x200000
    assert info.heap_free > 10000
    assert info.device_id == "7c2c67000001"


def test_a_port_that_garbles_raw_paste(board):
    with open_board(board.pty) as link:
        link.transport._raw_paste = lambda code: link.transport.expect(b"never", 0.01, "it")
        assert link.manifest(["/main.py"])["/main.py"].hash == short_hash(AGENT)
        assert not link.transport.use_raw_paste


def test_a_garbled_file_is_sent_again(board, monkeypatch):
    data = os.urandom(300)
    with open_board(board.pty) as link:
        write = link.transport.write
        spoiled = []

        def spoil(line):
            if not spoiled and len(line) == 120:
                spoiled.append(line)
                line = line[:60] + bytes([line[60] ^ 1]) + line[61:]
            write(line)

        monkeypatch.setattr(link.transport, "write", spoil)
        link.write_files({"/first": b"1", "/second": data, "/third": b"3"})
        assert spoiled
        assert link.read_files(["/second", "/third"]) == {"/second": data, "/third": b"3"}


def test_a_board_without_inflating_gets_files_as_they_are(board):
    files = {"/ctrl-c": b"\x03" * 9000, "/zeros": bytes(5000)}
    with open_board(board.pty) as link:
        link.write_files(files, deflate=False)
        assert link.read_files(list(files)) == files


@pytest.mark.parametrize(("done", "free_kb"), [("written", 9), ("read", 4)])
def test_a_stopped_programs_memory_is_freed_when_it_is_in_the_way(done, free_kb):
    hog = (
        b"""
held = []
try:
    while True:
        held.append(bytearray(1000))
except MemoryError:
    del held[-%d:]
print("agent runs")
while True:
    pass
"""
        % free_kb
    )
    with VirtualBoard({"/main.py": hog}, heap="64K") as board:
        board.wait_for("agent runs")
        with open_board(board.pty) as link:
            if done == "written":
                link.write_files({"/x": bytes(5000)})
            else:
                assert link.read_files(["/main.py"]) == {"/main.py": hog}
            assert link.evaluate("'held' in globals()") is False


def test_an_exception_is_a_sentence_and_the_link_goes_on(board):
    with open_board(board.pty) as link:
        with pytest.raises(BoardRefused, match=r"the board raised ValueError: no such thing"):
            link.run("raise ValueError('no such thing')")
        with pytest.raises(BoardRefused, match="raised SyntaxError"):
            link.run("def " * 100)
        assert link.run("print(6 * 7)") == "42\n"


def test_a_program_that_never_ends_has_a_limit(board):
    with (
        open_board(board.pty) as link,
        pytest.raises(BoardSilent, match="stopped answering for 0.2 s"),
    ):
        link.run("while True: pass", limit_s=0.2)
    board.wait_for("agent runs")


def test_the_full_flash_is_named_and_no_part_is_left(board):
    with open_board(board.pty) as link:
        with pytest.raises(BoardRefused, match="flash is full"):
            link.write_files({"/big": os.urandom(2300000)})
        assert not [name for name in link.manifest(["/"]) if name.startswith("/big")]


def test_restart_tells_what_happened():
    cases = {
        b"from machine import nothing\n": "main.py failed: ImportError: can't import name nothing",
        b"": "no agent installed (board is at the REPL)",
    }
    for main, sentence in cases.items():
        with VirtualBoard({"/main.py": main}) as board, open_board(board.pty) as link:
            started = link.restart()
            assert (started.running, started.text) == (False, sentence)


def test_the_board_goes_away():
    with VirtualBoard({"/main.py": AGENT}) as board:
        board.wait_for("agent runs")
        link = open_board(board.pty)
        board.stop()
        with pytest.raises(BoardGone, match="went away"):
            link.run("print(1)")
        link.close()


def test_a_silent_board(board, monkeypatch):
    monkeypatch.setattr("tenner_host.board.transport.ENTER_TRIES", 2)
    with VirtualBoard({}, power=False) as dead, pytest.raises(BoardSilent, match="says nothing"):
        open_board(dead.pty)


def test_no_such_port():
    with pytest.raises(PortError, match=r"there is no port /dev/ttyNOPE; connected: .*cable"):
        open_board("/dev/ttyNOPE")
    with pytest.raises(PortError, match=r"socket://127.0.0.1:9 cannot be opened: .*running"):
        open_board("socket://127.0.0.1:9")


def test_a_port_another_program_has(board):
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import serial, sys; s = serial.Serial(sys.argv[1], exclusive=True); print(1, "
            "flush=True); "
            "sys.stdin.read()",
            board.pty,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        holder.stdout.readline()
        with pytest.raises(
            PortError, match=rf"used by another program \(.*process {holder.pid}\)"
        ):
            open_board(board.pty)
    finally:
        holder.communicate()


def test_modem_manager_is_kept_away(monkeypatch, usb):
    usb.append(ONE)
    monkeypatch.setattr(port_errors, "_exists", lambda device: True)
    monkeypatch.setattr(port_errors, "holders", lambda device: ["ModemManager, process 7"])
    said = port_errors.explain_open(ONE.device, OSError(errno.EBUSY, "busy"))
    assert "another program (ModemManager, process 7); it looks for a modem" in said
    assert (
        'the line SUBSYSTEM=="tty", ATTRS{idVendor}=="303a", ENV{ID_MM_DEVICE_IGNORE}="1"' in said
    )


@pytest.mark.skipif(sys.platform == "win32", reason="pyserial itself translates there")
@pytest.mark.parametrize(
    "call",
    [
        lambda line: line.flush(),
        lambda line: line.reset_input_buffer(),
        lambda line: line.reset_output_buffer(),
        lambda line: line.send_break(),
        lambda line: setattr(line, "baudrate", 9600),
    ],
    ids=["flush", "input", "output", "break", "baud"],
)
def test_a_call_at_a_port_that_vanished_is_an_os_error(call):
    """pyserial lets some through as termios.error, which is none."""
    master, slave = os.openpty()
    line = new_port(os.ttyname(slave))
    line.open()
    os.close(slave)
    os.close(master)
    with pytest.raises(OSError, match="Input/output error"):
        call(line)
    line.close()


def test_opening_a_port_does_not_reset_the_board():
    with VirtualBoard({"/main.py": AGENT}, rfc2217_port=0) as board:
        board.wait_for("agent runs")
        line = Transport(f"rfc2217://127.0.0.1:{board.rfc2217_port}")
        line.close()
        assert board.status()["boots"] == 1


def test_a_board_whose_reset_hangs_on_the_lines_is_released(board, monkeypatch):
    """It is silent as long as they are high."""
    monkeypatch.setattr(Transport, "_has_lines", True)
    monkeypatch.setattr(Transport, "_attempt", lambda line, number: not line._lines)
    line = Transport(board.pty)
    port, line.serial = line.serial, SimpleNamespace(rts=True, dtr=True)
    line.enter_raw_repl()
    assert not line.serial.rts and not line.serial.dtr
    port.close()


# (words of /etc/os-release, the port's group, may it, words of the sentence)
FIXES = [
    (["debian"], "dialout", True, "sudo usermod -aG dialout $USER"),
    (["fedora"], "dialout", True, "sudo usermod -aG dialout $USER"),
    (["arch"], "uucp", True, "sudo usermod -aG uucp $USER"),
    (["alpine"], "dialout", True, "addgroup $USER dialout"),
    (["nixos"], "dialout", True, "configuration.nix"),
    (["silverblue", "fedora"], "dialout", True, "/usr/lib/group"),
    (["debian"], "root", False, "/etc/udev/rules.d/70-tenner.rules"),
]


@pytest.mark.parametrize(
    ("names", "group", "may", "sentence"), FIXES, ids=lambda value: str(value)
)
def test_no_permission_names_the_fix(names, group, may, sentence):
    assert sentence in port_errors.permission_fix("/dev/ttyUSB0", names, (group, may))


def test_no_permission_is_recognised(monkeypatch):
    monkeypatch.setattr(port_errors, "_exists", lambda device: True)
    text = port_errors.explain_open("/dev/ttyUSB0", OSError(errno.EACCES, "Permission denied"))
    assert text.startswith("no permission for /dev/ttyUSB0: ")


def test_what_a_board_that_is_no_micropython_says():
    said = [
        (b"rst:0x1 (POWERON)\r\ninvalid header: 0xffffffff\r\n", "its flash is empty"),
        (b"rst:0x1 (POWERON),boot:0x4\r\nwaiting for download\r\n", "waits to be flashed"),
        (b"rst:0x3\r\nrst:0x3\r\nrst:0x3\r\n", "keeps restarting"),
        (b"rst:0xf\r\nBrownout detector was triggered\r\n", "too little power"),
        (b"U-Boot 2024\r\n=> \r\n", "it last said: =>"),
    ]
    for heard, sentence in said:
        assert sentence in port_errors.explain_silence("socket://board", heard)


ONE = ports.Port("/dev/ttyACM0", 0x303A, 0x1001, "AA", "USB JTAG")
TWO = ports.Port("/dev/ttyACM1", 0x303A, 0x1001, "BB", "USB JTAG")


@pytest.fixture
def usb(monkeypatch):
    """The connected devices; change the list."""
    there = []
    monkeypatch.setattr(ports, "list_ports", lambda: list(there))
    return there


def test_the_only_board_is_taken_and_several_are_asked_for(usb, tmp_path, monkeypatch):
    project = Project(tmp_path)
    with pytest.raises(PortError, match="no board is connected"):
        ports.choose(project)
    usb.append(ONE)
    assert ports.choose(project) == ONE
    usb.append(TWO)
    with pytest.raises(PortError, match=r"choose one with --port: /dev/ttyACM0 .*; /dev/ttyACM1 "):
        ports.choose(project, ask=False)
    monkeypatch.setattr(prompts, "choose", lambda *args: "2")
    assert ports.choose(project, ask=True) == TWO
    assert ports.choose(project, port="BB") == TWO


def test_the_projects_board_is_found_by_its_serial_number(usb, tmp_path):
    project = Project(tmp_path)
    project.remember(port=TWO.as_json())
    usb.append(ONE)
    with pytest.raises(PortError, match=r"this project's board \(.*BB\) is not connected"):
        ports.choose(project)
    moved = ports.Port("/dev/ttyACM7", 0x303A, 0x1001, "BB", "USB JTAG")
    usb.append(moved)
    assert ports.choose(project) == moved
    assert ports.refind(TWO) == "/dev/ttyACM7"


def test_a_virtual_board_is_chosen_by_name_and_remembered(tmp_path, usb):
    with pytest.raises(
        PortError, match=r"no virtual board named 'desk' is running \(running: none\)"
    ):
        open_board(sim="desk")
    with VirtualBoard({"/main.py": AGENT}, name="desk") as board:
        board.wait_for("agent runs")
        with open_board(sim="desk", remember=True) as link:
            assert link.port.sim == "desk"
        with open_board() as link:
            assert link.port.device == board.pty
    assert (tmp_path / ".tenner" / ".gitignore").read_text() == "*\n"


def test_a_board_that_comes_back_under_another_name(board, monkeypatch):
    with VirtualBoard({"/main.py": AGENT}) as other:
        other.wait_for("agent runs")
        with open_board(other.pty) as link:
            link.transport._refind = lambda: board.pty
            other.stop()
            link.transport.reopen()
            link.transport.enter_raw_repl()
            assert link.transport.device_name == board.pty
            assert link.run("print(6 * 7)") == "42\n"


def test_an_ending_is_found_wherever_the_port_cuts_it():
    text = b"said\r\nOOKand more"
    for first in range(1, len(text) - 1):
        for second in range(first + 1, len(text)):
            line = Transport.__new__(Transport)
            line._buffer = bytearray()
            parts = iter([text[:first], text[first:second], text[second:]])

            def receive(limit_s, line=line, parts=parts):
                line._buffer += next(parts)
                return True

            line._receive = receive
            assert line.read_until(1, b"OK", timeout=1) == b"said\r\nOOK", (first, second)
