# tenner net.web.gzip_stream: unpacks a body that a server compressed against our request.
# MIT license; Copyright (c) 2026 the tenner authors
"""
MicroPython unpacks only from a stream that never waits, so the body goes into a file first. Its
name ends in .tmp, so the next start removes it after a power failure. Unpacking needs 32 KB of
heap.
"""

import asyncio

from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from tenner.net.http import Http

#: CPython's way, as it has no `deflate`.
unpacked: "Callable[[BinaryIO, str, int], Iterator[bytes]] | None" = None
try:
    import deflate
except ImportError:
    from tenner.net.cpython import unpacked

    deflate = None

_MOST = const(262144)
_PIECE = const(512)


async def unpack(http: "Http", path: str, take: "Callable[[bytes], bool | None]") -> None:
    """Call `take` with the unpacked pieces of the body until it returns True."""
    buf = bytearray(_PIECE)
    view = memoryview(buf)
    size = 0
    try:
        with files.open_own(path, "wb") as file:
            while True:
                count = await http.readinto(buf)
                if not count:
                    break
                size += count
                if size > _MOST:
                    raise OSError("the page is compressed, and too long to unpack")
                file.write(view[:count])
        with open(path, "rb") as file:
            for piece in _pieces(file, buf):
                if take(piece):
                    break
                await asyncio.sleep(0)
    except MemoryError:
        raise OSError("the page is compressed, and there is no memory to unpack it")
    finally:
        files.remove(path)


def _pieces(file, buf):
    head = file.read(2)
    file.seek(0)
    # Some servers send "deflate" with zlib's header, others without.
    if head == b"\x1f\x8b":
        kind = "GZIP"
    elif len(head) == 2 and head[0] & 15 == 8 and not (head[0] << 8 | head[1]) % 31:
        kind = "ZLIB"
    else:
        kind = "RAW"
    if unpacked is not None:
        yield from unpacked(file, kind, _PIECE)
        return
    stream = deflate.DeflateIO(file, getattr(deflate, kind), 15)
    view = memoryview(buf)
    while True:
        try:
            count = stream.readinto(buf)
        except (OSError, EOFError):
            raise OSError("the compressed page is broken")
        if not count:
            return
        yield bytes(view[:count])
