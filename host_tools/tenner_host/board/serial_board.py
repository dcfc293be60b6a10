"""`SerialBoard`: a board at a serial port, through its raw REPL."""

from __future__ import annotations

import ast
import contextlib
import re
import time
from collections.abc import Callable
from typing import TypeVar

from tenner_host.board import board_cache, ports
from tenner_host.board.board import AT_REPL, GUARD_S, Board, Entry, Started, onboard
from tenner_host.board.info import Info
from tenner_host.board.port_errors import explain_silence
from tenner_host.board.transfer import Progress, get_files, put_files
from tenner_host.board.transport import Transport
from tenner_host.errors import BoardGone, BoardRefused, BoardSilent, CommandError
from tenner_host.overlay_maps import translate

_Result = TypeVar("_Result")

_START_LIMIT_S = 40.0
#: A board that goes on printing, as a slow one does, gets so many times that.
_START_LIMITS = 3
#: The agent's first line, or its reason for not starting.
_STARTED = re.compile(r"boot +(tenner \S+ on \S+ \(.*start\))")
_REFUSED = re.compile(r"^ *\S+ config +(.+)$", re.MULTILINE)
_AT_PROMPT = "\n>>> "
_PROMPT = b">>> "
#: This start was no bad one (firmware/tenner/runtime/boot.py), although it ends here.
_RESET = """import machine, os
try:
 os.remove("/state/starts")
except OSError:
 pass
machine.reset()"""
_PROMPT_LIMIT_S = 0.4


