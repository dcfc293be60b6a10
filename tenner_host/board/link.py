"""`Board`: one connection to a board, and the operations on its files and its agent."""

from __future__ import annotations

import ast
import contextlib
import functools
import re
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tenner_host.board import ports, seen
from tenner_host.board.info import Info
from tenner_host.board.transfer import Progress, get_files, put_files
from tenner_host.board.transport import Transport
from tenner_host.errors import BoardGone, BoardRefused, BoardSilent, CommandError
from tenner_host.overlays import translate

_ONBOARD = Path(__file__).parent / "onboard"
#: Long enough for any sync, short enough that a board that lost its link soon restarts.
GUARD_S = 120
_START_LIMIT_S = 15.0
#: The agent's first line, or its reason for not starting.
_STARTED = re.compile(r"boot +(tenner \S+ on \S+ \(.*start\))")
_REFUSED = re.compile(r"^ *\S+ config +(.+)$", re.MULTILINE)
_AT_PROMPT = "\n>>> "


@dataclass(frozen=True)
class Entry:
    """A file on the board: its size and the start of its sha256 (see `short_hash`)."""

    size: int
    hash: str


@dataclass(frozen=True)
class Started:
    """The outcome of a restart."""

    running: bool
    text: str
    #: Everything printed meanwhile.
    heard: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"running": self.running, "text": self.text}


