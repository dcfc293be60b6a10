"""The API under the page, version 1; openapi.json describes it, and a test compares the two."""

from __future__ import annotations

import asyncio
import functools
import importlib.resources
import json
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tenner_host import tenner_version
from tenner_host.board.opening import class_of
from tenner_host.console.console import LOG_LINE, Kind, Said
from tenner_host.errors import BoardSilent, CommandError, Conflict
from tenner_host.heartbeat import check
from tenner_host.heartbeat.replay import from_ring, replay
from tenner_host.output import KEPT, is_hidden, visible
from tenner_host.sensors.shape import quantity_and_unit
from tenner_host.setup import settings as store
from tenner_host.web import files, now
from tenner_host.web.access import COOKIE, TOKEN, Access, TooManyTries
from tenner_host.web.chat import Chat
from tenner_host.web.events import Event, Events, Slow
from tenner_host.web.guard import TOO_LONG, TooLarge, TooSlow, refusal
from tenner_host.web.link import BUSY, BoardLink, LinkConsole

T = TypeVar("T")
Handler = Callable[[Request], Awaitable[Response]]

PREFIX = "/api/v1"
#: These need no session.
_OPEN = ("/openapi.json", "/pair")
#: The agent's state is asked for at most so often, however many pages are open.
_FRESH_S = 3.0
#: A stream says something at least so often, so that both ends see a lost connection.
_QUIET_S = 15.0
#: A line of the console holds no more.
_MAX_TEXT = 2000
_MAX_HEARTBEAT = 16 * 1024
_POINTS = 4000
_ACTIONS = ("ack", "mute", "unmute", "why")


class BadRequest(Exception):
    """The request's fault, in a sentence."""


