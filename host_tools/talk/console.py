"""The agent's serial console as questions and answers.

The console prints log lines, answers and the echo of what is typed into one stream. A log line is known by its
time and area; an answer is what stands between a question and the answer to a second one that nobody would ask.
"""

from __future__ import annotations

import codecs
import os
import re
import secrets
import time
from collections.abc import Iterator
from types import TracebackType

from host_tools.board.transport import FRIENDLY_PROMPT, Transport
from host_tools.errors import BoardSilent, CommandError
from host_tools.overlays import Translator

#: `log.log` on the board: when, area, text.
LOG_LINE = re.compile(r"^ *(\+\d+\.\d+s|\d\d:\d\d:\d\d) (\S+) +(.*)$")
#: A TLS handshake, a name that is looked up, and a turn's step hold the console up.
ANSWER_LIMIT_S = 30.0
TURN_LIMIT_S = 320.0
_NOT_RUNNING = "the agent does not run: the board is at its REPL. `tenner sync` starts it, or Ctrl-D in `tenner repl`"


class Console:
    """A line to the agent that was not interrupted; close it, or use it in a `with` block."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._text = ""
        #: Lines that were typed and have not come back yet, without what has.
        self._echoes: list[str] = []
        self._translator = Translator()

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
        """Whole lines as they come, until nothing new has come for so long."""
        while True:
            line, found, rest = self._text.partition("\n")
            if found:
                self._text = rest
                said = self._without_echo(line.rstrip("\r"))
                if said is not None:
                    yield self._translator.line(said)
                continue
            data = self.transport.read_available(limit_s)
            if not data:
                return
            self._text += self._decode(data)
            if self._text.endswith(FRIENDLY_PROMPT.decode()):
                raise CommandError(_NOT_RUNNING)

    def _without_echo(self, line: str) -> str | None:
        """What the board said; it echoes key by key, and a log line may get in between two keys."""
        for number, echo in enumerate(self._echoes):
            if line == echo:
                del self._echoes[: number + 1]
                return None
            for count in range(len(os.path.commonprefix([line, echo])), 0, -1):
                if LOG_LINE.match(line[count:]):
                    self._echoes[number] = echo[count:]
                    return line[count:]
        return line

    @property
    def unfinished(self) -> str:
        """The line that has begun and not ended."""
        return self._text

    def say(self, text: str) -> None:
        """Begin something new."""
        # Ctrl-B means nothing to the console, and makes a raw REPL answer instead of keeping silent.
        self.transport.write(b"\x02")
        self.type(text)

    def ask(self, command: str, limit_s: float = ANSWER_LIMIT_S) -> list[str]:
        """The answer to a command such as `/why`, as lines."""
        self.say(command)
        for line in self.lines(limit_s):
            # The mark waits for the first line, or its echo would get into the answer.
            if line.strip() and not LOG_LINE.match(line):
                return [line, *self._until_mark(limit_s)]
        raise self._silent(limit_s)

    def _until_mark(self, limit_s: float) -> list[str]:
        """Type a command that does not exist; its answer comes after everything asked before."""
        mark = f"/={secrets.token_hex(4)}"
        self.type(mark)
        found: list[str] = []
        deadline = time.monotonic() + limit_s
        for line in self.lines(limit_s):
            if line.startswith(f"There is no command {mark}"):
                return found
            if not LOG_LINE.match(line):
                found.append(line)
            if time.monotonic() > deadline:
                break
        raise self._silent(limit_s)

    def _silent(self, limit_s: float) -> BoardSilent:
        return BoardSilent(
            f"the agent at {self.transport.device_name} does not answer on its console within {limit_s:g} s: "
            "is console.enabled on, and is the board awake? `tenner doctor` looks closer"
        )

    def chat(self, text: str, limit_s: float = TURN_LIMIT_S) -> Iterator[str]:
        """Say something; yield the lines of the answer. A question of the agent's ends with `[y/n]`: type the
        answer while the generator waits."""
        self.say(text)
        for line in self.lines(limit_s):
            if LOG_LINE.match(line) or not line.strip():
                continue
            yield line
            if not line.endswith("[y/n]"):
                break
        else:
            raise BoardSilent(
                f"no answer from the agent at {self.transport.device_name} within {limit_s:g} s; "
                "`tenner logs -f` shows what it does"
            )
        # The answer is printed at once, so the rest of it comes before that of the next question.
        yield from self._until_mark(ANSWER_LIMIT_S)
