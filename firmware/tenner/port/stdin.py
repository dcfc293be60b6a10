# tenner port.stdin: one line from the serial console or the terminal without blocking the loop.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import sys

from tenner.port.compat import const

_MAX_LINE = const(2048)


class Stdin:
    """Line reader. `echo` writes the typed characters back, as a serial line has nobody else for it."""

    def __init__(self, echo=False):
        self.echo = echo
        self._reader = None

    async def _open(self):
        if hasattr(asyncio, "StreamReaderProtocol"):  # CPython
            reader = asyncio.StreamReader()
            loop = asyncio.get_running_loop()
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
            return reader
        return asyncio.StreamReader(sys.stdin)

    def _put(self, text):
        if self.echo:
            sys.stdout.write(text)
            if hasattr(sys.stdout, "flush"):
                sys.stdout.flush()

    async def line(self):
        """Return the next line without its end, or None when the input is closed."""
        if self._reader is None:
            try:
                self._reader = await self._open()
            except (OSError, ValueError):  # stdin is a plain file or was closed
                return None
        text = []
        while True:
            # One character at a time: readline() of a serial stdin would stop the whole board
            # from the first key to the return key.
            char = await self._reader.read(1)
            if not char:
                return "".join(text) if text else None
            if isinstance(char, bytes):
                char = await self._whole(char)
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

    async def _whole(self, first):
        """Complete a UTF-8 character whose first byte was read."""
        lead = first[0]
        missing = 0 if lead < 0xC0 else 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        for _ in range(missing):
            first += await self._reader.read(1)
        try:
            return first.decode()
        except UnicodeError:
            return "?"
