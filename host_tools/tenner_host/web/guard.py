"""The layer around the API: refuses requests of foreign pages, bounds bodies and times, and adds
the headers that keep a browser strict."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from tenner_host.web.access import head_problem

MAX_BODY = 64 * 1024
TOO_LONG = f"the body is longer than {MAX_BODY // 1024} KB"
#: A request's head and its body each take at most so long; a client reads something at least
#: every SEND_S.
HEAD_S = 10.0
BODY_S = 10.0
SEND_S = 20.0

_HEADERS = [
    (
        b"content-security-policy",
        (
            b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            b"img-src 'self'; manifest-src data:; base-uri 'none'; form-action 'none'; "
            b"frame-ancestors 'none'"
        ),
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    # A connection has one request, so that its time is bounded as a whole.
    (b"connection", b"close"),
]


class TooLarge(Exception):
    """The body is over MAX_BODY."""


class TooSlow(Exception):
    """The body did not come within BODY_S."""


class Guard:
    """ASGI middleware; `port` is the server's own."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._port = port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        strict = _with_headers(send)
        problem = head_problem(headers, self._port)
        if problem is None and not headers.get("content-length", "0").isdecimal():
            problem = (400, "the Content-Length is no number")
        if problem is None and int(headers.get("content-length", "0")) > MAX_BODY:
            problem = (413, TOO_LONG)
        if problem is not None:
            await refusal(*problem)(scope, receive, strict)
            return
        await self._app(scope, _limited(receive), strict)


def refusal(status: int, sentence: str, **headers: str) -> JSONResponse:
    """An error's answer, the same shape everywhere."""
    return JSONResponse({"error": sentence}, status, headers=headers)


def _limited(receive: Receive) -> Receive:
    size = 0
    is_whole = False

    async def limited() -> Message:
        nonlocal size, is_whole
        if is_whole:
            # Waits for the end of the connection, which may be far.
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), BODY_S)
        except asyncio.TimeoutError:
            raise TooSlow from None
        size += len(message.get("body", b""))
        is_whole = not message.get("more_body", False)
        if size > MAX_BODY:
            raise TooLarge
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def strict(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *_HEADERS]}
        await send(message)

    return strict


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol; a client that sends no request, or reads nothing, is cut off."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._unsent = 0
        self._timers = [
            self.loop.call_later(HEAD_S, self._need_request),
            self.loop.call_later(SEND_S, self._need_reader),
        ]

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in self._timers:
            timer.cancel()
        super().connection_lost(exc)

    def _need_request(self) -> None:
        has_request = self.cycle is not None
        if not has_request:
            self.transport.abort()

    def _need_reader(self) -> None:
        """Cut off a client that took nothing since the last look; close() would wait for it."""
        before, self._unsent = self._unsent, self.transport.get_write_buffer_size()
        if before and self._unsent >= before:
            self.transport.abort()
        else:
            self._timers[1] = self.loop.call_later(SEND_S, self._need_reader)
