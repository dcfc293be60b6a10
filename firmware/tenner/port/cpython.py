# tenner port.cpython: names that MicroPython has or does not need; loaded under CPython only.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
import codecs
import os
import select
import socket
import sys
import time
import traceback
from asyncio import sslproto

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import IO, Any

    from tenner.port.types import TlsContext

# asyncio keeps a buffer of this size for each TLS connection: the longest record instead of the
# usual 256 KB.
sslproto.SSLProtocol.max_size = 16384


def const(value: "Any") -> "Any":
    """Return `value`; MicroPython's compiler replaces the call by the number."""
    return value


def ticks_ms() -> int:
    """Return milliseconds of a clock that never goes back."""
    return time.monotonic_ns() // 1000000


def ticks_add(ticks: int, delta: int) -> int:
    return ticks + delta


def ticks_diff(end: int, start: int) -> int:
    return end - start


def sleep_ms(ms: int) -> "Awaitable[None]":
    """Return an awaitable pause of `ms` milliseconds."""
    return asyncio.sleep(ms / 1000)


async def open_connection(
    host: str, port: int, ssl: "TlsContext | None" = None, server_hostname: str | None = None
) -> "tuple[Stream, Stream]":
    """Return a stream, which is both the reader and the writer as on MicroPython."""
    if host.isascii():
        # Text would load modules for international names.
        host = host.encode()
        server_hostname = server_hostname and server_hostname.encode()
    find = asyncio.get_running_loop().run_in_executor
    found = await find(None, socket.getaddrinfo, host, port, 0, socket.SOCK_STREAM)
    for last, address in enumerate(found, 1 - len(found)):
        try:
            reader, writer = await asyncio.open_connection(
                address[4][0], port, ssl=ssl, server_hostname=server_hostname
            )
            break
        except OSError:
            if last == 0:
                raise
    stream = Stream(reader, writer)
    return stream, stream


def has_input(stream: "Stream") -> bool:
    """Has anything come on a stream, or has the other side closed it? Nothing is read."""
    return stream.has_input()


class Stream:
    """asyncio's reader and writer of CPython, with the methods of MicroPython's stream."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def readinto(self, view: bytearray | memoryview) -> int:
        data = await self._reader.read(len(view))
        view[: len(data)] = data
        return len(data)

    def write(self, view: bytes | memoryview) -> None:
        # A copy: the transport may keep the data while the caller refills its buffer.
        self._writer.write(bytes(view))

    async def drain(self) -> None:
        await self._writer.drain()

    def has_input(self) -> bool:
        # The reader has no public method that reports data already taken from the socket.
        if self._reader._buffer or self._reader.at_eof():
            return True
        poll = select.poll()
        poll.register(self._writer.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(poll.poll(0))

    async def wait_closed(self) -> None:
        # Not close(): over TLS that waits for a farewell from a peer that may be gone.
        self._writer.transport.abort()


def print_exception(error: BaseException, file: "IO | None" = None) -> None:
    """Write the traceback of `error` to `file`."""
    traceback.print_exception(error, file=file)


def open_file(path: str, mode: str) -> "IO[Any]":
    """Open a file that is no link, also if it becomes one at this moment."""
    return open(path, mode, opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW, 0o666))


def sync_folder(path: str) -> None:
    """Make the rename that put the file `path` in its place durable."""
    handle = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class StdinReader:
    """Standard input a character at a time; `await read(1)` gives "" at the end, as on
    MicroPython."""

    async def open(self) -> None:
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        # An input without events, such as /dev/null, raises OSError here; later nobody would catch
        # it.
        loop.add_reader(sys.stdin, reader.exception)
        loop.remove_reader(sys.stdin)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        self._reader = reader
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    async def read(self, count: int) -> str:
        text = ""
        while not text:
            data = await self._reader.read(count)
            text = self._decoder.decode(data, not data)
            if not data:
                break
        return text
