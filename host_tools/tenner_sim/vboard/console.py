"""The interpreter's output, made to look like a board's own."""

from __future__ import annotations

import os
import termios

_BINARY_ON = b"\x1b]vb-\x07"
_BINARY_OFF = b"\x1b]vb+\x07"
#: Frames of the onboard modules in a traceback; on a real board those are C and invisible.
_OVERLAY_FRAME = b'  File "vboard/'

#: runtime.Child.interrupt turns Ctrl-C into a signal, which needs /proc; elsewhere the terminal
#: does, which may then end the interpreter between two runs of code.
SIGNALS_BY_HAND = os.path.exists("/proc/self/status")

RAW_PROMPT = b"raw REPL; CTRL-B to exit\r\n"
FRIENDLY_BANNER = b'Type "help()" for more information.\r\n'


class OutputFilter:
    """Makes the interpreter's terminal output look like a board's: CRLF, no frames of the onboard
    modules.

    Between the two marks printed by the onboard `kbd_intr`, bytes pass unchanged (`mpremote
    mount`). Text may be cut anywhere; a possible start of a mark or a frame is held back.
    """

    def __init__(self) -> None:
        self._held = b""
        self.binary = False
        self._line_start = True
        self._skipping = False
        self._after_cr = False

    def feed(self, data: bytes) -> bytes:
        data = self._held + data
        self._held = b""
        out = bytearray()
        while data:
            mark = _BINARY_OFF if self.binary else _BINARY_ON
            at = data.find(mark)
            if at < 0:
                keep = _possible_start(data, mark)
                part, self._held, data = data[: len(data) - keep], data[len(data) - keep :], b""
            else:
                part, data = data[:at], data[at + len(mark) :]
            out += part if self.binary else self._text(part, final=at >= 0)
            if at >= 0:
                self.binary = not self.binary
        return bytes(out)

    def flush(self) -> bytes:
        """Return the bytes held back, when no more follow."""
        held, self._held = self._held, b""
        if held:
            self._line_start = False
        return held

    @property
    def holding(self) -> bool:
        return bool(self._held)

    def _text(self, data: bytes, *, final: bool) -> bytes:
        out = bytearray()
        while data:
            if self._skipping:
                line, found, data = data.partition(b"\n")
                self._skipping = not found
                continue
            if self._line_start:
                if data.startswith(_OVERLAY_FRAME):
                    self._skipping = True
                    continue
                if not final and _OVERLAY_FRAME.startswith(data):
                    self._held = data + self._held
                    break
            line, found, data = data.partition(b"\n")
            out += line
            if found:
                before = line[-1:] == b"\r" if line else self._after_cr
                out += b"\n" if before else b"\r\n"
            self._after_cr = line[-1:] == b"\r" and not found
            self._line_start = bool(found)
        return bytes(out)


def _possible_start(data: bytes, mark: bytes) -> int:
    """The number of bytes at the end of `data` that may be the start of `mark`."""
    for length in range(min(len(mark) - 1, len(data)), 0, -1):
        if data.endswith(mark[:length]):
            return length
    return 0


class ReplMode:
    """Tracks in the output whether the REPL is raw, as a soft reset must keep it so."""

    _TAIL = 64

    def __init__(self, raw: bool = False) -> None:
        self.raw = raw
        self._tail = b""

    def feed(self, data: bytes) -> None:
        text = self._tail + data
        raw_at = text.rfind(RAW_PROMPT)
        friendly_at = text.rfind(FRIENDLY_BANNER)
        if raw_at >= 0 or friendly_at >= 0:
            self.raw = raw_at > friendly_at
        self._tail = text[-self._TAIL :]


class RawBanner:
    """After a soft reset in raw mode: drops the interpreter's friendly banner."""

    def __init__(self) -> None:
        self._held = b""
        self.done = False

    def feed(self, data: bytes) -> bytes:
        self._held += data
        banner = self._held.find(b"MicroPython ")
        raw = self._held.find(RAW_PROMPT, max(banner, 0))
        if raw >= 0:
            self.done = True
            return (self._held[:banner] if banner > 0 else b"") + self._held[raw:]
        if banner >= 0:
            out, self._held = self._held[:banner], self._held[banner:]
        else:
            # Output of boot.py comes first and must not wait for the prompt.
            keep = _possible_start(self._held, b"MicroPython ")
            out = self._held[: len(self._held) - keep]
            self._held = self._held[len(self._held) - keep :]
        return out


def inner_terminal() -> tuple[int, int]:
    """Open a transparent terminal for the interpreter; return (master, slave)."""
    master, slave = os.openpty()
    settings = termios.tcgetattr(slave)
    settings[0] = 0
    settings[1] = 0
    settings[3] = 0 if SIGNALS_BY_HAND else termios.ISIG | termios.NOFLSH
    control = settings[6]
    control[termios.VINTR] = b"\x03"
    control[termios.VQUIT] = control[termios.VSUSP] = b"\0"
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    os.set_blocking(master, False)
    return master, slave
