"""Errors for owners: one sentence each, no traceback, and an exit status for scripts."""

from __future__ import annotations

import contextlib
import errno
import importlib
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


try:
    _TERMINAL: tuple[type[Exception], ...] = (importlib.import_module("termios").error,)
except ImportError:
    _TERMINAL = ()  # Windows

#: The owner's remedies for errors of this computer.
_REMEDIES = {
    errno.ENOSPC: "make room and run it again",
    errno.EDQUOT: "make room and run it again",
    errno.EROFS: "choose another place",
    errno.EACCES: "choose another place, or change who may use it",
    errno.EPERM: "choose another place, or change who may use it",
    errno.EMFILE: "close other programs and run it again",
    errno.ENFILE: "close other programs and run it again",
}


def reason(exc: BaseException) -> str:
    """The words of this computer without its numbers, and the remedy if there is one."""
    if isinstance(exc, UnicodeError):
        return "it isn't UTF-8 text"
    if not isinstance(exc, OSError):
        return str(exc) or type(exc).__name__
    inner = getattr(exc, "reason", None)
    if isinstance(inner, OSError):
        return reason(inner)
    said = str(exc.strerror or exc) or type(exc).__name__
    remedy = _REMEDIES.get(exc.errno or 0)
    return f"{said}: {remedy}" if remedy else said


@contextlib.contextmanager
def terminal_errors() -> Iterator[None]:
    """Turn termios.error into the OSError that it should be; it serves as a decorator, too."""
    try:
        yield
    except Exception as exc:
        if not isinstance(exc, _TERMINAL):
            raise
        raise OSError(*exc.args) from exc


def of_this_computer(exc: OSError) -> CommandError:
    """The sentence for an error that no part has explained."""
    places = [str(name) for name in (exc.filename, exc.filename2) if isinstance(name, str | bytes)]
    return CommandError(f"{' and '.join(places) or 'this computer'}: {reason(exc)}")


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
