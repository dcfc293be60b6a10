"""What goes wrong for an owner: one sentence each, no traceback, and an exit status a script can use."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import rich_click as click


class CommandError(click.ClickException):
    """An owner's mistake or a board's refusal. What, where, what to do; exit status 1."""


class PortError(CommandError):
    """No port, several to choose from, no permission, or another program has it."""

    exit_code = 3


class BoardSilent(CommandError):
    """The port is there, but no MicroPython answers behind it."""

    exit_code = 4


class BoardGone(BoardSilent):
    """The board went away in the middle of something."""


class BoardRefused(CommandError):
    """Code on the board raised an exception; `traceback` has all of it."""

    def __init__(self, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.traceback = traceback


class Conflict(CommandError):
    """Something changed on both sides, and nobody was there to choose."""

    exit_code = 5


class TroubleFound(CommandError):
    """A check-up found something wrong."""

    exit_code = 7


def unreached(host: str, problem: BaseException) -> str | None:
    """What to say where this computer has no address for `host`; None when the problem is another."""
    if any(isinstance(one, socket.gaierror) for one in _behind(problem)):
        return f"this computer cannot find {host}: is it online?"
    return None


def _behind(problem: BaseException | None) -> Iterator[BaseException]:
    """An exception, and those it came from; urllib keeps its own in `reason`."""
    while problem is not None:
        yield problem
        reason = getattr(problem, "reason", None)
        inner = reason if isinstance(reason, BaseException) else None
        problem = inner or problem.__cause__ or problem.__context__
