"""`Board`: one connection to a board, and the operations on its files and its agent.

serial_board.py has the board with a REPL, linux_board.py the one behind ssh; opening.py chooses.
"""

from __future__ import annotations

import ast
import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, TypeVar

from tenner_host.board.info import Info
from tenner_host.board.ports import Port
from tenner_host.board.transfer import Progress
from tenner_host.board.transport import Transport
from tenner_host.errors import Conflict

_ONBOARD = Path(__file__).parent / "onboard"
#: Long enough for any sync, short enough that a board that lost its link soon restarts.
GUARD_S = 120
#: The answer of `Board.peek` for a board whose REPL waits.
AT_REPL = "at the REPL"

_OWN = "/workspace/"

B = TypeVar("B", bound="Board")


@dataclass(frozen=True)
class Entry:
    """A file on the board: its size and the start of its sha256 (see `short_hash`)."""

    size: int
    hash: str


def expected(path: str, seen: Mapping[str, str]) -> str:
    """The hash that a file must still have so that it may be replaced, "-" for an absent one, "*"
    for any; `seen` are those of the last survey. The agent changes files of the workspace only."""
    return seen.get(path, "-") if path.startswith(_OWN) else "*"


def refuse_changed(paths: list[str]) -> None:
    """Raise Conflict if there are files that the agent has changed since the survey."""
    if paths:
        raise Conflict(
            f"the agent has just changed {', '.join(paths)}, so it was left unchanged; "
            "run it again"
        )


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


class Board(ABC):
    """A connection to a board. Close it, or use it in a `with` block."""

    #: It has a REPL, whose line shows the agent's output too.
    has_repl: ClassVar[bool]
    #: Its agent has a console to open, for chat and log.
    has_console: ClassVar[bool]
    #: Its agent joins Wi-Fi; otherwise the network is its system's business.
    joins_wifi: ClassVar[bool]
    #: The firmware's module for such a board, if a computer can import it: it refuses settings.
    port_module: ClassVar[str | None] = None

    port: Port

    # Before the connection.

    @classmethod
    @abstractmethod
    def open(cls: type[B], port: Port) -> B:
        """Open the connection, without disturbing a program of the board."""

    @classmethod
    @abstractmethod
    def console(cls, port: Port) -> Transport:
        """Open the agent's console, without disturbing it."""

    @classmethod
    @abstractmethod
    def peek(cls, port: Port) -> str:
        """Return its state, as far as it can be told without disturbing a program: AT_REPL, or a
        sentence."""

    @classmethod
    @abstractmethod
    def need_loader(cls, port: Port) -> None:
        """Raise CommandError if no chip's loader is at this port, which could write an image."""

    # The connection.

    @abstractmethod
    def enter(self) -> None:
        """Make the board ready for commands; on a failure close the connection."""

    def __enter__(self: B) -> B:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Release the connection. An agent that ran before runs again."""

    @property
    @abstractmethod
    def was_running(self) -> bool:
        """Did this connection stop a program?"""

    @abstractmethod
    def regain(self, limit_s: float) -> bool:
        """Reach the board again after a failure; False where the failure left nothing to undo, or
        the board is gone."""

    # Code.

    @abstractmethod
    def repl(self) -> Transport:
        """Return the line with the raw REPL; CommandError on a board without one."""

    @abstractmethod
    def hear(self, limit_s: float) -> str:
        """Return the agent's next output on the line; wait at most `limit_s` for it."""

    @abstractmethod
    def run(self, code: str, limit_s: float = 10.0) -> str:
        """Run Python on the board and return its output; the board may be quiet for `limit_s`."""

    def evaluate(self, expression: str, limit_s: float = 10.0) -> Any:
        """The value of an expression that is a plain literal when printed."""
        return ast.literal_eval(self.run(f"print(repr({expression}))", limit_s).strip())

    @abstractmethod
    def load(self, module: str) -> None:
        """Send a module of `onboard/` unless the board has it."""

    @abstractmethod
    def call(self, module: str, call: str, limit_s: float = 20.0) -> str:
        """Call a function of `onboard/`; its first use sends the module."""

    @abstractmethod
    def fresh(self) -> None:
        """Start a new interpreter without the old one's imports. Wi-Fi stays connected."""

    # Identity.

    @abstractmethod
    def info(self) -> Info:
        """Return the board's identity and free space, in one call."""

    @abstractmethod
    def survey(self, roots: list[str]) -> tuple[Info, dict[str, Entry], set[str]]:
        """Return its info, every file below the roots, and the folders, in one call."""

    @abstractmethod
    def manifest(self, roots: list[str]) -> dict[str, Entry]:
        """Every file below the roots with its size and hash, in one call."""

    # Files.

    @abstractmethod
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

    @abstractmethod
    def read_files(self, paths: list[str], progress: Progress | None = None) -> dict[str, bytes]:
        """Read files; leave out missing ones."""

    @abstractmethod
    def make_folders(self, paths: list[str]) -> None:
        """Make folders and their parents; existing ones stay."""

    @abstractmethod
    def remove(self, paths: list[str]) -> list[str]:
        """Remove files and empty folders; return those that still exist."""

    # Life.

    @abstractmethod
    def guard(self, seconds: int = GUARD_S) -> None:
        """Set a watchdog to `seconds`, before work that ends in a restart: if the link breaks, the
        watchdog restarts the board. A watchdog that is armed already gets the longer time.
        """

    @abstractmethod
    def leave(self, *, start: bool) -> None:
        """Go back to the friendly prompt, and start main.py from there if wanted."""

    @abstractmethod
    def restart(self, limit_s: float = 0.0) -> Started:
        """Restart the agent and see whether it runs; 0 waits as long as such a board needs."""
