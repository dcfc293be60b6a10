# tenner page.routes: the paths of the API, and the answer to each.
# MIT license; Copyright (c) 2026 the tenner authors
"""tenner_host/web/openapi.json describes them; a test compares the two."""

from tenner.page import actions, heartbeat_file, now, readings, settings, static
from tenner.page.request import Refused
from tenner.port.compat import const

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
    "/settings": "GET and PATCH",
    "/update": "GET and POST",
}
#: These need no session.
_OPEN = ("/openapi.json", "/pair")
#: A guest may become an owner, and may leave.
_GUESTS = ("/pair", "/session")


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
            await static.send(connection, request)
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
    elif path == "/settings":
        await (settings.get if reads else settings.change)(page, connection, request)
    elif path == "/openapi.json":
        await static.send_file(connection, request, "openapi.json")
    else:
        await actions.answer(page, connection, request, path, reads)
