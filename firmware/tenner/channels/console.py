# tenner channels.console: the serial REPL or stdin as a channel.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Ctrl-C is not caught anywhere here, so it stops the program and reaches the REPL. Whoever has the serial
line is the owner.
"""

import asyncio

from tenner import log as log_module
from tenner.agent.bus import Message
from tenner.log import log


class Console:
    """`read_line` is awaited for the next line, None at the end; `write` prints (tests replace it)."""

    name = "console"
    chat = "owner"

    def __init__(self, read_line, inbound, write=print):
        self.inbound = inbound
        self._read_line = read_line
        self._write = write
        self._answer = None  # [Event, bool] while a question waits

    async def run(self):
        """Read lines until the input ends; what is typed becomes a message, or the answer to a question."""
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
        if self._answer is not None and line[:1] != "/":
            word = line.lower()
            if word not in ("y", "yes", "n", "no"):
                self.show(self.chat, "Please answer y or n.")
                return
            self._answer[1] = word[0] == "y"
            self._answer[0].set()
            return
        if not self.inbound.put_nowait(Message("console", self.chat, line, "owner")):
            self.show(self.chat, "Too much is waiting. Please try again in a moment.")

    def show(self, chat, text):
        """Print an answer; log lines come before or after it, never in between."""
        self._write(log_module.redact(text))

    def begin(self):
        """An answer comes in pieces: hold log lines back until `end()`."""
        log_module.hold()

    def piece(self, text):
        self._write(log_module.redact(text), end="")

    def end(self):
        self._write("")
        log_module.release()

    async def ask(self, text, timeout_s=600):
        """Ask y/n; no answer in time is a no, and one question at a time is asked."""
        while self._answer is not None:
            await self._answer[0].wait()
            await asyncio.sleep(0)
        answer = self._answer = [asyncio.Event(), False]
        self.show(self.chat, text + " [y/n]")
        try:
            await asyncio.wait_for(answer[0].wait(), timeout_s)
        except asyncio.TimeoutError:
            self.show(self.chat, "No answer in %d s: taken as no." % timeout_s)
        finally:
            self._answer = None
            answer[0].set()
        return answer[1]
