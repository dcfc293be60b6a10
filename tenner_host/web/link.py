"""The server's one connection to a board: a thread owns it and does one thing at a time."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from queue import Empty, Full, Queue
from typing import Any, TypeVar

from tenner_host.board import ports
from tenner_host.board.board import Board
from tenner_host.board.opening import class_of
from tenner_host.board.transport import Transport
from tenner_host.console.console import ANSWER_LIMIT_S, Console, Kind, Said
from tenner_host.errors import BoardSilent, CommandError

T = TypeVar("T")

#: Wait so long for the board's next byte before looking at the queue.
_STEP_S = 0.1
#: Wait so long before opening a lost connection again.
_RETRY_S = 2.0
_QUEUED = 16
BUSY = "the board has enough to do: try again in a moment"


class LinkConsole(Console):
    """A console that passes everything that is no answer to the one who listens."""

    def __init__(self, transport: Transport, heard: Callable[[Said], None]) -> None:
        super().__init__(transport)
        self._heard = heard

    def said(self, limit_s: float) -> Iterator[Said]:
        for said in super().said(limit_s):
            if said.kind is Kind.LINE:
                self._heard(said)
            yield said

    def ask_for(
        self, command: str, fits: Callable[[list[str]], bool], limit_s: float = ANSWER_LIMIT_S
    ) -> list[str]:
        """The answer to a command; others, such as an alarm's message, go to the listener."""
        self.say(command)
        for said in self.frames(limit_s):
            lines = said.text.split("\n")
            if said.kind is Kind.ANSWER and fits(lines):
                return lines
            self._heard(said)
        raise self._silent(limit_s)


@dataclass
class _Job:
    """Work for the thread: a console's, or a board's with its files."""

    work: Callable[[Any], Any]
    needs_files: bool
    done: Future[Any]


class BoardLink:
    """`heard` gets each line and frame that nobody asked for, `changed` the state of the
    connection. Both run in the link's thread."""

    def __init__(
        self,
        port: ports.Port,
        heard: Callable[[Said], None],
        changed: Callable[[str, str], None],
    ) -> None:
        self.port = port
        self.state = "connecting"
        self.text = ""
        self._heard = heard
        self._changed = changed
        self._jobs: Queue[_Job | None] = Queue(_QUEUED)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="board", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the connection after the current work; an agent that ran before runs on."""
        self._stopping.set()
        self._thread.join()

    def console(self, work: Callable[[LinkConsole], T]) -> Future[T]:
        """Queue work at the agent's console."""
        return self._queue(work, False)

    def files(self, work: Callable[[Board], T]) -> Future[T]:
        """Queue work with the board's files. On a serial board the agent stops for it."""
        return self._queue(work, True)

    def _queue(self, work: Callable[[Any], T], needs_files: bool) -> Future[T]:
        done: Future[T] = Future()
        try:
            self._jobs.put_nowait(_Job(work, needs_files, done))
        except Full:
            done.set_exception(BoardSilent(BUSY))
        return done

    def _run(self) -> None:
        while not self._stopping.is_set():
            job = None
            try:
                job = self._listen()
            except CommandError as exc:
                self._set("lost", exc.message)
                job = self._next(_RETRY_S)
                if job is not None and not job.needs_files:
                    job.done.set_exception(BoardSilent(exc.message))
                    job = None
            if job is not None:
                self._with_files(job)
        while (job := self._next(0)) is not None:
            job.done.set_exception(BoardSilent("the server ends"))

    def _listen(self) -> _Job | None:
        """Serve the console until work needs the files."""
        with LinkConsole(class_of(self.port).console(self._found()), self._heard) as console:
            console.begin()
            self._set("connected", self.port.label)
            while not self._stopping.is_set():
                console.transport.wait(_STEP_S)
                for said in console.said(0):
                    if said.kind is not Kind.LINE:
                        self._heard(said)
                job = self._next(0)
                if job is None:
                    continue
                if job.needs_files:
                    return job
                self._do(job, functools.partial(job.work, console))
        return None

    def _with_files(self, job: _Job) -> None:
        self._set("files", "reading or writing the board's files")

        def work() -> Any:
            board = class_of(self.port).open(self._found())
            board.enter()
            with board:
                return job.work(board)

        self._do(job, work, passes_on=False)

    def _do(self, job: _Job, work: Callable[[], Any], passes_on: bool = True) -> None:
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

    def _next(self, limit_s: float) -> _Job | None:
        try:
            return self._jobs.get(timeout=limit_s) if limit_s else self._jobs.get_nowait()
        except Empty:
            return None

    def _found(self) -> ports.Port:
        """The board's port, which may have another name after a reset."""
        return replace(self.port, device=ports.refind(self.port))

    def _set(self, state: str, text: str) -> None:
        if (state, text) != (self.state, self.text):
            self.state, self.text = state, text
            self._changed(state, text)
