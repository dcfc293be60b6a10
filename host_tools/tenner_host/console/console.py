"""The agent's serial console as questions and answers.

The console prints log lines and the echo of typed text unmarked. The agent's words come in frames,
each between two characters that no text of the board can contain
(firmware/tenner/channels/console.py), so the two cannot be confused.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from types import TracebackType

from tenner_host.board.transport import FRIENDLY_PROMPT, Transport
from tenner_host.errors import BoardSilent, CommandError
from tenner_host.overlay_maps import translator

#: `log.log` on the board: when, area, text.
LOG_LINE = re.compile(r"^ *(\+\d+\.\d+s|\d\d:\d\d:\d\d) (\S+) +(.*)$")
#: A TLS handshake, a name lookup, or a step of a turn blocks the console.
ANSWER_LIMIT_S = 30.0
TURN_LIMIT_S = 320.0
_ASK_FRAMES = "/=frames"
_FAILED = "failed"
_FRAME = re.compile("([\x1c\x1d\x1f])([^\x1c-\x1f]*)\x1e\r?\n")
#: A frame whose end was lost, as on a pulled cable.
_BROKEN = re.compile("[\x1c\x1d\x1f]([^\x1c-\x1f]*)(?=[\x1c\x1d\x1f])")
_BEGIN = re.compile("[\x1c\x1d\x1f]")
_NOT_RUNNING = (
    "the agent does not run: the board is at its REPL. `tenner sync` starts it, or Ctrl-D in "
    "`tenner repl`"
)


class Kind(Enum):
    """The speaker: an unmarked line, or a frame of the agent."""

    LINE = ""
    ANSWER = "\x1c"
    QUESTION = "\x1d"
    READY = "\x1f"


@dataclass(frozen=True)
class Said:
    """A frame or a line, without its markers."""

    kind: Kind
    text: str
    #: Of an answer: it gives the reason for having none.
    failed: bool = False


def failing(answer: list[str]) -> list[str]:
    """The parts of the agent that fail, of its answer to `/status`."""
    return [line.partition(": ")[2] for line in answer if line.startswith("failing: ")]


class Console:
    """A line to the running agent; close it, or use it in a `with` block."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._text = ""
        #: The echo still expected of each typed line.
        self._echoes: list[str] = []
        self._translator = translator()

    def __enter__(self) -> Console:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.transport.close()

    def type(self, text: str) -> None:
        """Type a line. Line breaks would end it early, so they become spaces."""
        line = " ".join(text.split())
        self._echoes = [*self._echoes[-3:], line]
        self.transport.write(line.encode() + b"\r")

    def lines(self, limit_s: float) -> Iterator[str]:
        """Yield complete lines as they arrive, of frames too, until none arrives for `limit_s`."""
        for said in self.said(limit_s):
            yield from said.text.split("\n")

    def said(self, limit_s: float) -> Iterator[Said]:
        """Yield frames and lines as they arrive, until none arrives for `limit_s`."""
        while True:
            said = self._frame() or self._line()
            if said is not None:
                if said.text or said.kind is not Kind.LINE:
                    yield said
                continue
            data = self.transport.read_available(limit_s)
            if not data:
                return
            self._text += self._decode(data)
            if self._text.endswith(FRIENDLY_PROMPT.decode()):
                raise CommandError(_NOT_RUNNING)

    def _frame(self) -> Said | None:
        """A complete frame, if it comes before the next line."""
        self._text = _BROKEN.sub(r"\1", self._text)
        found = _FRAME.search(self._text)
        if found is None or "\n" in self._text[: found.start()]:
            return None
        # The text before it is a line that is still being typed.
        self._text = self._text[: found.start()] + self._text[found.end() :]
        return Said(Kind(found[1]), found[2].replace("\r\n", "\n"))

    def _line(self) -> Said | None:
        line, found, rest = self._text.partition("\n")
        if not found or _BEGIN.search(line):
            return None
        self._text = rest
        said = self._without_echo(line.rstrip("\r"))
        return Said(Kind.LINE, "" if said is None else self._translator.line(said))

    def _without_echo(self, line: str) -> str | None:
        """The board's text without the echo; it echoes key by key, and a log line may come between
        two keys."""
        for number, echo in enumerate(self._echoes):
            if line == echo:
                del self._echoes[: number + 1]
                return None
            for count in range(len(os.path.commonprefix([line, echo])), 0, -1):
                if LOG_LINE.match(line[count:]):
                    self._echoes[number] = echo[count:]
                    return line[count:]
        return line

    def say(self, text: str) -> None:
        """Start a new exchange; skip the agent's earlier words."""
        self.begin()
        self.type(text)

    def begin(self) -> None:
        """Ask the agent to mark its words."""
        # Ctrl-B means nothing to the console, and makes a raw REPL answer instead of staying
        # silent.
        self.transport.write(b"\x02")
        self.type(_ASK_FRAMES)

    def frames(self, limit_s: float) -> Iterator[Said]:
        """Yield the agent's frames in answer to `say`."""
        ready = failed = False
        for said in self.said(limit_s):
            if said.kind is Kind.READY:
                ready, failed = True, said.text == _FAILED
            elif said.kind is Kind.LINE and said.text.startswith(
                f"There is no command {_ASK_FRAMES}"
            ):
                raise CommandError(
                    "the board's code is older than this program: run `tenner sync`"
                )
            elif ready and said.kind is not Kind.LINE:
                yield replace(said, failed=failed)
                failed = False

    def ask(self, command: str, limit_s: float = ANSWER_LIMIT_S) -> list[str]:
        """The answer to a command such as `/why`, as lines."""
        self.say(command)
        for said in self.frames(limit_s):
            if said.failed:
                raise CommandError(said.text)
            if said.kind is Kind.ANSWER:
                return said.text.split("\n")
        raise self._silent(limit_s)

    def _silent(self, limit_s: float) -> BoardSilent:
        return BoardSilent(
            f"the agent at {self.transport.device_name} does not answer on its console within "
            f"{limit_s:g} s: is console.enabled on, and is the board awake? `tenner doctor` "
            "looks closer"
        )

    def chat(self, text: str, limit_s: float = TURN_LIMIT_S) -> Iterator[Said]:
        """Say something; yield the agent's questions, for `answer` during the iteration, and its
        answer."""
        self.say(text)
        for said in self.frames(limit_s):
            yield said
            if said.kind is Kind.ANSWER:
                return
        raise BoardSilent(
            f"no answer from the agent at {self.transport.device_name} within {limit_s:g} s; "
            "`tenner logs -f` shows its work"
        )

    def answer(self, yes: bool) -> None:
        """Answer a question."""
        self.type("y" if yes else "n")