class Api:
    """The handlers, and the state that they share."""

    def __init__(self, link: BoardLink, access: Access, events: Events, chat: Chat) -> None:
        self.link = link
        self.access = access
        self.events = events
        self.chat = chat
        self.live = now.LiveValues()
        self.snapshot: files.Snapshot | None = None
        self._now: dict[str, Any] | None = None
        self._now_lock = asyncio.Lock()
        self._replaying = asyncio.Lock()

    def heard(self, said: Said) -> None:
        """Take a line or a frame of the agent, in the link's thread."""
        if said.kind is not Kind.LINE:
            self.chat.heard(said)
            return
        found = LOG_LINE.match(said.text)
        when, area, text = found.groups() if found else ("", "", said.text)
        self.events.publish("log", when=when, area=visible(area), text=visible(text))

    def changed(self, state: str, text: str) -> None:
        """Take a change of the connection, in the link's thread."""
        self.events.publish("link", state=state, text=visible(text))

    # Entry.

    async def openapi(self, request: Request) -> Response:
        return Response(openapi_document(), media_type="application/json")

    async def pair(self, request: Request) -> Response:
        code = _text(await _body(request), "code", 64)
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
        response.set_cookie(COOKIE, session, httponly=True, samesite="strict", path=PREFIX)
        return response

    async def session(self, request: Request) -> Response:
        return JSONResponse({"board": self._board(), "version": tenner_version()})

    async def leave(self, request: Request) -> Response:
        self.access.end(request.cookies[COOKIE])
        response = Response(status_code=204)
        response.delete_cookie(COOKIE, path=PREFIX)
        return response

    def _board(self) -> dict[str, Any]:
        kept = self.snapshot
        name = store.get(kept.settings, "name") if kept else None
        return {
            "label": visible(self.link.port.label),
            "name": visible(str(name)) if name else None,
            "state": self.link.state,
            "text": visible(self.link.text),
            "restarts_for_files": class_of(self.link.port).has_repl,
        }

    # The agent, at its console.

    async def now(self, request: Request) -> Response:
        problem = None
        async with self._now_lock:
            if self._now is None or time.time() - self._now["at"] >= _FRESH_S:
                try:
                    self._now = await self._ask(now.ask)
                    self.live.take(self._now)
                except CommandError as exc:
                    problem = visible(exc.message)
        at = int(time.time())
        stored = self.snapshot.series if self.snapshot else []
        return JSONResponse(
            {
                "board": self._board(),
                "problem": problem,
                "agent": self._now,
                "sensors": now.sparks(self.live.series(stored), at),
                "files_at": self.snapshot.at if self.snapshot else None,
            }
        )

    async def alarm(self, request: Request) -> Response:
        body = await _body(request)
        action, name = _text(body, "action", 10), _text(body, "id", 20)
        if action not in _ACTIONS:
            raise BadRequest(f"action must be one of {', '.join(_ACTIONS)}")
        words = ["/alarms", action, name]
        if body.get("duration"):
            words.append(_text(body, "duration", 20))
        command = " ".join(words)
        answer = await self._ask(lambda console: console.ask_for(command, lambda lines: True))
        self._now = None
        return JSONResponse({"answer": visible("\n".join(answer))})

    async def run_tasks(self, request: Request) -> Response:
        line = (await _body(request)).get("line")
        if line is not None and not isinstance(line, int):
            raise BadRequest("line must be the number of a line")
        command = "/trigger" if line is None else f"/trigger {line}"
        answer = await self._ask(lambda console: console.ask_for(command, lambda lines: True))
        return JSONResponse({"answer": visible("\n".join(answer))})

    async def get_chat(self, request: Request) -> Response:
        return JSONResponse(self.chat.as_json())

    async def say(self, request: Request) -> Response:
        text = " ".join(_text(await _body(request), "text", _MAX_TEXT).split())
        if not text:
            raise BadRequest("text is empty: there is nothing to say")
        if self.chat.is_waiting:
            return refusal(409, "the agent has not answered yet")
        self.chat.asked(text)
        try:
            await self._await(self.link.console(lambda console: console.say(text)))
        except CommandError as exc:
            self.chat.unsent(visible(exc.message))
            raise
        return JSONResponse(self.chat.as_json(), 202)

    async def answer(self, request: Request) -> Response:
        yes = (await _body(request)).get("yes")
        if not isinstance(yes, bool):
            raise BadRequest("yes must be true or false")
        if self.chat.as_json()["question"] is None:
            return refusal(409, "the agent asks nothing now")
        await self._await(self.link.console(lambda console: console.answer(yes)))
        self.chat.answered(yes)
        return JSONResponse(self.chat.as_json(), 202)

    async def get_events(self, request: Request) -> Response:
        after = request.headers.get("last-event-id", "")
        reader = self.events.reader(int(after) if after.isdecimal() else self.events.last)

        async def stream() -> AsyncIterator[bytes]:
            try:
                yield b": tenner\n\n"
                while True:
                    event = await reader.next(_QUIET_S)
                    yield b": quiet\n\n" if event is None else _sse(event)
            except Slow:
                return
            finally:
                self.events.leave(reader)

        headers = {"cache-control": "no-store"}
        return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)

    async def log(self, request: Request) -> Response:
        runs = now.entries(self._run_lines()) if self.snapshot else []
        return JSONResponse(
            {"last_event": self.events.last, "lines": self.events.kept("log"), "runs": runs}
        )

    def _run_lines(self) -> list[str]:
        assert self.snapshot is not None
        lines = self.snapshot.run_log.decode(errors="replace").splitlines()[-200:]
        return [line for line in lines if _is_object(line)]

    # The board's files.

    async def read_files(self, request: Request) -> Response:
        self.snapshot = await self._await(self.link.files(files.read))
        return JSONResponse({"files_at": self.snapshot.at, "board": self._board()})

    def _kept(self) -> files.Snapshot:
        if self.snapshot is None:
            raise CommandError("the board's files are not read yet: POST /api/v1/files/read")
        return self.snapshot

    async def readings(self, request: Request) -> Response:
        self._kept()
        return JSONResponse(
            {
                "series": [
                    {
                        "name": visible(one.name),
                        "unit": quantity_and_unit(one)[1],
                        "points": [[at, value] for at, value in now.thinned(one, _POINTS)],
                    }
                    for one in self._series(request)
                ]
            }
        )

    async def readings_csv(self, request: Request) -> Response:
        self._kept()
        rows = ["time,name,value"]
        for one in self._series(request):
            name = '"' + visible(one.name, keep="").replace('"', '""') + '"'
            rows += [
                f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(at))},{name},{value:g}"
                for at, value in zip(one.times, one.values, strict=True)
            ]
        headers = {"content-disposition": 'attachment; filename="readings.csv"'}
        return Response("\n".join(rows) + "\n", media_type="text/csv", headers=headers)

    def _series(self, request: Request) -> list[Any]:
        text = request.query_params.get("hours", "24")
        try:
            hours = float(text)
        except ValueError:
            hours = math.nan
        if not 0 < hours <= 24 * 366:
            raise BadRequest("hours must be a number over 0, up to a year")
        start = time.time() - hours * 3600
        names = tuple(request.query_params.getlist("name"))
        return [
            part
            for one in self.live.series(self._kept().series)
            if (not names or one.name.startswith(names)) and (part := one.since(start))
        ]

    async def get_heartbeat(self, request: Request) -> Response:
        kept = self._kept()
        text = (kept.heartbeat or b"").decode(errors="replace")
        return JSONResponse(
            {
                "text": text,
                "version": files.version_of(kept.heartbeat),
                "problems": check.problems(text),
            }
        )

    async def put_heartbeat(self, request: Request) -> Response:
        body = await _body(request)
        text, base = _text(body, "text", _MAX_HEARTBEAT), _text(body, "version", 64)
        data = text.encode()

        def work(board: Any) -> files.Snapshot:
            files.write_heartbeat(board, data, base)
            return files.read(board)

        self.snapshot = await self._await(self.link.files(work))
        self._now = None
        return await self.get_heartbeat(request)

    async def check(self, request: Request) -> Response:
        text = _text(await _body(request), "text", _MAX_HEARTBEAT)
        return JSONResponse({"problems": check.problems(text)})

    async def replay(self, request: Request) -> Response:
        text = _text(await _body(request), "text", _MAX_HEARTBEAT)
        kept = self._kept()
        keys = ("heartbeat.active_hours", "time.zone")
        wanted = {key: value for key in keys if (value := store.get(kept.settings, key))}
        readings = from_ring(kept.ring, "the board")
        async with self._replaying:
            found = await run_in_threadpool(functools.partial(replay, text, readings, wanted))
        return JSONResponse(found)

    async def get_settings(self, request: Request) -> Response:
        kept = self._kept()
        shown = dict(store.shown(kept.settings))
        rows = [
            {
                "key": key,
                "about": about,
                "secret": store.is_secret(key),
                "value": None if key not in shown else visible(shown.pop(key)),
            }
            for key, about in store.every_key()
        ]
        others = [
            {"key": visible(key), "about": "", "secret": store.is_secret(key), "value": "…"}
            for key in shown
        ]
        return JSONResponse({"settings": rows + others})

    async def patch_settings(self, request: Request) -> Response:
        changes = (await _body(request)).get("changes")
        if not isinstance(changes, dict) or not changes:
            raise BadRequest("changes must be an object of keys and their values as text")
        if not all(isinstance(value, str) for value in changes.values()):
            raise BadRequest("every value must be a text, as in `tenner setup --set`")

        started = await self._await(
            self.link.files(lambda board: files.write_settings(board, changes))
        )
        self.snapshot = None
        self._now = None
        return JSONResponse({"agent": started.as_json()})

    async def update(self, request: Request) -> Response:
        agent = self._now["status"] if self._now else {}
        return JSONResponse(
            {"board_version": agent.get("version"), "computer_version": tenner_version()}
        )

    async def ask_update(self, request: Request) -> Response:
        answer = await self._ask(lambda console: console.ask_for("/update", lambda lines: True))
        return JSONResponse({"answer": visible("\n".join(answer))})

    # Calls into the link's thread.

    async def _ask(self, work: Callable[[LinkConsole], T]) -> T:
        """Ask the agent; its answer could be taken for the one that a person waits for."""
        if self.chat.is_waiting:
            raise BoardSilent(BUSY)
        return await self._await(self.link.console(work))

    async def _await(self, done: Future[T]) -> T:
        return await asyncio.wrap_future(done)

    def routes(self) -> list[Route]:
        table: list[tuple[str, str, Handler]] = [
            ("GET", "/openapi.json", self.openapi),
            ("POST", "/pair", self.pair),
            ("GET", "/session", self.session),
            ("DELETE", "/session", self.leave),
            ("GET", "/now", self.now),
            ("POST", "/alarms", self.alarm),
            ("POST", "/tasks/run", self.run_tasks),
            ("GET", "/chat", self.get_chat),
            ("POST", "/chat", self.say),
            ("POST", "/chat/answer", self.answer),
            ("GET", "/events", self.get_events),
            ("GET", "/log", self.log),
            ("POST", "/files/read", self.read_files),
            ("GET", "/readings", self.readings),
            ("GET", "/readings.csv", self.readings_csv),
            ("GET", "/heartbeat", self.get_heartbeat),
            ("PUT", "/heartbeat", self.put_heartbeat),
            ("POST", "/heartbeat/check", self.check),
            ("POST", "/heartbeat/replay", self.replay),
            ("GET", "/settings", self.get_settings),
            ("PATCH", "/settings", self.patch_settings),
            ("GET", "/update", self.update),
            ("POST", "/update", self.ask_update),
        ]
        return [
            Route(PREFIX + path, self._guarded(handler, path in _OPEN), methods=[method])
            for method, path, handler in table
        ]

    def _guarded(self, handler: Handler, is_open: bool) -> Handler:
        """Demand a session, and turn errors into sentences."""

        async def guarded(request: Request) -> Response:
            given = request.cookies.get(COOKIE), request.headers.get(TOKEN)
            if not is_open and not self.access.allows(*given):
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
            response.headers.setdefault("cache-control", "no-store")
            return response

        return guarded


@functools.cache
def openapi_document() -> bytes:
    """The description of this API."""
    return importlib.resources.files("tenner_host.web").joinpath("openapi.json").read_bytes()


async def _body(request: Request) -> dict[str, Any]:
    """The request's object."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    data = await request.body()
    if kind != "application/json":
        raise BadRequest("the body must be JSON, with Content-Type: application/json")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadRequest("the body must be a JSON object")
    return found


def _text(body: dict[str, Any], name: str, limit: int) -> str:
    value = body.get(name)
    if not isinstance(value, str) or len(value) > limit:
        raise BadRequest(f"{name} must be a text of at most {limit} characters")
    # Ctrl-C in a line would stop the agent.
    if any(is_hidden(letter) and letter not in KEPT for letter in value):
        raise BadRequest(f"{name} has a control character in it")
    return value


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _sse(event: Event) -> bytes:
    data = json.dumps(event, ensure_ascii=False)
    return f"id: {event['id']}\nevent: {event['type']}\ndata: {data}\n\n".encode()
