"""The way to a board without a cable: sealed requests through its broker, or in the network."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NoReturn

from tenner_host.board import ports
from tenner_host.board.remote_board import RemoteBoard
from tenner_host.console.console import ANSWER_LIMIT_S
from tenner_host.errors import BoardSilent, CommandError
from tenner_host.project import Project
from tenner_host.remote import known
from tenner_host.remote.link import Link as Sealed
from tenner_host.web.link import Job, Link

#: Look so often whether the server ends.
_STEP_S = 0.5
#: A session that nobody used for so long is closed: another command may want the board.
_IDLE_S = 20.0
#: A turn of the agent may go first.
_OPEN_S = 60.0
#: After a pause of this length another command may have taken the session over, which a board in
#: the network does not tell, and nobody one that restarted; so it is asked, and has so long for an
#: answer.
_SURE_S = 5.0
_ALIVE_S = 8.0
#: The end of the server waits so long for an answer of the board.
_STOP_S = 3.0
_NO_CHAT = (
    "The chat does not go over the network: write to the agent on Telegram, or take the cable."
)
_NO_LINES = "The lines of the log do not go over the network: they need the cable."


class RemoteTalk:
    """The agent's commands, as sealed requests."""

    def __init__(self, board: RemoteBoard) -> None:
        self._board = board

    def ask_for(
        self, command: str, fits: Callable[[list[str]], bool], limit_s: float = ANSWER_LIMIT_S
    ) -> list[str]:
        lines = self._board.say(command).split("\n")
        if not fits(lines):
            raise CommandError(f"the board has no answer to {command}: update it")
        return lines

    def say(self, text: str) -> NoReturn:
        raise CommandError(_NO_CHAT)

    def answer(self, yes: bool) -> NoReturn:
        raise CommandError(_NO_CHAT)


class RemoteLink(Link):
    """Opens a session for the first work, and keeps it while there is more."""

    missing = {"chat": _NO_CHAT, "lines": _NO_LINES}

    def __init__(self, port: ports.Port, changed: Callable[[str, str], None]) -> None:
        super().__init__(port, changed)
        self._scheme, name = known.way_of(port.device)
        self.is_slow = self._scheme == known.MQTT
        self._known = known.find(name, Project.find(), self._scheme)
        self._board: RemoteBoard | None = None
        self._used_at = 0.0

    @property
    def label(self) -> str:
        """The board and the way to it."""
        way = "its broker" if self._scheme == known.MQTT else "the network"
        return f"{self._known.label} over {way}"

    def stop(self) -> None:
        """As of every link; a board that is silent holds nobody up."""
        self._stopping.set()
        self._thread.join(_STOP_S)

    def _run(self) -> None:
        while not self._stopping.is_set():
            job = self._next(_STEP_S)
            if job is not None:
                self._with_board(job)
                self._used_at = time.monotonic()
            elif self._board is not None and time.monotonic() - self._used_at > _IDLE_S:
                self._close()
        self._close()

    def _with_board(self, job: Job) -> None:
        self._do(job, lambda: self._worked(job), passes_on=False)

    def _worked(self, job: Job) -> object:
        """Return the result; the state of the connection is set first."""
        try:
            board = self._open()
            if job.needs_files:
                self._set("files", "reading or writing the board's files")
            result = job.work(board if job.needs_files else RemoteTalk(board))
        except BoardSilent as exc:
            # Another command may have its session now, too: the next work opens a new one.
            self._close()
            self._set("lost", exc.message)
            raise
        except CommandError as exc:
            if self._board is None:
                self._set("lost", exc.message)
            else:
                self._set("connected", self.label)
            raise
        self._set("connected", self.label)
        return result

    def _open(self) -> RemoteBoard:
        if self._board is not None and self._board.link.way.has_spoken():
            # Another command has its session now.
            self._close()
        if self._board is not None and time.monotonic() - self._used_at > _SURE_S:
            try:
                self._board.state(_ALIVE_S)
            except BoardSilent:
                self._close()
        if self._board is None:
            self._set("connecting", "")
            sealed = Sealed(self._known, self._scheme)
            try:
                sealed.open(_OPEN_S)
            except BaseException:
                sealed.close()
                raise
            self._board = RemoteBoard(self.port, sealed)
        return self._board

    def _close(self) -> None:
        board, self._board = self._board, None
        if board is not None:
            board.close()
