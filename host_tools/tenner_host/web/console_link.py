"""The way to a board that has a console: over USB, over ssh, or in the simulator."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tenner_host.board import ports
from tenner_host.board.opening import class_of
from tenner_host.board.transport import Transport
from tenner_host.console.console import ANSWER_LIMIT_S, Console, Kind, Said
from tenner_host.errors import BoardSilent, CommandError
from tenner_host.web.link import Job, Link

#: Wait so long for the board's next byte before looking at the queue.
_STEP_S = 0.1
#: Wait so long before opening a lost connection again.
_RETRY_S = 2.0


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


class ConsoleLink(Link):
    """`heard` gets each line and frame that nobody asked for, in the link's thread."""

    def __init__(
        self,
        port: ports.Port,
        heard: Callable[[Said], None],
        changed: Callable[[str, str], None],
    ) -> None:
        super().__init__(port, changed)
        self._heard = heard

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

    def _listen(self) -> Job | None:
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

    def _with_files(self, job: Job) -> None:
        self._set("files", "reading or writing the board's files")

        def work() -> Any:
            board = class_of(self.port).open(self._found())
            board.enter()
            with board:
                return job.work(board)

        self._do(job, work, passes_on=False)

    def _found(self) -> ports.Port:
        """The board's port, which may have another name after a reset."""
        return replace(self.port, device=ports.refind(self.port))
