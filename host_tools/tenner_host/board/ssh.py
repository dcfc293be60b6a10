"""The system's OpenSSH, with the user's keys, config, jump hosts and known hosts. One connection
for all calls."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tenner_host.board.transport import Transport
from tenner_host.errors import BoardGone, BoardSilent, CommandError, PortError

SCHEME = "ssh://"
#: Its OpenSSH shares no connection between calls, and Python cannot wait for its pipes.
NEEDS_POSIX = "Linux boards are reached from Linux and macOS: on Windows, run tenner inside WSL"
_SCRIPTS = Path(__file__).parent / "onboard"
#: ssh's own exit status, not the command's.
_NOT_CONNECTED = 255
#: Dropbear accepts 9,000 bytes, and closes the connection silently on more.
_LONGEST_COMMAND = 8900
#: Notices within 20 s that a board is gone.
_OPTIONS = (
    "ConnectTimeout=15",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ControlMaster=auto",
    "ControlPersist=20",
)
#: OpenSSH's messages, and their remedies.
_REASONS = (
    (
        "host key verification failed",
        "ssh does not know this board's key, or it has changed: run `ssh {host}` once to check it",
    ),
    (
        "permission denied",
        "it accepts none of your keys and no password: try `ssh {host}`, or `ssh-copy-id {host}`",
    ),
    (
        "could not resolve",
        "there is no such host on the network: is it on, and is the name right?",
    ),
    ("connection refused", "nothing listens for ssh there: is the ssh server on?"),
    ("timed out", "it does not answer: is it on, and in this network?"),
    ("no route to host", "it does not answer: is it on, and in this network?"),
)
#: OpenSSH's messages about a lost connection.
_LOST = ("closed by remote", "broken pipe", "connection reset", "mux_client", "shared connection")


class Ssh:
    """Commands on one host; close it, or use it in a `with` block."""

    def __init__(self, device: str) -> None:
        self.host = device.removeprefix(SCHEME)
        self._target = SCHEME + self.host
        if sys.platform == "win32":
            raise PortError(NEEDS_POSIX)
        command = shlex.split(os.environ.get("TENNER_SSH", "ssh"))
        if shutil.which(command[0]) is None:
            raise PortError(f"{command[0]} is not here: install OpenSSH's client")
        # Its path must be short: a socket's name holds about 100 characters.
        top = "/tmp" if os.path.isdir("/tmp") else None
        self._folder = tempfile.mkdtemp(prefix="tenner-", dir=top)
        self._command = [*command, "-T"]
        for option in (*_OPTIONS, f"ControlPath={self._folder}/s"):
            self._command += ["-o", option]

    def close(self) -> None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                [*self._command, "-O", "exit", self._target],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=5,
                check=False,
            )
        shutil.rmtree(self._folder, ignore_errors=True)

    def argv(self, script: str, *args: str) -> list[str]:
        """The command line that runs a shell script there under sh, not the user's own shell."""
        words = ["sh", "-c", script, "sh", *args]
        command = " ".join(map(shlex.quote, words))
        if len(command) > _LONGEST_COMMAND:
            raise ValueError(f"{len(command)} bytes are too long for a command: give it as `data`")
        return [*self._command, "--", self._target, command]

    def run(self, script: str, *args: str, data: bytes = b"", ok: tuple[int, ...] = (0,)) -> bytes:
        """Run a shell script with these arguments and `data` as its input; return its output."""
        done = subprocess.run(
            self.argv(script, *args), input=data, capture_output=True, check=False
        )
        if done.returncode in ok:
            return done.stdout
        error = done.stderr.decode(errors="replace")
        if done.returncode == _NOT_CONNECTED or done.returncode < 0:
            raise self.lost(error)
        raise Refused(self.host, error or done.stdout.decode(errors="replace"))

    def lost(self, error: str) -> CommandError:
        """The reason that the connection failed or broke."""
        for sign, sentence in _REASONS:
            if sign in error.lower():
                return BoardSilent(f"{self.host}: {sentence.format(host=self.host)}")
        lines = [line.strip() for line in error.splitlines() if line.strip()]
        if lines and not any(sign in error.lower() for sign in _LOST):
            return BoardSilent(f"no connection to {self.host}: {lines[-1]}")
        why = f" ({lines[-1]})" if lines else ""
        return BoardGone(f"the connection to {self.host} was lost{why}")


class Refused(CommandError):
    """A command failed on the board; `said` is its output."""

    def __init__(self, host: str, said: str) -> None:
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        super().__init__(f"{host}: {lines[-1] if lines else 'a command failed without a word'}")
        self.said = said


def script(name: str) -> str:
    """A shell script of `onboard/`."""
    return (_SCRIPTS / f"{name}.sh").read_text(encoding="utf-8")


class SshLine(Transport):
    """The console of an agent on Linux, as if it were a serial line."""

    def __init__(self, device: str, command: str) -> None:
        self._ssh = Ssh(device)
        self._script = command
        super().__init__(device)

    def _open(self) -> None:
        self._process = subprocess.Popen(
            self._ssh.argv(self._script),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self._process.stdin and self._process.stdout
        self.serial: Any = _Pipe(self._process.stdin.fileno())
        self._fd = self._process.stdout.fileno()
        self._buffer.clear()

    def _gone(self, reason: object) -> BoardGone:
        self.gone = True
        self._process.kill()
        _, error = self._process.communicate()
        said = error.decode(errors="replace")
        if self._process.returncode in (_NOT_CONNECTED, -9) and not said.strip():
            return BoardGone(f"the connection to {self._ssh.host} was lost")
        lost = self._ssh.lost(said)
        return lost if isinstance(lost, BoardGone) else BoardGone(lost.message)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._ssh.close()

    def enter_raw_repl(self, *args: Any, **options: Any) -> None:
        raise CommandError(NO_REPL)

    def write_ctrl_d(self, out: object) -> None:
        """Does nothing: an agent that is a service has no prompt."""


NO_REPL = (
    "this is a Linux board, without a REPL: `ssh` gives you its shell, `tenner chat` its agent"
)


class _Pipe:
    def __init__(self, number: int) -> None:
        self._number = number

    def write(self, data: bytes) -> int:
        return os.write(self._number, data)
