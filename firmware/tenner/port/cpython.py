# tenner port.cpython: what MicroPython has built in or does not need; loaded under CPython only.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import codecs
import os
import sys
import time
import traceback


def const(value):
    """Return `value`; MicroPython's compiler replaces the call by the number."""
    return value


def ticks_ms():
    """Milliseconds of a clock that never goes back."""
    return time.monotonic_ns() // 1000000


def ticks_add(ticks, delta):
    return ticks + delta


def ticks_diff(end, start):
    return end - start


def sleep_ms(ms):
    """Awaitable pause of `ms` milliseconds."""
    return asyncio.sleep(ms / 1000)


def print_exception(error, file=None):
    """Write the traceback of `error` to `file`."""
    traceback.print_exception(error, file=file)


def sync_folder(path):
    """Make the rename that put the file `path` in its place durable."""
    handle = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class StdinReader:
    """Standard input a character at a time; `await read(1)` gives "" at the end, as on MicroPython."""

    async def open(self):
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        self._reader = reader
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    async def read(self, count):
        text = ""
        while not text:
            data = await self._reader.read(count)
            text = self._decoder.decode(data, not data)
            if not data:
                break
        return text
