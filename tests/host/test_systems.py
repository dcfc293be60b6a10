"""Windows, as far as Linux can show it: commands without the POSIX parts of Python, COM ports,
folders."""

import subprocess
import sys

import platformdirs
import pytest
import serial
from platformdirs import windows

from tenner_host import errors, places
from tenner_host.board import ports
from tenner_host.board.port_errors import explain_open
from tenner_host.board.ports import Port
from tenner_host.board.ssh import NEEDS_POSIX, Ssh
from tenner_sim.vboard import VirtualBoard
from tests.host.e2e import HEAP

#: Lets every module of others load, then loads the commands again as on a Python for Windows.
WINDOWS = """
import os, select, signal, socket, sys, time
import serial.tools.list_ports
from click.testing import CliRunner

def load():
    from tenner_host.cli import COMMANDS, main
    for name in COMMANDS:
        before = set(sys.modules)
        done = CliRunner().invoke(main, [name, "--help"], prog_name="tenner")
        assert done.exit_code == 0, (name, done.output, done.exception)
        found = sorted(one for one in set(sys.modules) - before if one.partition(".")[0] == "tenner_sim")
        assert name in ("sim", "try") or not found, (name, found)
    return main

load()
for name in [one for one in sys.modules if one.partition(".")[0] in ("tenner_host", "tenner_sim")]:
    del sys.modules[name]
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"):
    sys.modules[name] = None
POSIX = {
    os: "fork forkpty getuid geteuid getgid getegid getpgid killpg setsid mkfifo openpty uname chown waitid "
        "WNOHANG WSTOPPED P_PID CLD_STOPPED sched_getaffinity O_NOCTTY O_NONBLOCK",
    select: "poll epoll kqueue",
    signal: "SIGKILL SIGSTOP SIGCONT SIGHUP SIGALRM SIGUSR1 SIGCHLD SIGPIPE SIGQUIT SIGWINCH alarm setitimer",
    socket: "AF_UNIX",
    time: "tzset",
}
for module, names in POSIX.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
sys.platform = "win32"
main = load()
"""  # noqa: E501
#: (arguments, exit status, output)
COMMANDS = [
    (["sim", "start"], 1, "virtual boards need Linux or macOS: on Windows, run tenner inside WSL"),
    (["try"], 1, "virtual boards need Linux or macOS: on Windows, run tenner inside WSL"),
    (["sim", "list"], 1, "no virtual board is running"),
    (["deploy", "root@board"], 3, NEEDS_POSIX),
    (["boards"], 0, "Known boards"),
    (["skills", "list"], 0, "freezer-guard"),
    (["completion"], 0, "Register-ArgumentCompleter"),
]


def on_windows(folder, expected):
    """Run commands, one after the other, in a Python like that of Windows."""
    lines = [
        f"done = CliRunner().invoke(main, {arguments!r}, prog_name='tenner', "
        f"env={{'SHELL': None}})\n"
        f"assert (done.exit_code, {text!r} in done.output) == ({status}, True), "
        "(done.exit_code, done.output, done.exception)\n"
        for arguments, status, text in expected
    ]
    done = subprocess.run(
        [sys.executable, "-c", WINDOWS + "".join(lines)],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_every_command_loads_without_posix_and_only_sim_loads_the_virtual_board(tmp_path):
    on_windows(tmp_path, COMMANDS)


def test_a_board_is_synced_and_asked_without_posix(tmp_path):
    """As on Windows the port has no descriptor to wait on."""
    with VirtualBoard({}, heap=HEAP, tcp_port=0) as board:
        port = ["--port", f"socket://127.0.0.1:{board.tcp_port}"]
        expected = [
            (["sync", *port, "--board", "VIRTUAL"], 0, "running: tenner"),
            (["status", *port], 0, "outbox: 0 waiting"),
            (["pull", *port], 0, ""),
        ]
        on_windows(tmp_path, expected)
        assert "/lib/tenner/__init__.py" in board.read_tree()
    assert (tmp_path / "workspace" / "HEARTBEAT.md").exists()


def test_a_com_port_is_found_by_its_name_in_any_case(monkeypatch):
    there = Port("COM5", 0x303A, 0x1001, "AA:BB")
    monkeypatch.setattr(ports, "list_ports", lambda: [there])
    monkeypatch.setattr(ports, "list_sims", list)
    for named in ("COM5", "com5", "AA:BB"):
        assert ports._given(named) is there
    assert ports._given("COM12") == Port("COM12")
    assert there.label == "COM5 Espressif [303a:1001] AA:BB"


# As pyserial words them on Windows: (the cause, tenner's sentence)
OPENING = [
    (
        FileNotFoundError(2, "The system cannot find the file specified.", None, 2),
        "there is no port COM5; connected: none. Check the cable",
    ),
    (
        PermissionError(13, "Access is denied.", None, 5),
        "COM5 is used by another program; close it and try again",
    ),
    (
        OSError(22, "The semaphore timeout period has expired.", None, 121),
        "COM5 cannot be opened: ",
    ),
]


@pytest.mark.parametrize(("cause", "sentence"), OPENING)
def test_a_com_port_that_does_not_open_says_why(monkeypatch, cause, sentence):
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ports, "list_ports", list)
    error = serial.SerialException(f"could not open port 'COM5': {cause!r}")
    assert explain_open("COM5", error).startswith(sentence)


def test_the_cache_is_below_localappdata(monkeypatch):
    monkeypatch.delenv("TENNER_CACHE", raising=False)
    monkeypatch.setenv("LOCALAPPDATA", r"C:\Users\ann\AppData\Local")
    monkeypatch.setattr(platformdirs, "PlatformDirs", windows.Windows)
    monkeypatch.setattr(windows, "get_win_folder", windows.get_win_folder_from_env_vars)
    found = str(places.cache_folder()).replace("/", "\\")
    assert found == r"C:\Users\ann\AppData\Local\tenner\Cache"


def test_a_linux_board_is_not_reached_from_windows(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(errors.PortError, match="run tenner inside WSL"):
        Ssh("ssh://root@board")
