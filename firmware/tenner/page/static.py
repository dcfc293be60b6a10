# tenner page.static: sends the files of the page from flash, in blocks.
# MIT license; Copyright (c) 2026 the tenner authors
"""The build compresses them (tenner_host/page_files.py), so that flash and network take less."""

from binascii import crc32

from tenner.page.request import Refused
from tenner.port.package import locate
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.page.connection import Connection
    from tenner.page.request import Request

_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "json": "application/json",
}


async def send(connection: "Connection", request: "Request") -> None:
    """Send the file at the request's path."""
    name = request.path[1:] or "index.html"
    # No folder, and nothing hidden: the name is looked up as it is.
    if "/" in name or name[:1] == "." or name == "openapi.json":
        raise Refused(404, "there is no such page")
    await send_file(connection, request, name)


async def send_file(connection: "Connection", request: "Request", name: str) -> None:
    """Send a file of the page by its name."""
    kind = _KINDS.get(name.rpartition(".")[2])
    try:
        place = locate("page/%s.gz" % name) if kind else None
    except OSError:
        place = None
    if place is None:
        raise Refused(404, "there is no such page")
    if request.method != "GET":
        raise Refused(405, "this path takes GET")
    tag = '"%08x"' % _check(place)
    about = ("ETag: " + tag, "Cache-Control: no-cache")
    if request.headers.get("if-none-match") == tag:
        await connection.start(304, "", about)
        return
    if "gzip" not in request.headers.get("accept-encoding", ""):
        raise Refused(406, "this file is compressed: ask with Accept-Encoding: gzip")
    size = "Content-Length: %d" % (place[2] - place[1])
    await connection.start(200, kind, about + (size, "Content-Encoding: gzip"))
    for block in files.blocks(*place):
        await connection.send(block)


def _check(place):
    found = 0
    for block in files.blocks(*place):
        found = crc32(block, found)
    return found & 0xFFFFFFFF
