# tenner page.actions: the short answers of the API.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import __version__, overlay
from tenner.page import access, now
from tenner.page.access import TooManyTries
from tenner.page.request import COOKIE, Refused
from tenner.port.compat import const
from tenner.schedule import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.page.channel import Page
    from tenner.page.connection import Connection
    from tenner.page.request import Request

_PREFIX = const("/api/v1")
#: A line of the chat holds no more.
_MAX_TEXT = const(2000)
_ACTIONS = ("ack", "mute", "unmute", "why")
#: The abilities that only some servers of the page have.
_OFFERS = ("sensors",)


async def answer(
    page: "Page", connection: "Connection", request: "Request", path: str, reads: bool
) -> None:
    """Answer a request for this path of the API; `reads`: is it a GET?"""
    if path == "/pair":
        await _pair(page, connection, request)
    elif path == "/session":
        await (_session if reads else _leave)(page, connection, request)
    elif path == "/tasks/run":
        await _run_tasks(page, connection, request)
    elif path == "/chat":
        await _say(page, connection, request)
    elif path == "/chat/answer":
        await _answer(page, connection, request)
    elif path == "/files/read":
        await _read_files(page, connection, request)
    elif path == "/update":
        await (_update if reads else _ask_update)(page, connection, request)
    else:
        raise Refused(404, "this board does not replay a text: `tenner web` on your computer does")


async def _pair(page, connection, request):
    sessions = access.of(page)
    try:
        made = sessions.pair(request.text("code", 64))
    except TooManyTries as error:
        wait_s = error.args[0]
        raise Refused(429, "too many wrong codes: wait %d s" % wait_s, "Retry-After: %d" % wait_s)
    finally:
        access.keep(page, sessions)
    if made is None:
        raise Refused(403, "this is not the code, or it is over: /web gives a new one")
    cookie = "Set-Cookie: %s=%s; HttpOnly; Path=%s; SameSite=strict" % (COOKIE, made[0], _PREFIX)
    await connection.answer(
        200, {"token": made[1]}, cookie + ("; Secure" if request.is_secure else "")
    )


async def _session(page, connection, request):
    found = {
        "board": now.about(page),
        "version": __version__,
        "offers": list(_OFFERS),
        "guest": request.is_guest,
    }
    await connection.answer(200, found)


async def _leave(page, connection, request):
    sessions = access.of(page)
    sessions.end(*request.halves)
    access.keep(page, sessions)
    gone = 'Set-Cookie: %s=""; Max-Age=0; Path=%s; SameSite=strict' % (COOKIE, _PREFIX)
    await connection.start(204, "", (gone, "Cache-Control: no-store"))


async def alarm(page: "Page", connection: "Connection", request: "Request") -> None:
    """Acknowledge, mute or explain an alarm."""
    # Two steps: memory has room for the code of one.
    words = await overlay.step("VIEW", alarm_words, request)
    text = await overlay.step("VIEW", command.act, page.app.get("heartbeat"), words)
    await connection.answer(200, {"answer": text})


async def alarm_words(request: "Request") -> list[str]:
    """Return the words of /alarms that a request asks for."""
    body = request.object()
    action = request.text("action", 10)
    words = [action, request.text("id", 20)]
    if action not in _ACTIONS:
        raise Refused(400, "action must be one of %s" % ", ".join(_ACTIONS))
    if body.get("duration"):
        words.append(request.text("duration", 20))
    return " ".join(words).split()


async def _run_tasks(page, connection, request):
    line = request.object().get("line")
    if line is not None and (not isinstance(line, int) or isinstance(line, bool)):
        raise Refused(400, "line must be the number of a line")
    await _command(page, connection, "/trigger" if line is None else "/trigger %d" % line)


async def _command(page, connection, text):
    answer = await page.command(text)
    await connection.answer(200, {"answer": answer})


async def _say(page, connection, request):
    text = " ".join(request.text("text", _MAX_TEXT).split())
    if not text:
        raise Refused(400, "text is empty: there is nothing to say")
    page.say(text)
    await page.send_chat(connection, 202)


async def _answer(page, connection, request):
    yes = request.object().get("yes")
    if not isinstance(yes, bool):
        raise Refused(400, "yes must be true or false")
    page.answer(yes)
    await page.send_chat(connection, 202)


async def _read_files(page, connection, request):
    # They are read at each request.
    await connection.answer(200, {"files_at": page.app.clock.now(), "board": now.about(page)})


async def _update(page, connection, request):
    await connection.answer(200, {"board_version": __version__, "computer_version": None})


async def _ask_update(page, connection, request):
    await _command(page, connection, "/update")
