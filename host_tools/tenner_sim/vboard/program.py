"""The interpreter during a run: its terminal and its questions, as the chip sees them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

from tenner_sim.vboard.console import SIGNALS_BY_HAND, OutputFilter, RawBanner, ReplMode
from tenner_sim.vboard.loop import READ, WRITE, Loop, Part
from tenner_sim.vboard.runtime import Child, Heard
from tenner_sim.vboard.serial_line import SerialLine

#: The longest wait of Ctrl-C for a safe moment, and the interval of its checks.
_PATIENCE_S = 0.3
_PATIENCE_STEP_S = 0.0003
#: The longest time to hold back output that may be the start of a mark.
_HOLD_S = 0.02


class Program(Part):
    """One run, from a reset to the next."""

    def __init__(
        self,
        loop: Loop,
        line: SerialLine,
        child: Child,
        *,
        raw: bool,
        on_request: Callable[[Program, str], None],
        on_exit: Callable[[Program, int], None],
    ) -> None:
        """`raw` starts in the raw REPL, as a soft reset from there does."""
        self._loop = loop
        self._line = line
        self.child = child
        self._on_request = on_request
        self._on_exit = on_exit
        self._filter = OutputFilter()
        self._held_since: float | None = None
        self._raw_banner = RawBanner() if raw else None
        self._mode = ReplMode(raw=False)
        self._typed = bytearray(b"\x01" if raw else b"")
        self._partial = b""
        # Ctrl-C is first in `_typed` and waits: its deadline, and the time of the next check.
        self._patient_until: float | None = None
        self._look_at = 0.0
        self._ended = False
        self.up = False
        loop.parts.append(self)
        loop.watch(self.child.requests, READ, self._on_requests)

    @property
    def raw(self) -> bool:
        """Whether the REPL is in raw mode."""
        return self._mode.raw

    @property
    def pid(self) -> int:
        return self.child.process.pid

    def type(self, data: bytes) -> None:
        """Host bytes; they wait until the application is up."""
        self._typed += data

    def end(self) -> None:
        """Stop the interpreter and print its remaining output."""
        if self._ended:
            return
        self._ended = True
        self.child.kill()
        while data := self._read():
            self._print(data)
        self._line.emit(self._filter.flush())
        self._loop.parts.remove(self)
        self._loop.forget(self.child.master)
        self._loop.forget(self.child.requests)
        self.child.close()

    # The loop.

    def prepare(self) -> None:
        events = 0 if self._line.full else READ
        waits = self._patient_until is not None and self._loop.now() < self._look_at
        if self._typed and self.up and not waits:
            events |= WRITE
        self._loop.watch(self.child.master, events, self._on_terminal)

    def deadline(self) -> float | None:
        deadlines = [] if self._held_since is None else [self._held_since + _HOLD_S]
        if self._patient_until is not None:
            deadlines.append(self._look_at)
        return min(deadlines, default=None)

    def run_timers(self, now: float) -> None:
        if self._held_since is not None and now >= self._held_since + _HOLD_S:
            self._held_since = None
            self._line.emit(self._filter.flush())

    # The terminal.

    def _on_terminal(self, master: int, events: int) -> None:
        if events & WRITE:
            with contextlib.suppress(BlockingIOError, OSError):
                self._type_on(master)
        if events & READ:
            data = self._read()
            if data:
                self._print(data)
            elif data is not None:
                # Hung up; handle the earlier requests, and the end itself.
                while not self._ended and self._read_requests():
                    pass

    def _read(self) -> bytes | None:
        """The interpreter's output; empty at its end, None if there is none now."""
        try:
            return os.read(self.child.master, 65536)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _type_on(self, master: int) -> None:
        """Pass host bytes on to the interpreter, Ctrl-C as a signal where the runtime supports
        it."""
        typed = self._typed
        if typed[:1] == b"\x03" and SIGNALS_BY_HAND and not self._filter.binary:
            now = self._loop.now()
            if self._patient_until is None:
                self._patient_until = now + _PATIENCE_S
            heard = self.child.interrupt(anywhere=now >= self._patient_until)
            if heard is Heard.LATER:
                self._look_at = now + _PATIENCE_STEP_S
                return
            self._patient_until = None
            if heard is Heard.NOW:
                # A second signal before the first is handled would end the interpreter.
                while typed[:1] == b"\x03":
                    del typed[:1]
                return
        stop = typed.find(b"\x03", 1)
        sent = os.write(master, typed[: min(1024, stop if stop > 0 else 1024)])
        del typed[:sent]

    def _print(self, data: bytes) -> None:
        text = self._filter.feed(data)
        self._mode.feed(text)
        if self._raw_banner:
            text = self._raw_banner.feed(text)
            if self._raw_banner.done:
                self._raw_banner = None
        self._line.emit(text)
        self._held_since = self._loop.now() if self._filter.holding else None

    # The pipe.

    def _on_requests(self, number: int, events: int) -> None:
        self._read_requests()

    def _read_requests(self) -> bool:
        """Handle the requests in the pipe; False at its end."""
        try:
            data = os.read(self.child.requests, 65536)
        except BlockingIOError:
            return True
        if not data:
            self._on_exit(self, self.child.process.wait())
            return False
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            if self._ended:
                return False  # switched off by an earlier line
            if line:
                self._on_request(self, line.decode(errors="replace"))
        return not self._ended