@functools.cache
def onboard(name: str) -> str:
    """Code for the board, without comments and with narrow indents: every call sends all of it."""
    lines = []
    for line in (_ONBOARD / f"{name}.py").read_text(encoding="utf-8").splitlines():
        body = line.lstrip(" ")
        if body and not body.startswith("#"):
            lines.append(" " * ((len(line) - len(body)) // 4) + body)
    return "\n".join(lines) + "\n"


class Board:
    """A board whose raw REPL has been entered. Close it, or use it in a `with` block."""

    #: Is it one of tenner_host/linux, over ssh and without a REPL?
    on_linux = False

    def __init__(self, transport: Transport, port: ports.Port) -> None:
        self.transport = transport
        self.port = port
        self._loaded: set[str] = set()
        self._restarted = False
        self._guard_s = 0

    def __enter__(self) -> Board:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the port. An agent that ran before runs again."""
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
        """Did a program run before this connection?"""
        return self.transport.interrupted

    # Code.

    def need_repl(self) -> None:
        """Raise CommandError on a board without a REPL."""

    def run(self, code: str, limit_s: float = 10.0) -> str:
        """Run Python on the board and return its output; the board may be quiet for `limit_s`."""
        return self.transport.run(code, limit_s)

    def evaluate(self, expression: str, limit_s: float = 10.0) -> Any:
        """The value of an expression that is a plain literal when printed."""
        return ast.literal_eval(self.run(f"print(repr({expression}))", limit_s).strip())

    def call(self, module: str, call: str, limit_s: float = 20.0) -> str:
        """Call a function of `onboard/`; its first use sends the module."""
        code = call + "\n"
        if module not in self._loaded:
            code = onboard(module) + code
        output = self.run(code, limit_s)
        self._loaded.add(module)
        return output

    def load(self, module: str) -> None:
        """Send a module of `onboard/` unless the board has it."""
        if module not in self._loaded:
            self.call(module, "")

    def info(self) -> Info:
        """Return the board's identity and free space, in one call."""
        return self._noted(_info(self.call("tree", "t_info()")))

    def _noted(self, info: Info) -> Info:
        seen.note(self.port, info)
        return info

    def survey(self, roots: list[str]) -> tuple[Info, dict[str, Entry], set[str]]:
        """Return its info, every file below the roots, and the folders, in one call."""
        output = self.call("tree", f"t_info()\nt_tree({roots!r})", 60.0)
        first, _, rest = output.partition("\n")
        files, folders = _entries(rest)
        return self._noted(_info(first)), files, folders

    def manifest(self, roots: list[str]) -> dict[str, Entry]:
        """Every file below the roots with its size and hash, in one call."""
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
        """Write files; each is complete, verified and renamed into place, or absent.

        `staged` skips the renaming, for names that nobody reads before they are complete.
        """
        try:
            self._put(files, deflate, staged, progress)
        except BoardRefused as exc:
            if "MemoryError" not in exc.traceback:
                raise
            # Objects of the stopped agent still take memory.
            self.fresh()
            self._put(files, deflate, staged, progress)

    def _put(
        self, files: dict[str, bytes], deflate: bool, staged: bool, progress: Progress | None
    ) -> None:
        self.load("files")
        deflate = deflate and self.evaluate("DeflateIO is not None")
        put_files(self.transport, files, deflate=deflate, staged=staged, progress=progress)

    def read_files(self, paths: list[str], progress: Progress | None = None) -> dict[str, bytes]:
        """Read files; leave out missing ones."""
        self.load("files")
        return get_files(self.transport, paths, progress)

    def make_folders(self, paths: list[str]) -> None:
        """Make folders and their parents; existing ones stay."""
        if paths:
            self.call("files", "".join(f"t_folder({path!r})\n" for path in paths))

    def remove(self, paths: list[str]) -> list[str]:
        """Remove files and empty folders; return those that still exist."""
        left: list[str] = []
        for start in range(0, len(paths), 50):
            some = paths[start : start + 50]
            for line in self.call("files", f"t_remove({some!r})").splitlines():
                left.append(ast.literal_eval(line)[0])
        return left

    # Life.

    def guard(self, seconds: int = GUARD_S) -> None:
        """Set a watchdog to `seconds`, before work that ends in a restart: if the link breaks, the
        watchdog restarts the board. A watchdog that is armed already gets the longer time.
        """
        self._guard_s = seconds
        self.run(
            "try:\n import machine\n"
            f" try:\n  t_wdt = machine.WDT(timeout={seconds * 1000})\n"
            " except ValueError:\n  t_wdt = machine.WDT(timeout=8000)\n"
            "except (ImportError, AttributeError):\n t_wdt = None\n"
        )

    def leave(self, *, start: bool) -> None:
        """Go back to the friendly prompt, and start main.py from there if wanted."""
        self.transport.exit_raw_repl()
        self.transport.read_until(1, b">>> ", timeout=2.0, timeout_overall=3.0)
        if start:
            self.transport.write(b"\x04")
            self.transport.read_until(1, b"soft reboot\r\n", timeout=3.0, timeout_overall=5.0)
            self._restarted = True
        self._loaded.clear()

    def fresh(self) -> None:
        """Start a new interpreter without the old one's imports. Wi-Fi stays connected."""
        self._loaded.clear()
        self.transport.soft_reset_raw()
        if self._guard_s:
            # The code that fed the watchdog is gone.
            self.guard(self._guard_s)

    def restart(self, limit_s: float = _START_LIMIT_S) -> Started:
        """Reset the chip and see whether the agent starts."""
        self._restarted = True
        self._loaded.clear()
        self.transport.in_raw_repl = False
        try:
            self.transport.exec_raw_no_follow("import machine\nmachine.reset()")
            return self._watch_start(limit_s)
        except BoardGone:
            self.transport.reopen()
            return self._watch_start(limit_s)

    def _watch_start(self, limit_s: float) -> Started:
        deadline = time.monotonic() + limit_s
        text = ""
        while (left := deadline - time.monotonic()) > 0:
            text += self.transport.read_available(left).decode(errors="replace")
            text = text.replace("\r\n", "\n")[-8192:]
            if found := _STARTED.search(text):
                return Started(True, found[1], text)
            if text.endswith(_AT_PROMPT):
                return Started(False, _why_stopped(translate(text)), text)
        return Started(False, f"it said nothing of the agent within {limit_s:g} s")


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