class SerialBoard(Board):
    """A board whose raw REPL `enter` enters."""

    has_repl = True
    has_console = True
    joins_wifi = True

    def __init__(self, transport: Transport, port: ports.Port) -> None:
        self.transport = transport
        self.port = port
        self._loaded: set[str] = set()
        self._restarted = False
        self._guard_s = 0

    @classmethod
    def open(cls, port: ports.Port) -> SerialBoard:
        return cls(cls.console(port), port)

    @classmethod
    def console(cls, port: ports.Port) -> Transport:
        return Transport(port.device, refind=lambda: ports.refind(port))

    @classmethod
    def need_loader(cls, port: ports.Port) -> None:
        """Does nothing: every chip has one."""

    @classmethod
    def peek(cls, port: ports.Port) -> str:
        """At the REPL, or running a program; a blank line disturbs neither."""
        transport = Transport(port.device)
        try:
            transport.write(b"\r")
            heard = transport.read_until(
                1, _PROMPT, timeout=_PROMPT_LIMIT_S, timeout_overall=_PROMPT_LIMIT_S
            )
        finally:
            transport.close()
        if heard.endswith(_PROMPT):
            return AT_REPL
        if b"waiting for download" in heard or b"invalid header" in heard:
            return explain_silence(port.device, heard)
        return (
            "shows no prompt: its agent runs (`tenner status` asks it), or it has no MicroPython "
            "yet (`tenner flash`)"
        )

    def enter(self) -> None:
        try:
            self.transport.enter_raw_repl()
        except BaseException:
            self.transport.close()
            raise

    def regain(self, limit_s: float) -> bool:
        if self.transport.gone:
            return False
        self.transport.enter_raw_repl(timeout_overall=limit_s)
        return True

    def close(self) -> None:
        try:
            if not self._restarted and not self.transport.gone:
                with contextlib.suppress(BoardSilent):
                    if not self.transport.in_raw_repl:
                        self.transport.enter_raw_repl()
                    self.leave(start=self.was_running)
        finally:
            self.transport.close()

    @property
    def was_running(self) -> bool:
        return self.transport.interrupted

    # Code.

    def repl(self) -> Transport:
        return self.transport

    def hear(self, limit_s: float) -> str:
        return self.transport.read_available(limit_s).decode(errors="replace")

    def run(self, code: str, limit_s: float = 10.0) -> str:
        return self.transport.run(code, limit_s)

    def call(self, module: str, call: str, limit_s: float = 20.0) -> str:
        code = call + "\n"
        if module not in self._loaded:
            code = onboard(module) + code
        output = self.run(code, limit_s)
        self._loaded.add(module)
        return output

    def load(self, module: str) -> None:
        if module not in self._loaded:
            self.call(module, "")

    def info(self) -> Info:
        return self._noted(_info(self.call("tree", "t_info()")))

    def _noted(self, info: Info) -> Info:
        board_cache.note(self.port, info)
        return info

    def survey(self, roots: list[str]) -> tuple[Info, dict[str, Entry], set[str]]:
        output = self.call("tree", f"t_info()\nt_tree({roots!r})", 60.0)
        first, _, rest = output.partition("\n")
        files, folders = _entries(rest)
        return self._noted(_info(first)), files, folders

    def manifest(self, roots: list[str]) -> dict[str, Entry]:
        return _entries(self.call("tree", f"t_tree({roots!r})", 60.0))[0]

    # Files.

    def write_files(
        self,
        files: dict[str, bytes],
        *,
        deflate: bool = True,
        staged: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._with_room(lambda: self._put(files, deflate, staged, progress))

    def _with_room(self, work: Callable[[], _Result]) -> _Result:
        """Return `work()`; where the board lacks memory for it, start MicroPython afresh and call
        it once more: objects of a stopped agent take memory."""
        try:
            return work()
        except BoardRefused as exc:
            if "MemoryError" not in exc.traceback:
                raise
            self.fresh()
            return work()

    def _put(
        self, files: dict[str, bytes], deflate: bool, staged: bool, progress: Progress | None
    ) -> None:
        self.load("files")
        deflate = deflate and self.evaluate("DeflateIO is not None")
        put_files(self.transport, files, deflate=deflate, staged=staged, progress=progress)

    def read_files(self, paths: list[str], progress: Progress | None = None) -> dict[str, bytes]:
        return self._with_room(lambda: self._get(paths, progress))

    def _get(self, paths: list[str], progress: Progress | None) -> dict[str, bytes]:
        self.load("files")
        return get_files(self.transport, paths, progress)

    def make_folders(self, paths: list[str]) -> None:
        if paths:
            self.call("files", "".join(f"t_folder({path!r})\n" for path in paths))

    def remove(self, paths: list[str]) -> list[str]:
        left: list[str] = []
        for start in range(0, len(paths), 50):
            some = paths[start : start + 50]
            for line in self.call("files", f"t_remove({some!r})").splitlines():
                left.append(ast.literal_eval(line)[0])
        return left

    # Life.

    def guard(self, seconds: int = GUARD_S) -> None:
        self._guard_s = seconds
        self.run(
            "try:\n import machine\n"
            f" try:\n  t_wdt = machine.WDT(timeout={seconds * 1000})\n"
            " except ValueError:\n  t_wdt = machine.WDT(timeout=8000)\n"
            "except (ImportError, AttributeError):\n t_wdt = None\n"
        )

    def leave(self, *, start: bool) -> None:
        self.transport.exit_raw_repl()
        self.transport.read_until(1, b">>> ", timeout=2.0, timeout_overall=3.0)
        if start:
            self.transport.write(b"\x04")
            self.transport.read_until(1, b"soft reboot\r\n", timeout=3.0, timeout_overall=5.0)
            self._restarted = True
        self._loaded.clear()

    def fresh(self) -> None:
        self._loaded.clear()
        self.transport.soft_reset_raw()
        if self._guard_s:
            # The code that fed the watchdog is gone.
            self.guard(self._guard_s)

    def restart(self, limit_s: float = 0.0) -> Started:
        """Reset the chip and see whether the agent starts."""
        limit_s = limit_s or _START_LIMIT_S
        self._restarted = True
        self._loaded.clear()
        self.transport.in_raw_repl = False
        try:
            self.transport.exec_raw_no_follow(_RESET)
            return self._watch_start(limit_s)
        except BoardGone:
            self.transport.reopen()
            return self._watch_start(limit_s)

    def _watch_start(self, limit_s: float) -> Started:
        deadline = time.monotonic() + limit_s
        last = time.monotonic() + limit_s * _START_LIMITS
        text = ""
        while (left := deadline - time.monotonic()) > 0:
            heard = self.transport.read_available(left).decode(errors="replace")
            if heard:
                deadline = min(time.monotonic() + limit_s, last)
            text += heard
            text = text.replace("\r\n", "\n")[-8192:]
            if found := _STARTED.search(text):
                return Started(True, found[1], text)
            if text.endswith(_AT_PROMPT):
                return Started(False, _why_stopped(translate(text)), text)
        return Started(False, f"it said nothing about the agent within {limit_s:g} s")


def _why_stopped(text: str) -> str:
    """The reason, in a sentence, that a start ended at the prompt."""
    refused = _REFUSED.search(text)
    if refused:
        return refused[1].strip()
    lines = [line for line in text.strip().splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if line.startswith("Traceback"):
            last = next((one for one in lines[number + 1 :] if not one.startswith(" ")), line)
            return f"main.py failed: {last}"
    return "no agent installed (board is at the REPL)"


def _info(line: str) -> Info:
    values = ast.literal_eval(line.strip())
    version, mpy, machine, build, platform, agent, block, total, free, *rest = values
    heap_free, heap_used, device, cause, deflate, image = rest
    return Info(
        micropython=".".join(str(part) for part in version[:3] if part != ""),
        mpy=mpy,
        machine=machine,
        build=build,
        platform=platform,
        agent=agent,
        block=block,
        flash_total=total * block,
        flash_free=free * block,
        heap_free=heap_free,
        heap_used=heap_used,
        device_id=device.hex() if device else None,
        reset_cause=cause,
        deflate=deflate,
        image=image,
    )


def _entries(text: str) -> tuple[dict[str, Entry], set[str]]:
    files: dict[str, Entry] = {}
    folders: set[str] = set()
    folder = ""
    for line in text.splitlines():
        first, _, rest = line.partition(" ")
        try:
            if first == "/":
                folder = str(ast.literal_eval(rest))
                if folder:
                    folders.add(folder)
                    folder = folder.rstrip("/") + "/"
            else:
                seen, _, name = rest.partition(" ")
                files[folder + str(ast.literal_eval(name))] = Entry(int(first), seen)
        except (ValueError, SyntaxError) as exc:
            raise CommandError(f"the board's list of files has a line {line[:80]!a}") from exc
    return files, folders
