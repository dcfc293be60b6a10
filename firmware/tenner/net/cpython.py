# tenner net.cpython: asyncio's reader and writer of CPython, with the methods of MicroPython's stream.
# MIT license; Copyright (c) 2026 the tenner authors


class Stream:
    def __init__(self, reader, writer):
        self._reader = reader
        self._writer = writer

    async def readinto(self, view):
        data = await self._reader.read(len(view))
        view[: len(data)] = data
        return len(data)

    def write(self, view):
        # A copy: the transport may keep what it is given while the buffer is filled anew.
        self._writer.write(bytes(view))

    async def drain(self):
        await self._writer.drain()

    async def wait_closed(self):
        # Not close(): over TLS that waits for a farewell from a peer that may be gone.
        self._writer.transport.abort()
