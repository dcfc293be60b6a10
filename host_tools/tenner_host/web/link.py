"""The server's one way to a board: a thread owns the connection and does one thing at a time."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, Full, Queue
from typing import Any, ClassVar, Protocol, TypeVar

from tenner_host.board import ports
from tenner_host.board.board import Board
from tenner_host.console.console import ANSWER_LIMIT_S
from tenner_host.errors import BoardSilent, CommandError

T = TypeVar("T")

_QUEUED = 16
BUSY = "the board has enough to do: try again in a moment"


class Talk(Protocol):
    """Words with the agent."""

    def ask_for(
        self, command: str, fits: Callable[[list[str]], bool], limit_s: float = ANSWER_LIMIT_S
    ) -> list[str]:
        """The lines of the answer to a command, which fit."""

    def say(self, text: str) -> None:
        """Say something, without waiting for the answer."""

    def answer(self, yes: bool) -> None:
        """Answer the agent's question."""


@dataclass
class Job:
    """Work for the thread: with the agent, or with the board's files."""

    work: Callable[[Any], Any]
    needs_files: bool
    done: Future[Any]


class Link(ABC):
    """`changed` gets the state of the connection, in the link's thread."""

    #: The parts that this way lacks, each with a sentence: "chat", the "lines" of the log.
    missing: ClassVar[dict[str, str]] = {}
    #: Do files come slowly, so that a page reads them only on request?
    is_slow = False

    def __init__(self, port: ports.Port, changed: Callable[[str, str], None]) -> None:
        self.port = port
        self.state = "connecting"
        self.text = ""
        self._changed = changed
        self._jobs: Queue[Job] = Queue(_QUEUED)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._main, name="board", daemon=True)

    @property
    def label(self) -> str:
        """The board and the way to it."""
        return self.port.label

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the connection after the current work; an agent that ran before runs on."""
        self._stopping.set()
        self._thread.join()

    def console(self, work: Callable[[Talk], T]) -> Future[T]:
        """Queue work with the agent."""
        return self._queue(work, False)

    def files(self, work: Callable[[Board], T]) -> Future[T]:
        """Queue work with the board's files. On a serial board the agent stops for it."""
        return self._queue(work, True)

    def _queue(self, work: Callable[[Any], T], needs_files: bool) -> Future[T]:
        done: Future[T] = Future()
        try:
            self._jobs.put_nowait(Job(work, needs_files, done))
        except Full:
            done.set_exception(BoardSilent(BUSY))
        return done

    def _main(self) -> None:
        self._run()
        while (job := self._next(0)) is not None:
            job.done.set_exception(BoardSilent("the server ends"))

    @abstractmethod
    def _run(self) -> None:
        """Serve the queue until `_stopping` is set."""

    def _do(self, job: Job, work: Callable[[], Any], passes_on: bool = True) -> None:
        """Run it; a lost connection ends the caller's, too."""
        if not job.done.set_running_or_notify_cancel():
            return
        try:
            job.done.set_result(work())
        except Exception as exc:
            # The one who asked gets it, as from a call.
            job.done.set_exception(exc)
            if passes_on and isinstance(exc, CommandError):
                raise

    def _next(self, limit_s: float) -> Job | None:
        try:
            return self._jobs.get(timeout=limit_s) if limit_s else self._jobs.get_nowait()
        except Empty:
            return None

    def _set(self, state: str, text: str) -> None:
        if (state, text) != (self.state, self.text):
            self.state, self.text = state, text
            self._changed(state, text)
