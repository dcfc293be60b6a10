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

# asyncio keeps a buffer of this size for each TLS connection: the longest record instead of the
# usual 256 KB.
sslproto.SSLProtocol.max_size = 16384


def const(value):
    """Return `value`; MicroPython's compiler replaces the call by the number."""
    return value


def ticks_ms():
    """Return milliseconds of a clock that never goes back."""
    return time.monotonic_ns() // 1000000


def ticks_add(ticks, delta):
    return ticks + delta


def ticks_diff(end, start):
    return end - start


def sleep_ms(ms):
    """Return an awaitable pause of `ms` milliseconds."""
    return asyncio.sleep(ms / 1000)


async def open_connection(host, port, ssl=None, server_hostname=None):
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


def has_input(stream):
    """Has anything come on a stream, or has the other side closed it? Nothing is read."""
    return stream.has_input()


class Stream:
    """asyncio's reader and writer of CPython, with the methods of MicroPython's stream."""

    def __init__(self, reader, writer):
        self._reader = reader
        self._writer = writer

    async def readinto(self, view):
        data = await self._reader.read(len(view))
        view[: len(data)] = data
        return len(data)

    def write(self, view):
        # A copy: the transport may keep the data while the caller refills its buffer.
        self._writer.write(bytes(view))

    async def drain(self):
        await self._writer.drain()

    def has_input(self):
        # The reader has no public method that reports data already taken from the socket.
        if self._reader._buffer or self._reader.at_eof():
            return True
        poll = select.poll()
        poll.register(self._writer.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(poll.poll(0))

    async def wait_closed(self):
        # Not close(): over TLS that waits for a farewell from a peer that may be gone.
        self._writer.transport.abort()


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
    """Standard input a character at a time; `await read(1)` gives "" at the end, as on
    MicroPython."""

    async def open(self):
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        # An input without events, such as /dev/null, raises OSError here; later nobody would catch
        # it.
        loop.add_reader(sys.stdin, reader.exception)
        loop.remove_reader(sys.stdin)
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
