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


def unpacked(file, kind, size):
    """Yield the pieces of a compressed file; `kind` is GZIP, ZLIB or RAW."""
    import zlib

    stream = zlib.decompressobj({"GZIP": 31, "ZLIB": 15, "RAW": -15}[kind])
    try:
        while not stream.eof:
            data = stream.unconsumed_tail or file.read(size)
            piece = stream.decompress(data, size)
            if not piece and not data:
                raise OSError("the compressed page is broken")
            yield piece
    except zlib.error:
        raise OSError("the compressed page is broken")
