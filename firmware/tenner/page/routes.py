# tenner page.routes: the paths of the API, and the answer to each.
# MIT license; Copyright (c) 2026 the tenner authors
"""tenner_host/web/openapi.json describes them; a test compares the two."""

from tenner import __version__
from tenner.log_exception import log_exception
from tenner.page import heartbeat_file, now, readings, settings, static, stream
from tenner.page.access import TooManyTries
from tenner.page.request import Refused
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.page.channel import Page
    from tenner.page.connection import Connection
    from tenner.page.request import Request

PREFIX = "/api/v1"
_COOKIE = "tenner_session"
_TOKEN = "x-tenner-token"
#: A line of the chat holds no more.
_MAX_TEXT = const(2000)
_ACTIONS = ("ack", "mute", "unmute", "why")
#: The abilities that only some servers of the page have.
_OFFERS: tuple = ()


async def answer(
    page: "Page", connection: "Connection", request: "Request", is_secure: bool
) -> None:
    """Answer a request that is read completely; Refused for an error."""
    if request.path[: len(PREFIX)] != PREFIX:
        await static.send(connection, request)
        return
    path = request.path[len(PREFIX) :]
    known = _ROUTES.get(path)
    if known is None:
        raise Refused(404, "there is no such path: %s/openapi.json lists them" % PREFIX)
    handler = known.get(request.method)
    if handler is None:
        raise Refused(405, "this path takes %s" % " and ".join(sorted(known)))
    request.is_secure = is_secure
    request.halves = request.cookie(_COOKIE), request.headers.get(_TOKEN, "")
    if handler not in _OPEN and not page.access.allows(*request.halves):
        raise Refused(401, "pair this browser with the code that /web gives")
    try:
        await handler(page, connection, request)
    except Refused:
        raise
    except OSError as error:
        if connection.is_answered:
            raise
        raise Refused(422, str(error))
    except Exception as error:
        if connection.is_answered:
            raise
        log_exception("a request of the page failed", error)
        raise Refused(500, "the agent has a fault; its log shows it")


def board(page: "Page") -> dict:
    """Return the board and its connection as JSON."""
    name = page.app.config.get("name")
    return {
        "label": name,
        "name": name,
        "state": "connected",
        "text": "",
        "restarts_for_files": False,
    }


async def _openapi(page, connection, request):
    await static.send_file(connection, request, "openapi.json")


async def _pair(page, connection, request):
    code = request.text("code", 64)
    try:
        made = page.access.pair(code)
    except TooManyTries as error:
        wait_s = error.args[0]
        raise Refused(429, "too many wrong codes: wait %d s" % wait_s, "Retry-After: %d" % wait_s)
    if made is None:
        raise Refused(403, "this is not the code, or it is over: /web gives a new one")
    cookie = "Set-Cookie: %s=%s; HttpOnly; Path=%s; SameSite=strict" % (_COOKIE, made[0], PREFIX)
    await connection.answer(
        200, {"token": made[1]}, cookie + ("; Secure" if request.is_secure else "")
    )


async def _session(page, connection, request):
    await connection.answer(
        200, {"board": board(page), "version": __version__, "offers": list(_OFFERS)}
    )


async def _leave(page, connection, request):
    page.access.end(*request.halves)
    gone = 'Set-Cookie: %s=""; Max-Age=0; Path=%s; SameSite=strict' % (_COOKIE, PREFIX)
    await connection.start(204, "", (gone, "Cache-Control: no-store"))


async def _now(page, connection, request):
    app = page.app
    agent = await now.agent(page)
    found = {
        "board": board(page),
        "problem": None,
        "agent": agent,
        "sensors": await readings.sparks(app),
        "files_at": app.clock.now(),
    }
    await connection.answer(200, found)


async def _alarm(page, connection, request):
    body = request.object()
    action = request.text("action", 10)
    words = ["/alarms", action, request.text("id", 20)]
    if action not in _ACTIONS:
        raise Refused(400, "action must be one of %s" % ", ".join(_ACTIONS))
    if body.get("duration"):
        words.append(request.text("duration", 20))
    await _command(page, connection, " ".join(words))


async def _run_tasks(page, connection, request):
    line = request.object().get("line")
    if line is not None and (not isinstance(line, int) or isinstance(line, bool)):
        raise Refused(400, "line must be the number of a line")
    await _command(page, connection, "/trigger" if line is None else "/trigger %d" % line)


async def _command(page, connection, text):
    answer = await page.command(text)
    await connection.answer(200, {"answer": answer})


async def _get_chat(page, connection, request):
    await connection.answer(200, page.as_json())


async def _say(page, connection, request):
    text = " ".join(request.text("text", _MAX_TEXT).split())
    if not text:
        raise Refused(400, "text is empty: there is nothing to say")
    page.say(text)
    await connection.answer(202, page.as_json())


async def _answer(page, connection, request):
    yes = request.object().get("yes")
    if not isinstance(yes, bool):
        raise Refused(400, "yes must be true or false")
    page.answer(yes)
    await connection.answer(202, page.as_json())


async def _log(page, connection, request):
    found = {
        "last_event": page.events.last,
        "lines": page.events.of("log"),
        "runs": now.runs(page.app),
    }
    await connection.answer(200, found)


async def _read_files(page, connection, request):
    # They are read at each request.
    await connection.answer(200, {"files_at": page.app.clock.now(), "board": board(page)})


async def _replay(page, connection, request):
    raise Refused(404, "this board does not replay a text: `tenner web` on your computer does")


async def _update(page, connection, request):
    await connection.answer(200, {"board_version": __version__, "computer_version": None})


async def _ask_update(page, connection, request):
    await _command(page, connection, "/update")


_ROUTES = {
    "/openapi.json": {"GET": _openapi},
    "/pair": {"POST": _pair},
    "/session": {"GET": _session, "DELETE": _leave},
    "/now": {"GET": _now},
    "/alarms": {"POST": _alarm},
    "/tasks/run": {"POST": _run_tasks},
    "/chat": {"GET": _get_chat, "POST": _say},
    "/chat/answer": {"POST": _answer},
    "/events": {"GET": stream.send},
    "/log": {"GET": _log},
    "/files/read": {"POST": _read_files},
    "/readings": {"GET": readings.send},
    "/readings.csv": {"GET": readings.send_csv},
    "/heartbeat": {"GET": heartbeat_file.get, "PUT": heartbeat_file.put},
    "/heartbeat/check": {"POST": heartbeat_file.check},
    "/heartbeat/replay": {"POST": _replay},
    "/settings": {"GET": settings.get, "PATCH": settings.change},
    "/update": {"GET": _update, "POST": _ask_update},
}
#: These need no session.
_OPEN = (_openapi, _pair)
