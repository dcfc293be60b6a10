"""A person's terminal in front of a command of `tenner`."""

import contextlib
import os
import pty
import select
import signal
import sys
import time

import pytest

from tenner_host import ROOT
from tenner_sim import LIMIT_S


class Terminal:
    """A person at a terminal in front of a command."""

    def __init__(self, *arguments, installed=None):
        """`installed`: a wheel's environment, tests.host.installed.Installed."""
        command = [sys.executable, "-m", "tenner_host.cli", *arguments]
        self.pid, self._fd = pty.fork()
        if not self.pid:
            if installed:
                os.chdir(installed.work)
                command = [installed.place / "bin" / "tenner", *arguments]
                os.execve(command[0], command, {**installed.environment, "TERM": "xterm"})
            os.environ["PYTHONPATH"] = str(ROOT)
            os.execv(command[0], command)
        self.seen = ""
        self._found = 0

    def wait_for(self, text):
        deadline = time.monotonic() + LIMIT_S
        while text not in self.seen[self._found :]:
            assert time.monotonic() < deadline, f"{text!r} did not come: {self.seen}"
            assert self._read(), f"it ended before {text!r}: {self.seen}"
        self._found = self.seen.index(text, self._found) + len(text)

    def _read(self):
        """Take its output of up to a second; False when it has ended."""
        if select.select([self._fd], [], [], 1)[0]:
            try:
                self.seen += os.read(self._fd, 65536).decode(errors="replace")
            except OSError:
                return False
        return True

    def type(self, text):
        os.write(self._fd, text.encode(errors="surrogateescape"))

    def interrupt(self):
        """Press Ctrl-C, and return the exit status.

        Python's readline misses one that comes just before it listens; a person presses again.
        """
        self.type("\x03")
        if self._ends_within(LIMIT_S / 8):
            return self._status()
        self.type("\x03")
        return self.end()

    def kill(self):
        """When a test has failed in the middle."""
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def end(self):
        """Return the exit status; keep the rest of the output."""
        assert self._ends_within(LIMIT_S), f"it did not end: {self.seen}"
        return self._status()

    def _ends_within(self, limit_s):
        deadline = time.monotonic() + limit_s
        while self._read():
            if time.monotonic() > deadline:
                return False
        return True

    def _status(self):
        os.close(self._fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def terminal():
    started = []

    def start(*arguments, **options):
        started.append(Terminal(*arguments, **options))
        return started[-1]

    yield start
    for one in started:
        one.kill()
