"""The API under the page, version 1; openapi.json describes it, and a test compares the two."""

from __future__ import annotations

import functools
import math
import traceback
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tenner_host import page_files, tenner_version
from tenner_host.errors import BoardSilent, CommandError, Conflict
from tenner_host.output import visible
from tenner_host.web.access import COOKIE, TOKEN, TooManyTries
from tenner_host.web.agent_api import AgentApi
from tenner_host.web.bodies import BadRequest, body_of, text_of
from tenner_host.web.files_api import FilesApi
from tenner_host.web.guard import TOO_LONG, TooLarge, TooSlow, refusal
from tenner_host.web.state import State

#: The abilities that only some servers of the page have.
OFFERS = ["replay"]
Handler = Callable[[Request], Awaitable[Response]]

PREFIX = "/api/v1"
#: These need no session.
_OPEN = ("/openapi.json", "/pair")


class Api:
    """The routes, and the requests that pair and end a session."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._access = state.access

    async def openapi(self, request: Request) -> Response:
        return Response(openapi_document(), media_type="application/json")

    async def pair(self, request: Request) -> Response:
        code = text_of(await body_of(request), "code", 64)
        try:
            made = self._access.pair(code)
        except TooManyTries as exc:
            wait_s = math.ceil(exc.args[0])
            return refusal(
                429, f"too many wrong codes: wait {wait_s} s", **{"retry-after": str(wait_s)}
            )
        if made is None:
            return refusal(403, "this is not the code that the terminal shows")
        session, token = made
        response = JSONResponse({"token": token})
        response.set_cookie(COOKIE, session, httponly=True, samesite="strict", path=PREFIX)
        return response

    async def session(self, request: Request) -> Response:
        return JSONResponse(
            {"board": self._state.board(), "version": tenner_version(), "offers": OFFERS}
        )

    async def leave(self, request: Request) -> Response:
        self._access.end(request.cookies[COOKIE])
        response = Response(status_code=204)
        response.delete_cookie(COOKIE, path=PREFIX)
        return response

    def routes(self) -> list[Route]:
        agent, files = AgentApi(self._state), FilesApi(self._state)
        table: list[tuple[str, str, Handler]] = [
            ("GET", "/openapi.json", self.openapi),
            ("POST", "/pair", self.pair),
            ("GET", "/session", self.session),
            ("DELETE", "/session", self.leave),
            ("GET", "/now", agent.now),
            ("POST", "/alarms", agent.alarm),
            ("POST", "/tasks/run", agent.run_tasks),
            ("GET", "/chat", agent.get_chat),
            ("POST", "/chat", agent.say),
            ("POST", "/chat/answer", agent.answer),
            ("GET", "/events", agent.get_events),
            ("GET", "/log", files.log),
            ("POST", "/files/read", files.read_files),
            ("GET", "/readings", files.readings),
            ("GET", "/readings.csv", files.readings_csv),
            ("GET", "/heartbeat", files.get_heartbeat),
            ("PUT", "/heartbeat", files.put_heartbeat),
            ("POST", "/heartbeat/check", files.check),
            ("POST", "/heartbeat/replay", files.replay),
            ("GET", "/settings", files.get_settings),
            ("PATCH", "/settings", files.patch_settings),
            ("GET", "/update", agent.update),
            ("POST", "/update", agent.ask_update),
        ]
        return [
            Route(PREFIX + path, self._guarded(handler, path in _OPEN), methods=[method])
            for method, path, handler in table
        ]

    def _guarded(self, handler: Handler, is_open: bool) -> Handler:
        """Demand a session, and turn errors into sentences."""

        async def guarded(request: Request) -> Response:
            given = request.cookies.get(COOKIE), request.headers.get(TOKEN)
            if not is_open and not self._access.allows(*given):
                return refusal(401, "pair this browser with the code that the terminal shows")
            try:
                response = await handler(request)
            except BadRequest as exc:
                return refusal(400, str(exc))
            except TooLarge:
                return refusal(413, TOO_LONG)
            except TooSlow:
                return refusal(408, "the body did not come in time")
            except Conflict as exc:
                return refusal(409, visible(exc.message))
            except BoardSilent as exc:
                return refusal(503, visible(exc.message))
            except CommandError as exc:
                return refusal(422, visible(exc.message))
            except Exception:
                # A fault of this program, whose log is the terminal.
                traceback.print_exc()
                return refusal(500, "tenner web has a fault; its terminal shows it")
            response.headers.setdefault("cache-control", "no-store")
            return response

        return guarded


@functools.cache
def openapi_document() -> bytes:
    """The description of this API."""
    return page_files.openapi()
