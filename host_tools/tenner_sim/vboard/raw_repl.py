"""The part of the raw REPL protocol that tests of the virtual board need."""

from __future__ import annotations

import contextlib
import os
import re
import select
import time

from tenner_sim.vboard.control import BoardError


class RawRepl:
    """A raw REPL on a terminal, for `VirtualBoard.exec`."""

    def __init__(self, path: str, timeout_s: float) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        self._deadline = time.monotonic() + timeout_s
        self._seen = b""

    def close(self) -> None:
        os.close(self._fd)

    def _write(self, data: bytes) -> None:
        while data:
            select.select([], [self._fd], [], max(0.0, self._deadline - time.monotonic()))
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(self._fd, data) :]
            self._check_time()

    def _read_until(self, ending: bytes) -> bytes:
        while ending not in self._seen:
            self._check_time()
            if select.select([self._fd], [], [], max(0.0, self._deadline - time.monotonic()))[0]:
                self._seen += os.read(self._fd, 65536)
        found, _, self._seen = self._seen.partition(ending)
        return found

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise BoardError(f"no answer on the serial line after {self._seen[-500:]!r}")

    def run(self, code: str) -> str:
        self._write(b"\r\x03\x01")
        self._read_until(b"raw REPL; CTRL-B to exit\r\n>")
        self._write(code.encode() + b"\x04")
        self._read_until(b"OK")
        output = self._read_until(b"\x04")
        error = self._read_until(b"\x04")
        self._write(b"\x02")
        self._read_until(b'Type "help()" for more information.\r\n')
        if error:
            raise BoardError(re.sub(r"\r\n", "\n", error.decode(errors="replace")))
        return output.decode(errors="replace").replace("\r\n", "\n")
