# tenner port.stdin: one line from the serial console or the terminal without blocking the loop.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import sys

from tenner.port.compat import const

try:
    from tenner.port.cpython import StdinReader
except ImportError:
    StdinReader = None  # MicroPython reads the terminal itself

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_LINE = const(2048)


class Stdin:
    """Line reader. `echo` writes the typed characters back, as nothing else does on a serial
    line."""

    def __init__(self, echo: bool = False) -> None:
        self.echo = echo
        self._reader: "Any" = None

    async def _open(self):
        if StdinReader is None:
            self._reader = asyncio.StreamReader(sys.stdin)
        else:
            self._reader = StdinReader()
            await self._reader.open()

    def _put(self, text):
        if self.echo:
            sys.stdout.write(text)
            if hasattr(sys.stdout, "flush"):
                sys.stdout.flush()

    async def line(self) -> str | None:
        """Return the next line without its end, or None when the input is closed."""
        if self._reader is None:
            try:
                await self._open()
            except (OSError, ValueError):  # stdin is a plain file or was closed
                self._reader = None
                return None
        text = []
        while True:
            # One character at a time: readline() of a serial stdin would stop the board
            # from the first key to the return key.
            try:
                char = await self._reader.read(1)
            except OSError:  # it was closed before the start
                return None
            if not char:
                return "".join(text) if text else None
            if char in "\r\n":
                if text or char == "\n":
                    self._put("\r\n")
                    return "".join(text)
            elif char in "\x08\x7f":
                if text:
                    text.pop()
                    self._put("\x08 \x08")
            elif len(text) < _MAX_LINE and char >= " ":
                text.append(char)
                self._put(char)
