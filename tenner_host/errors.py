"""Errors for owners: one sentence each, no traceback, and an exit status for scripts."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import rich_click as click


class CommandError(click.ClickException):
    """An owner's mistake or a board's refusal: the fault, its place and the remedy; exit status
    1."""


class PortError(CommandError):
    """No port, several to choose from, no permission, or another program has it."""

    exit_code = 3


class BoardSilent(CommandError):
    """The port is there, but no MicroPython answers behind it."""

    exit_code = 4


class BoardGone(BoardSilent):
    """The board went away during an operation."""


class BoardRefused(CommandError):
    """Code on the board raised an exception; `traceback` has all of it."""

    def __init__(self, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.traceback = traceback


class Conflict(CommandError):
    """A file changed on both sides, and nobody was there to choose."""

    exit_code = 5


class ChecksFailed(CommandError):
    """A check failed."""

    exit_code = 7


def then(message: str, more: str) -> str:
    """A sentence and one that follows it; a question keeps its mark."""
    return f"{message}{'' if message.endswith(('.', '?')) else '.'} {more}"


def unreached(host: str, problem: BaseException) -> str | None:
    """The sentence when this computer has no address for `host`; None for another problem."""
    if any(isinstance(one, socket.gaierror) for one in _behind(problem)):
        return f"this computer cannot find {host}: is it online?"
    return None


def _behind(problem: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and its causes; urllib keeps its own in `reason`."""
    while problem is not None:
        yield problem
        reason = getattr(problem, "reason", None)
        inner = reason if isinstance(reason, BaseException) else None
        problem = inner or problem.__cause__ or problem.__context__
