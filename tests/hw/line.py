"""The serial line of a board: its output, with the time, its memory as `hw_sampler` prints it, and
its power."""

from __future__ import annotations

import contextlib
import math
import re
import threading
import time
from typing import NamedTuple

import serial

from tenner_host.board.serialport import new_port
from tests.bench.agent import SHORT

_MEMORY = re.compile(r"hw-memory (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)\s*$")
_READ_S = 0.1
_HOLD_S = 0.2


class Sample(NamedTuple):
    """The memory of a board, in bytes, at a moment of this computer's clock."""

    at_s: float
    uptime_ms: int
    #: Python's heap: in use, garbage with it, and free as `gc.mem_free()` has it.
    gc_used: int
    gc_free: int
    #: ESP-IDF's memory: free, its largest block, and the least that was ever free.
    idf_free: int
    idf_largest: int
    idf_least: int


#: The agent's log lines about a failed connection, or about one without memory.
_FAILED = re.compile(
    r"(?:connect|OSError|-203|ECONN|TLS|certificate).*(?:fail|refused|Error|not signed)|ENOMEM"
    r"|too little memory|no memory for|" + SHORT.pattern,
    re.I,
)


class Line:
    """The open port; it reads all the time until it is closed."""

    def __init__(self, port: str) -> None:
        self.printed: list[tuple[float, str]] = []
        self.samples: list[Sample] = []
        self._changed = threading.Condition()
        self._port = new_port(port, timeout=_READ_S)
        # Both on or both off lets a board run; one of them alone resets it.
        self._port.dtr = self._port.rts = False
        self._port.open()
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._ended = True
        self._thread.join()
        self._port.close()

    def reset(self) -> None:
        """Cut the board off and let it start, by the transistors that DTR and RTS drive."""
        self._port.dtr = False
        self._port.rts = True
        time.sleep(_HOLD_S)  # the chip must see it
        self._port.rts = False

    def type(self, text: str) -> None:
        self._port.write(text.encode() + b"\r\n")

    def count(self) -> int:
        """The number of lines so far: a mark for `wait`."""
        with self._changed:
            return len(self.printed)

    def lines(self, since: int = 0) -> list[str]:
        with self._changed:
            return [line for _, line in self.printed[since:]]

    def last(self) -> str:
        """Return the last lines, for a message about a failure."""
        return "the board: " + " | ".join(self.lines()[-5:])

    def failures(self, since: int) -> list[str]:
        """Return the lines after so many that tell of a failed connection or of want of memory."""
        return [one for one in self.lines(since) if _FAILED.search(one)]

    def uptime_s(self, at_s: float) -> float:
        """The board's own clock at a moment of this computer's: an emulator may be slower. NaN
        before it is known."""
        with self._changed:
            run = [one for one in self.samples if one.at_s <= at_s][-1:]
            later = [one for one in self.samples if one.at_s > at_s][:1]
        if run and later and later[0].uptime_ms > run[0].uptime_ms:
            share = (at_s - run[0].at_s) / (later[0].at_s - run[0].at_s)
            return (run[0].uptime_ms + share * (later[0].uptime_ms - run[0].uptime_ms)) / 1000
        if later:  # the first of its life
            return later[0].uptime_ms / 1000
        return run[0].uptime_ms / 1000 + at_s - run[0].at_s if run else math.nan

    def wait_sample(self, limit_s: float) -> None:
        """Wait for one more look at the memory, so that earlier lines have a time of the board's;
        TimeoutError if none comes."""
        with self._changed:
            count = len(self.samples)
            if not self._changed.wait_for(lambda: len(self.samples) > count, limit_s):
                raise TimeoutError(f"no sample of the memory came in {limit_s:g} s")

    def wait(self, pattern: str, limit_s: float, since: int = 0) -> str:
        """Wait for a line in which the pattern is found; TimeoutError has the last lines."""
        seen = since
        end = time.monotonic() + limit_s
        with self._changed:
            while True:
                for _, line in self.printed[seen:]:
                    seen += 1
                    if re.search(pattern, line):
                        return line
                if not self._changed.wait(max(0.0, end - time.monotonic())):
                    last = " | ".join(line for _, line in self.printed[-4:])
                    raise TimeoutError(
                        f"nothing like {pattern!r} came in {limit_s:g} s; last: {last}"
                    )

    def _read(self) -> None:
        rest = b""
        while not self._ended:
            data = b""
            with contextlib.suppress(serial.SerialException, OSError):
                data = self._port.read(self._port.in_waiting or 1)
            *whole, rest = (rest + data).split(b"\n")
            if whole:
                self._take([line.decode("utf-8", "replace").rstrip("\r") for line in whole])

    def _take(self, lines: list[str]) -> None:
        now = time.monotonic()
        with self._changed:
            for line in lines:
                if found := _MEMORY.match(line):
                    self.samples.append(Sample(now, *(int(one) for one in found.groups())))
                elif line:
                    self.printed.append((now, line))
            self._changed.notify_all()
