# tenner net.web.get: makes one web request for a tool, and turns failures into sentences.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.net.tls_errors import explain
from tenner.net.web import gzip_stream
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import Any

    from tenner.net.http import Http

_TIMEOUT_S = const(30)
_PIECE = const(256)


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
        await gzip_stream.unpack(http, path, take)
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
