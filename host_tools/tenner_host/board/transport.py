"""mpremote's serial transport with a limit on every wait, and a way into a busy board.

It inherits exec, eval, mount and the file system calls. It replaces reading, which polls byte by
byte and may wait forever, and the entry into the raw REPL, as one Ctrl-C is not enough for an
agent. Raw paste falls back to the plain raw REPL on a port that garbles it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import select
import struct
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import serial
from mpremote.transport_serial import SerialTransport

from tenner_host.board.port_errors import busy_sentence, explain_open, explain_silence
from tenner_host.board.serialport import new_port
from tenner_host.errors import BoardGone, BoardRefused, BoardSilent, PortError

RAW_PROMPT = b"raw REPL; CTRL-B to exit\r\n>"
FRIENDLY_PROMPT = b">>> "
#: A board in a TLS handshake or a name lookup handles Ctrl-C only afterwards.
ENTER_TRIES = 15
ENTER_LIMIT_S = 25.0
_SILENT_TRIES = 3
#: A native USB port vanishes during a reset and comes back, perhaps under another name.
RETURN_LIMIT_S = 10.0
WRITE_LIMIT_S = 5.0
#: Timeout for one byte on rfc2217; changing it later costs 100 ms each time.
_POLL_S = 0.05
#: Longer than any read on the board, in case an earlier session died in the middle of one.
_FILLER = b"\x03" * 160
_BOOT_LOOP_S = 5.0
_RESET_SIGN = b"rst:0x"
_STOPPED = (b"KeyboardInterrupt", b"agent stopped")


class Transport(SerialTransport):  # type: ignore[misc]  # mpremote has no types
    """One open serial line: a port, a pseudo-terminal, socket:// or rfc2217://."""

    def __init__(self, url: str, *, refind: Callable[[], str] | None = None) -> None:
        """`refind` finds the port again after it vanished."""
        self.in_raw_repl = False
        self.use_raw_paste = True
        self.device_name = url
        self.mounted = False
        self.is_pty = False
        #: Changes of direction from us to the board, the cost of a slow link.
        self.round_trips = 0
        #: Ctrl-C stopped a program when the REPL was entered.
        self.interrupted = False
        #: The port has vanished.
        self.gone = False
        #: DTR and RTS stay high while the port is open.
        self._lines = True
        self._refind = refind
        self._buffer = bytearray()
        self._sent = False
        #: The board's newest output, for an error that quotes it.
        self.heard = bytearray()
        self._open()

    # The port.

    def _open(self) -> None:
        try:
            port = new_port(self.device_name, timeout=_POLL_S, write_timeout=WRITE_LIMIT_S)
            # Every operating system opens a port with both lines high; an ESP32's reset circuit
            # then does nothing.
            port.dtr = port.rts = True
            port.open()
        except (OSError, ValueError) as exc:
            raise PortError(explain_open(self.device_name, exc)) from exc
        self.serial: Any = port
        if not self._lines:
            self._lower_lines()
        self._buffer.clear()
        self.in_raw_repl = self.gone = False
        self._fd: int | None = None
        if sys.platform != "win32":
            with contextlib.suppress(AttributeError, OSError, ValueError):
                self._fd = port.fileno()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            super().close()

    def reopen(self, limit_s: float = RETURN_LIMIT_S) -> None:
        """Open the port again after it vanished, wherever it is now."""
        self.close()
        deadline = time.monotonic() + limit_s
        while True:
            try:
                if self._refind:
                    self.device_name = self._refind()
                self._open()
                return
            except PortError as exc:
                if time.monotonic() > deadline:
                    raise BoardGone(
                        f"the board did not come back within {limit_s:g} s: {exc.message}"
                    ) from exc
            time.sleep(0.1)

    @property
    def _has_lines(self) -> bool:
        return self._fd is None or self.device_name.startswith(("/dev/tty", "/dev/cu"))

    def _lower_lines(self) -> None:
        """Lower both, in the order that never leaves RTS alone high, which is a reset."""
        self._lines = False
        with contextlib.suppress(OSError, ValueError):
            self.serial.rts = False
            self.serial.dtr = False

    def reset_by_lines(self) -> bool:
        """Pulse the reset line as esptool does; False where the port has no lines."""
        if not self._has_lines:
            return False
        try:
            self.serial.dtr = False
            self.serial.rts = True
            time.sleep(0.1)
            self.serial.rts = False
            self.serial.dtr = self._lines
            self.serial.rts = self._lines
        except (OSError, ValueError):
            return False
        return True

    # Bytes.

    def write(self, data: bytes) -> None:
        """Send; BoardGone when the port is no longer there or takes nothing."""
        self._sent = True
        try:
            while data:
                done = self.serial.write(data)
                data = data[done:] if done else b""
        except serial.SerialTimeoutException as exc:
            raise BoardGone(
                f"{self.device_name} takes no more data; unplug the board and plug it back in"
            ) from exc
        except OSError as exc:
            raise self._gone(exc) from exc

    def _gone(self, reason: object) -> BoardGone:
        self.in_raw_repl = False
        self.gone = True
        return BoardGone(f"the board at {self.device_name} went away ({reason})")

    def _receive(self, limit_s: float) -> bool:
        """Read incoming bytes, waiting for the first at most `limit_s`; False when none came."""
        try:
            data = self._read_some(max(0.0, limit_s))
        except (OSError, TypeError) as exc:
            # pyserial raises a TypeError when the port is closed under it.
            raise self._gone(exc) from exc
        if not data:
            return False
        if self._sent:
            self._sent = False
            self.round_trips += 1
        self._buffer += data
        self.heard += data
        del self.heard[:-4096]
        return True

    def _read_some(self, limit_s: float) -> bytes:
        if self._fd is not None and not self.mounted:
            if not select.select([self._fd], [], [], limit_s)[0]:
                return b""
            data = os.read(self._fd, 65536)
            if not data:
                raise OSError("hung up")
            return data
        # No descriptor to wait on (rfc2217, Windows): the port's own timeout is the step.
        deadline = time.monotonic() + limit_s
        while True:
            waiting = self.serial.inWaiting()
            if waiting or not self.mounted:
                found = bytes(self.serial.read(waiting or 1) or b"")
                if found:
                    return found
            if time.monotonic() >= deadline:
                return b""
            if self.mounted:
                time.sleep(0.001)

    @property
    def number(self) -> int | None:
        """A descriptor for select; None where the port has none (rfc2217, Windows)."""
        return self._fd

    def wait(self, limit_s: float) -> bool:
        """Is there something to read, now or within `limit_s`?"""
        return bool(self._buffer) or self._receive(limit_s)

    def take(self) -> bytes:
        """Return the bytes received and not yet read."""
        data = bytes(self._buffer)
        self._buffer.clear()
        return data

    def read_available(self, limit_s: float) -> bytes:
        """Return the next bytes, waiting at most `limit_s` for the first."""
        self.wait(limit_s)
        return self.take()

    def read_one(self, limit_s: float) -> bytes:
        """The next byte; b"" when none comes."""
        if not self.wait(limit_s):
            return b""
        one = bytes(self._buffer[:1])
        del self._buffer[:1]
        return one

    def read_until(
        self,
        min_num_bytes: int,
        ending: bytes,
        timeout: float | None = 10,
        data_consumer: Callable[[bytes], object] | None = None,
        timeout_overall: float | None = None,
    ) -> bytes:
        """As mpremote's: read up to and with `ending`, or until the board is quiet for
        `timeout`."""
        overall = None if timeout_overall is None else time.monotonic() + timeout_overall
        data = bytearray()
        while True:
            if self._buffer:
                # The ending may begin in bytes taken before.
                kept = bytes(data[-len(ending) + 1 :]) if len(ending) > 1 else b""
                at = (kept + bytes(self._buffer)).find(ending)
                end = at + len(ending) - len(kept) if at >= 0 else len(self._buffer)
                part = bytes(self._buffer[:end])
                del self._buffer[:end]
                data += part
                if data_consumer:
                    data_consumer(part)
                    data = data[-len(ending) :]
                if at >= 0:
                    return bytes(data)
            wait = timeout if timeout is not None else 3600.0
            if overall is not None:
                wait = min(wait, overall - time.monotonic())
            if wait <= 0 or not self._receive(wait):
                return bytes(data)

    def expect(self, ending: bytes, limit_s: float, what: str) -> bytes:
        """Read up to `ending`; BoardSilent, which names it as `what`, when it does not come."""
        data = self.read_until(1, ending, timeout=limit_s, timeout_overall=limit_s)
        if not data.endswith(ending):
            shown = data[-200:].decode(errors="replace").strip()
            raise BoardSilent(
                f"the board at {self.device_name} does not answer: {what} did not come within "
                f"{limit_s:g} s" + (f"; it said: {shown}" if shown else "")
            )
        return data

    # The raw REPL.

    def enter_raw_repl(
        self, soft_reset: bool = False, timeout_overall: float = ENTER_LIMIT_S
    ) -> None:
        """Enter the raw prompt, even while the board is busy."""
        self._enter(timeout_overall)
        if soft_reset:
            self.soft_reset_raw()

    def _enter(self, limit_s: float) -> None:
        deadline = time.monotonic() + limit_s
        del self.heard[:]
        reset = False
        attempt = returns = 0
        while True:
            attempt += 1
            try:
                if self._attempt(attempt):
                    self.in_raw_repl = True
                    return
            except BoardGone:
                # Twice: once for a reset by our own Ctrl-C, once for a program that resets.
                returns += 1
                if returns > 2:
                    raise
                self.reopen()
            if attempt == _SILENT_TRIES and not self.heard and self._lines and self._has_lines:
                # The lines hold a board in reset whose reset circuit hangs on one of them.
                self._lower_lines()
            if attempt < ENTER_TRIES and time.monotonic() < deadline:
                continue
            if reset or not self.reset_by_lines():
                break
            # The last resort, where the port has reset lines: a reset, and Ctrl-C during the
            # start.
            reset = True
            attempt = 0
            deadline = time.monotonic() + RETURN_LIMIT_S
        raise BoardSilent(explain_silence(self.device_name, bytes(self.heard)))

    def _attempt(self, number: int) -> bool:
        """One try: Ctrl-C twice, Ctrl-A, and a nonce that only a raw prompt returns."""
        self._buffer.clear()
        if number % 4 == 0:
            # Ctrl-B leaves any odd mode; the filler satisfies a read stuck on the board.
            self.write(_FILLER + b"\x02")
        if number == (6 if self.heard else 3):
            # A program that uses Ctrl-C as a key may end at Ctrl-D.
            self.write(b"\x04")
        if self.heard.count(_RESET_SIGN) > 1:
            self._catch_boot_loop()
        self.write(b"\r\x03\x03")
        patience = min(0.25 * number, 2.0)
        if number > 1:
            # A program that cleans up after Ctrl-C may read the next bytes.
            while self._receive(0.05):
                patience = min(patience, 1.0)
        self.write(b"\r\x01")
        found = self.read_until(1, RAW_PROMPT, timeout=patience, timeout_overall=patience)
        if number > 1 or any(word in self.heard for word in _STOPPED):
            # A prompt without a program answers the first try.
            self.interrupted = True
        if not found.endswith(RAW_PROMPT):
            return False
        nonce = secrets.token_hex(4).encode()
        self.write(b"print('%s')\x04" % nonce)
        answer = nonce + b"\r\n\x04\x04>"
        return self.read_until(1, answer, timeout=1.0, timeout_overall=2.0).endswith(answer)

    def _catch_boot_loop(self) -> None:
        """The board restarts again and again: send Ctrl-C at the moment its program starts."""
        deadline = time.monotonic() + _BOOT_LOOP_S
        del self.heard[:]
        while time.monotonic() < deadline and not self.heard.endswith(FRIENDLY_PROMPT):
            self.write(b"\x03")
            self._receive(0.003)
        self._buffer.clear()

    def exit_raw_repl(self) -> None:
        self.write(b"\r\x02")
        self.in_raw_repl = False

    def soft_reset_raw(self) -> None:
        """A fresh interpreter at the raw prompt; boot.py runs, main.py does not."""
        self.write(b"\x04")
        self.expect(b"soft reboot\r\n", 5.0, "the soft reset")
        self.in_raw_repl = False
        data = self.read_until(1, RAW_PROMPT, timeout=10.0, timeout_overall=10.0)
        if data.endswith(RAW_PROMPT):
            self.in_raw_repl = True
        else:
            # boot.py may hang: Ctrl-C ends that too.
            self._enter(ENTER_LIMIT_S)

    def exec_raw_no_follow(self, command: str | bytes) -> None:
        """Start a program on the board. The caller has read the prompt already, here and after
        `follow`."""
        code = command.encode() if isinstance(command, str) else command
        if self.use_raw_paste and len(code) > 64:
            try:
                if self._raw_paste(code):
                    return
            except BoardGone:
                raise
            except BoardSilent:
                # Some USB ports garble raw paste: this connection does without it from now on.
                self._enter(ENTER_LIMIT_S)
            self.use_raw_paste = False
        self._plain(code)

    def _raw_paste(self, code: bytes) -> bool:
        self.write(b"\x05A\x01")
        sign = self._exactly(2)
        if sign == b"R\x00":
            return False
        if sign != b"R\x01":
            raise BoardSilent(f"raw paste was answered by {sign!r}")
        (step,) = struct.unpack("<H", self._exactly(2))
        room = step
        while code:
            while room == 0 or self._buffer or self._receive(0):
                sign = self._exactly(1)
                if sign == b"\x01":
                    room += step
                elif sign == b"\x04":
                    # It wants no more: a syntax error, reported in the answer.
                    self.write(b"\x04")
                    return True
                else:
                    raise BoardSilent(f"raw paste was answered by {sign!r}")
            self.write(code[:room])
            code, room = code[room:], max(0, room - len(code))
        self.write(b"\x04")
        self.expect(b"\x04", 5.0, "the end of raw paste")
        return True

    def _exactly(self, count: int) -> bytes:
        while len(self._buffer) < count:
            if not self._receive(3.0):
                raise BoardSilent(f"the board at {self.device_name} stopped answering")
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def _plain(self, code: bytes) -> None:
        # No flow control here: a pause lets the board read a piece before the next.
        for start in range(0, len(code), 256):
            self.write(code[start : start + 256])
            if len(code) > 256:
                time.sleep(0.01)
        self.write(b"\x04")
        self.expect(b"OK", 5.0, "`OK`")

    def exec_raw(
        self,
        command: str | bytes,
        timeout: float | None = 10,
        data_consumer: Callable[[bytes], object] | None = None,
    ) -> tuple[bytes, bytes]:
        """Run a program; `timeout` is how long the board may be quiet meanwhile."""
        self.exec_raw_no_follow(command)
        return self.follow(timeout, data_consumer)

    def follow(
        self, timeout: float | None, data_consumer: Callable[[bytes], object] | None = None
    ) -> tuple[bytes, bytes]:
        """The program's output and its traceback; the next prompt is read as well."""
        consumer = None
        if data_consumer:
            given = data_consumer

            def consumer(data: bytes) -> None:
                given(data.replace(b"\x04", b""))

        output = self.read_until(1, b"\x04", timeout=timeout, data_consumer=consumer)
        if output.endswith(b"\x04"):
            error = self.read_until(1, b"\x04>", timeout=timeout)
            if error.endswith(b"\x04>"):
                return output[:-1], error[:-2]
        self.in_raw_repl = False
        raise BoardSilent(busy_sentence(self.device_name, timeout))

    def run(self, code: str, limit_s: float = 10.0) -> str:
        """Run code and return its output; BoardRefused with the exception it raises."""
        output, error = self.exec_raw(code, limit_s)
        if error:
            raise refusal(error.decode(errors="replace"))
        return output.decode(errors="replace").replace("\r\n", "\n")

    @contextlib.contextmanager
    def stopping(self) -> Iterator[None]:
        """Pass Ctrl-C on this side on to the board, then raise it here."""
        try:
            yield
        except KeyboardInterrupt:
            with contextlib.suppress(BoardSilent):
                self._enter(ENTER_LIMIT_S)
            raise


def refusal(traceback: str) -> BoardRefused:
    """Explain the board's exception in a sentence."""
    last = traceback.strip().splitlines()[-1:] or ["an exception without a text"]
    for pattern, meaning in _MEANINGS:
        if re.search(pattern, last[0]):
            return BoardRefused(f"{meaning} ({last[0]})", traceback)
    return BoardRefused(f"the board raised {last[0]}", traceback)


_MEANINGS = [
    (r"ENOSPC|OSError: 28\b", "the board's flash is full; `tenner doctor` lists large files"),
    (r"EROFS|OSError: 30\b", "the board's file system is read-only"),
    (r"MemoryError", "the board has no memory left for that; reset it and try again"),
    (r"ENODEV|OSError: 19\b", "the board has no file system mounted; `tenner flash` makes one"),
]
