"""The entry to an API: pairing and sessions, guests, and the sentence of each error."""

from __future__ import annotations

import math
import traceback
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tenner_host.errors import BoardSilent, CommandError, Conflict
from tenner_host.output import visible
from tenner_host.web.access import COOKIE, TOKEN, Access, TooManyTries
from tenner_host.web.bodies import BadRequest, body_of, text_of
from tenner_host.web.guard import TOO_LONG, TooLarge, TooSlow, refusal

Handler = Callable[[Request], Awaitable[Response]]

PREFIX = "/api/v1"
#: These need no session.
_OPEN = ("/openapi.json", "/pair")
#: The changes that a guest may make: the end of the own session.
_OF_GUESTS = ("/session",)
_READS = ("GET", "HEAD")


class Door:
    """Lets paired browsers in by a cookie. A browser sends the cookies of this host to all of its
    ports, and those of one name for several paths together: another path needs another name, and
    the port is a part of it, so that two servers keep their browsers."""

    def __init__(self, access: Access, path: str = PREFIX, cookie: str = COOKIE) -> None:
        self.access = access
        self._path = path
        self._cookie = cookie

    def is_guest(self, request: Request) -> bool:
        """Does the request's session, which is allowed, only look?"""
        return self.access.is_guest(request.cookies.get(self._name(request)))

    def _name(self, request: Request) -> str:
        """The name of the cookie at this server."""
        return f"{self._cookie}_{request.scope['server'][1]}"

    def described(self, request: Request, document: bytes) -> Response:
        """Answer by the description of an API, with the name of the cookie."""
        data = document.replace(f'"{COOKIE}"'.encode(), f'"{self._name(request)}"'.encode())
        return Response(data, media_type="application/json")

    async def pair(self, request: Request) -> Response:
        code = text_of(await body_of(request), "code", 64)
        try:
            made = self.access.pair(code)
        except TooManyTries as exc:
            wait_s = math.ceil(exc.args[0])
            return refusal(
                429, f"too many wrong codes: wait {wait_s} s", **{"retry-after": str(wait_s)}
            )
        if made is None:
            return refusal(403, "this is not the code that the terminal shows")
        session, token = made
        response = JSONResponse({"token": token})
        response.set_cookie(
            self._name(request), session, httponly=True, samesite="strict", path=self._path
        )
        return response

    async def leave(self, request: Request) -> Response:
        name = self._name(request)
        self.access.end(request.cookies[name])
        response = Response(status_code=204)
        response.delete_cookie(name, path=self._path)
        return response

    def routes(self, table: list[tuple[str, str, Handler]]) -> list[Route]:
        """The routes of a table of (method, path, handler)."""
        return [
            Route(PREFIX + path, self._guarded(handler, path), methods=[method])
            for method, path, handler in table
        ]

    def _guarded(self, handler: Handler, path: str) -> Handler:
        """Demand a session, and turn errors into sentences."""

        async def guarded(request: Request) -> Response:
            if path not in _OPEN:
                given = request.cookies.get(self._name(request)), request.headers.get(TOKEN)
                if not self.access.allows(*given):
                    return refusal(401, "pair this browser with the code that the terminal shows")
                changes = request.method not in _READS and path not in _OF_GUESTS
                if changes and self.is_guest(request):
                    return refusal(403, "a guest only looks: the owner's code lets a browser act")
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
