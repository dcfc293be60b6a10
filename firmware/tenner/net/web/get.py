# tenner net.web.get: makes one web request for a tool, unpacks it, explains failures.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.net.tls import explain
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from typing import Any, BinaryIO

    from tenner.net.http import Http


_TIMEOUT_S = const(30)
_PIECE = const(256)

#: CPython's way, as it has no `deflate`.
unpacked: "Callable[[BinaryIO, str, int], Iterator[bytes]] | None" = None
try:
    import deflate
except ImportError:
    from tenner.net.cpython import unpacked

    deflate = None

_MOST = const(262144)
_BLOCK = const(512)


async def ask(
    http: "Http",
    url: str,
    headers: "Sequence[tuple[str, str]]",
    consume: "Callable[[Http], Awaitable]",
    method: str = "GET",
    body: bytes | None = None,
) -> "Any":
    """Make an exchange and return the result of `consume`; every failure is an OSError with a
    sentence."""
    try:
        return await http.exchange(
            method, url, headers, body, consume, _TIMEOUT_S, phases=("TOOL_READ", "TOOL_READ")
        )
    except asyncio.TimeoutError:
        what = "no answer within %d s" % _TIMEOUT_S
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, OSError) and error.args and isinstance(error.args[0], str):
            raise
        what = explain(error) or str(error) or "its answer cannot be read"
    raise OSError("%s: %s" % (url.split("?")[0][:80], what))


async def read(http: "Http", path: str, take: "Callable[[bytes], bool | None]") -> None:
    """Call `take` with the pieces of a body until it returns True. `path` is the file for a
    compressed body."""
    coding = (http.header("content-encoding") or "identity").lower()
    if coding in ("gzip", "x-gzip", "deflate"):
        await unpack(http, path, take)
        return
    if coding != "identity":
        raise OSError("the server sends only %s, which cannot be unpacked here" % coding[:20])
    buf = bytearray(_PIECE)
    view = memoryview(buf)
    while True:
        count = await http.readinto(buf)
        if not count or take(bytes(view[:count])):
            return


def quote(text: str, keep: str = "-_.~") -> str:
    """Return text with all UTF-8 bytes but letters, digits and `keep` as %XX."""
    return "".join(
        [
            chr(byte)
            if byte < 128 and (chr(byte).isalpha() or chr(byte).isdigit() or chr(byte) in keep)
            else "%%%02X" % byte
            for byte in text.encode()
        ]
    )


def join(base: str, link: str) -> str:
    """Return the absolute address of a link or a redirect on the page `base`."""
    first = link.split("/")[0].split("?")[0].split("#")[0]
    if ":" in first:
        return link
    scheme, _, rest = base.partition("://")
    host = rest.split("/")[0].split("?")[0].split("#")[0]
    if link[:2] == "//":
        return scheme + ":" + link
    path = rest[len(host) :].split("#")[0].split("?")[0]
    if first:
        link = path.rpartition("/")[0] + "/" + link
    elif link[:1] != "/":
        return scheme + "://" + host + (path or "/") + link
    path = link.split("?")[0].split("#")[0]
    parts = []
    for part in path.split("/")[1:]:
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    if path.rsplit("/", 1)[-1] in (".", ".."):
        parts.append("")
    return scheme + "://" + host + "/" + "/".join(parts) + link[len(path) :]


# MicroPython unpacks only from a stream that never waits, so the body goes into a file first.
# Its name ends in .tmp, so the next start removes it after a power failure. Unpacking needs 32
# KB of heap.
async def unpack(http: "Http", path: str, take: "Callable[[bytes], bool | None]") -> None:
    """Call `take` with the unpacked pieces of the body until it returns True."""
    buf = bytearray(_BLOCK)
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
        yield from unpacked(file, kind, _BLOCK)
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
