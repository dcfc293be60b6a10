# tenner channels.console: the serial REPL or stdin as a channel.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Nothing here catches Ctrl-C, so it stops the program and reaches the REPL. The holder of the serial
line is the owner. The console prints an answer at once, so that no log line gets into it.

A program at the other end types `/=frames`, and each gets 0x1f 0x1e in return. From then on 0x1c
and 0x1e enclose an answer, 0x1d and 0x1e a question. 0x1f `failed` 0x1e comes before the text of
an error. No text can hold these characters, since `log.visible` escapes them.
"""

import asyncio

from tenner.agent.message_queue import Message
from tenner.channels.question import Question
from tenner.log import log, redact, visible
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenner.agent.message_queue import Queue

#: Control characters that an answer may have: newline, tab, and the joiners of letters and emojis.
KEPT = "\n\t\u200c\u200d"

_FRAMES = const("/=frames")
_ANSWER = const("\x1c")
_QUESTION = const("\x1d")
_READY = const("\x1f")
_FAILED = const("failed")
_END = const("\x1e")


class Console:
    """`await read_line()` returns the next line, None at the end; `write` prints (tests replace
    it)."""

    name = "console"
    chat = "owner"

    def __init__(
        self,
        read_line: "Callable[[], Awaitable[str | None]]",
        inbound: "Queue",
        write: "Callable[[str], None]" = print,
    ) -> None:
        self.inbound = inbound
        self._read_line = read_line
        self._write = write
        self._question: Question | None = None  # the pending one
        self._asking = asyncio.Lock()
        self._framed = False

    async def run(self) -> None:
        """Read lines until the input ends; each becomes a message, or the answer to a question."""
        while True:
            line = await self._read_line()
            if line is None:
                log("console", "the input has ended")
                return
            if "\x03" in line:
                raise KeyboardInterrupt
            line = line.strip()
            if line:
                self._take(line)

    def _take(self, line):
        if line == _FRAMES:
            self._framed = True
            self._write(_READY + _END)
        elif self._question and line[:1] != "/":
            word = line.lower()
            if word in ("y", "yes", "n", "no"):
                self._question.resolve(word[0] == "y")
            else:
                self.show(self.chat, "Please answer y or n.")
        elif not self.inbound.put_nowait(Message("console", self.chat, line, self.chat)):
            self.show(self.chat, "Too much is waiting. Please try again in a moment.")

    def fail(self) -> None:
        """Announce to a program that the next text is an error instead of an answer."""
        if self._framed:
            self._write(_READY + _FAILED + _END)

    def show(self, chat: int | str, text: str) -> None:
        """Print an answer."""
        self._print(_ANSWER, text)

    def _print(self, kind, text):
        text = visible(redact(text), KEPT)
        self._write(kind + text + _END if self._framed else text)

    async def ask(self, text: str, timeout_s: float = 600) -> bool:
        """Ask y/n, one question at a time; a timeout means no."""
        async with self._asking:
            question = self._question = Question(text)
            self._print(_QUESTION, text + " [y/n]")
            try:
                answer = await question.wait(timeout_s)
            finally:
                self._question = None
            if question.answer is None:
                self.show(self.chat, "No answer in %d s: denied." % timeout_s)
            return answer
