# tenner page.routes: the paths of the API, the answer to each, and the page's files.
# MIT license; Copyright (c) 2026 the tenner authors
"""tenner_host/web/openapi.json describes them; a test compares the two."""

from binascii import crc32

from tenner.page import actions, heartbeat_file, now, readings, sensors, settings
from tenner.page.request import Refused
from tenner.port.compat import const
from tenner.port.package import locate
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.page.channel import Page
    from tenner.page.connection import Connection
    from tenner.page.request import Request

_PREFIX = const("/api/v1")
_METHODS = {
    "/openapi.json": "GET",
    "/pair": "POST",
    "/session": "DELETE and GET",
    "/now": "GET",
    "/alarms": "POST",
    "/tasks/run": "POST",
    "/chat": "GET and POST",
    "/chat/answer": "POST",
    "/events": "GET",
    "/log": "GET",
    "/files/read": "POST",
    "/readings": "GET",
    "/readings.csv": "GET",
    "/heartbeat": "GET and PUT",
    "/heartbeat/check": "POST",
    "/heartbeat/replay": "POST",
    "/sensors": "POST",
    "/sensors/find": "POST",
    "/settings": "GET and PATCH",
    "/update": "GET and POST",
}
#: These need no session.
_OPEN = ("/openapi.json", "/pair")
#: A guest may become an owner, and may leave.
_GUESTS = ("/pair", "/session")

_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "json": "application/json",
}


async def check(request: "Request") -> None:
    """Raise Refused for a request that has no answer: of another path or method, or without a
    session."""
    if request.path[: len(_PREFIX)] != _PREFIX:
        return
    path = request.path[len(_PREFIX) :]
    known = _METHODS.get(path)
    if known is None:
        raise Refused(404, "there is no such path: %s/openapi.json lists them" % _PREFIX)
    if request.method not in known.split(" and "):
        raise Refused(405, "this path takes %s" % known)
    if not request.is_paired and path not in _OPEN:
        raise Refused(401, "pair this browser with the code that /web gives")
    if request.is_guest and request.method != "GET" and path not in _GUESTS:
        raise Refused(403, "a guest only looks: the owner's code, from /web, lets a browser act")


async def answer(page: "Page", connection: "Connection", request: "Request") -> None:
    """Answer a request that `check` has let pass; Refused for an error."""
    with connection:
        path = request.path
        if path[: len(_PREFIX)] != _PREFIX:
            await send(connection, request)
            return
        await _answer(page, connection, request, path[len(_PREFIX) :], request.method == "GET")


async def _answer(page, connection, request, path, reads):
    if path == "/now":
        await now.send(page, connection)
    elif path == "/chat" and reads:
        await page.send_chat(connection, 200)
    elif path == "/events":
        await page.follow(connection, request)
    elif path == "/log":
        await now.send_log(page, connection, request.is_guest)
    elif path == "/readings":
        await readings.send(page, connection, request)
    elif path == "/readings.csv":
        await readings.send_csv(page, connection, request)
    elif path == "/heartbeat":
        await (heartbeat_file.get if reads else heartbeat_file.put)(page, connection, request)
    elif path == "/heartbeat/check":
        await heartbeat_file.check(page, connection, request)
    elif path == "/alarms":
        await actions.alarm(page, connection, request)
    elif path == "/sensors":
        await sensors.add(page, connection, request)
    elif path == "/sensors/find":
        await sensors.find(page, connection, request)
    elif path == "/settings":
        await (settings.get if reads else settings.change)(page, connection, request)
    elif path == "/openapi.json":
        await send_file(connection, request, "openapi.json")
    else:
        await actions.answer(page, connection, request, path, reads)


# The build compresses them (tenner_host/page_files.py), so that flash and network take less.
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
