"""Start the interpreter that emulates the board, with its terminal, pipes and shared page."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import termios
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tenner_sim.vboard.console import inner_terminal
from tenner_sim.vboard.shared import SharedPage

#: Heap of the onboard modules, by word size. On a chip they are C and take no heap, so the
#: interpreter gets this much more than the board's nominal heap, and `gc` counts as much less. For
#: 32 bits they take SHARED_NAMES more: tables of names that the firmware needs on a chip, too.
OVERLAY_HEAP = {64: 61 * 1024, 32: 52 * 1024}
SHARED_NAMES = {64: 0, 32: 5 * 1024}

# machine.reset_cause() on an ESP32.
POWER_ON, HARD, WATCHDOG, DEEP_SLEEP, SOFT = 1, 2, 3, 4, 5

#: Linux only. Looked up here, because a child should not do so between fork and exec.
_PRCTL = getattr(ctypes.CDLL(None), "prctl", None) if os.name == "posix" else None
_SET_DEATH_SIGNAL = 1


@dataclass(frozen=True)
class Runtime:
    """The kind of interpreter, and the size of the board."""

    kind: str  # "micropython" or "cpython"
    argv: tuple[str, ...]
    bits: int
    heap: int
    onboard: Path
    environment: dict[str, str]


class Heard(Enum):
    """The outcome of a Ctrl-C."""

    NOW = 1
    #: Not now; try again.
    LATER = 2
    #: No code runs that it could stop, and a prompt will read the byte.
    NOT = 3


class Child:
    """One run of the interpreter, from a reset to the next."""

    def __init__(
        self,
        runtime: Runtime,
        page: SharedPage,
        flash: Path | None,
        vfs: tuple[int, int],
        mode: str,
        cause: int,
    ) -> None:
        self.master, slave = inner_terminal()
        self.requests, request_end = os.pipe()
        token_end, self._tokens = os.pipe()
        os.set_blocking(self.requests, False)
        # Two descriptions of the page: their file positions must not disturb each other.
        page_fd = os.open(page.path, os.O_RDWR)
        counters_fd = os.open(page.path, os.O_RDWR)
        flash_fd = os.open(flash or os.devnull, os.O_RDWR)
        given = (request_end, token_end, page_fd, counters_fd, flash_fd)
        self._of_flash = {counters_fd, flash_fd}

        supervisor = os.getpid()

        def prepare() -> None:
            # With the inner terminal as controlling terminal the hang-up ends the interpreter when
            # the supervisor dies for any reason.
            os.setsid()
            # The supervisor ignores SIGINT, and a caller under nohup SIGHUP; a child would inherit
            # both.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            # Where possible, by a signal that no code in the interpreter can catch.
            if _PRCTL is not None:
                _PRCTL(_SET_DEATH_SIGNAL, signal.SIGKILL)
                if os.getppid() != supervisor:
                    os._exit(1)

        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": os.environ.get("HOME", "/"),
            "TZ": "UTC0",
            "MICROPYPATH": f"{runtime.onboard}:.frozen",
            "TENNER_VBOARD": " ".join(str(number) for number in (*given, *vfs)),
            "TENNER_VBOARD_START": mode,
            "TENNER_VBOARD_CAUSE": str(cause),
            "TENNER_VBOARD_HEAP": str(OVERLAY_HEAP[runtime.bits]),
            **runtime.environment,
        }
        try:
            self.process = subprocess.Popen(
                _command(runtime, environment),
                stdin=slave,
                stdout=slave,
                stderr=slave,
                pass_fds=given,
                preexec_fn=prepare,
                env=environment,
            )
        finally:
            for number in (slave, *given):
                os.close(number)

    def answer(self, number: int) -> None:
        """Notify the interpreter that the answer to question `number` is in the page."""
        try:
            os.write(self._tokens, bytes([number]))
        except BrokenPipeError:
            return  # it died meanwhile; the request pipe reports its exit

    def interrupt(self, *, anywhere: bool) -> Heard:
        """Ctrl-C: stop the running code, if there is any.

        MicroPython catches SIGINT exactly while it runs code, and dies of it at any other time. So
        this halts it, inspects it, and sends the signal only if it would catch it. (The terminal
        cannot decide this: the raw REPL leaves its settings alone.)

        It then raises KeyboardInterrupt at its current place. In its allocator that leaves a lock
        held forever, and in the file system a cache that claims data it has not read yet. So
        unless `anywhere` is set, the signal is sent only while it is in a system call, and not in
        one for the flash.
        """
        pid = self.process.pid
        process = Path(f"/proc/{pid}")
        self.process.send_signal(signal.SIGSTOP)
        state = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        if state is None or state.si_code != os.CLD_STOPPED:
            return Heard.NOT  # it has ended; the request pipe will report it
        status = (process / "status").read_text()
        masks = dict(
            line.split(":\t", 1) for line in status.splitlines() if line.startswith("Sig")
        )
        heard = Heard.NOT
        if int(masks["SigCgt"], 16) & (1 << (signal.SIGINT - 1)):
            heard = Heard.LATER if not anywhere and is_busy(process, self._of_flash) else Heard.NOW
        if heard is Heard.NOW:
            self.process.send_signal(signal.SIGINT)
        self.process.send_signal(signal.SIGCONT)
        return heard

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        for number in (self.master, self.requests, self._tokens):
            os.close(number)


def is_busy(process: Path, of_flash: set[int]) -> bool:
    """Is a halted process in its own code or in a flash operation, and not in another system
    call?"""
    try:
        call = (process / "syscall").read_text().split()
    except OSError:
        return False  # a kernel without this file
    return call[0] == "-1" or (len(call) > 1 and int(call[1], 16) in of_flash)


def _command(runtime: Runtime, environment: dict[str, str]) -> list[str]:
    if runtime.kind == "cpython":
        source = runtime.onboard
        environment["PYTHONPATH"] = os.pathsep.join([str(source / "cpython"), str(source)])
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        return [*(runtime.argv or (sys.executable,)), "-u", str(source / "cpython" / "_boot.py")]
    heap = runtime.heap + OVERLAY_HEAP[runtime.bits]
    # Without -i a failed start ends the interpreter; with it, the prompt would be on the host's
    # files. `_boot` asks for the prompt once the board is up.
    start = "import _boot; _boot.start(globals())"
    return [*runtime.argv, "-X", f"heapsize={heap}", "-c", start]
