"""The API's requests to the agent, at its console."""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tenner_host import tenner_version
from tenner_host.errors import CommandError
from tenner_host.output import visible
from tenner_host.setup import settings as store
from tenner_host.web import now
from tenner_host.web.bodies import BadRequest, body_of, text_of
from tenner_host.web.door import Door
from tenner_host.web.guard import refusal
from tenner_host.web.state import State
from tenner_host.web.streams import stream

#: The agent's state is asked for at most so often, however many pages are open.
_FRESH_S = 3.0
#: A line of the console holds no more.
_MAX_TEXT = 2000
_ACTIONS = ("ack", "mute", "unmute", "why")
#: Commands whose answers have pairing codes.
_CODES = ("/pair", "/page", "/web")


class AgentApi:
    """Handlers; `routes` in api.py names them."""

    def __init__(self, state: State, door: Door) -> None:
        self._state = state
        self._door = door

    async def now(self, request: Request) -> Response:
        problem = await self._state.look(_FRESH_S)
        at = int(time.time())
        kept = self._state.snapshot
        series = self._state.live.series(kept.series if kept else [])
        series = now.in_owners_order(series, kept.sensors if kept else None)
        every_s = store.seconds(kept.settings if kept else {}, "sensors.every")
        return JSONResponse(
            {
                "board": self._state.board(),
                "problem": problem,
                "agent": self._state.agent,
                "sensors": now.sparks(series, at, every_s),
                "files_at": kept.at if kept else None,
            }
        )

    async def alarm(self, request: Request) -> Response:
        body = await body_of(request)
        action, name = text_of(body, "action", 10), text_of(body, "id", 20)
        if action not in _ACTIONS:
            raise BadRequest(f"action must be one of {', '.join(_ACTIONS)}")
        words = ["/alarms", action, name]
        if body.get("duration"):
            words.append(text_of(body, "duration", 20))
        answer = await self._state.command(" ".join(words))
        self._state.agent = None
        return JSONResponse({"answer": answer})

    async def run_tasks(self, request: Request) -> Response:
        line = (await body_of(request)).get("line")
        if line is not None and not isinstance(line, int):
            raise BadRequest("line must be the number of a line")
        command = "/trigger" if line is None else f"/trigger {line}"
        return JSONResponse({"answer": await self._state.command(command)})

    async def get_chat(self, request: Request) -> Response:
        return JSONResponse(self._state.chat.as_json())

    async def say(self, request: Request) -> Response:
        text = " ".join(text_of(await body_of(request), "text", _MAX_TEXT).split())
        if not text:
            raise BadRequest("text is empty: there is nothing to say")
        if "chat" in self._state.link.missing:
            raise CommandError(self._state.link.missing["chat"])
        if self._door.access.has_guests and text.split()[0].partition("@")[0].lower() in _CODES:
            return refusal(409, f"guests read this chat: type {text} in `tenner chat`")
        if self._state.chat.is_waiting:
            return refusal(409, "the agent has not answered yet")
        self._state.chat.asked(text)
        try:
            await self._state.wait(self._state.link.console(lambda console: console.say(text)))
        except CommandError as exc:
            self._state.chat.unsent(visible(exc.message))
            raise
        return JSONResponse(self._state.chat.as_json(), 202)

    async def answer(self, request: Request) -> Response:
        yes = (await body_of(request)).get("yes")
        if not isinstance(yes, bool):
            raise BadRequest("yes must be true or false")
        if self._state.chat.as_json()["question"] is None:
            return refusal(409, "the agent asks nothing now")
        await self._state.wait(self._state.link.console(lambda console: console.answer(yes)))
        self._state.chat.answered(yes)
        return JSONResponse(self._state.chat.as_json(), 202)

    async def get_events(self, request: Request) -> Response:
        # A line may have a pairing code.
        hidden = ("log",) if self._door.is_guest(request) else ()
        return stream(self._state.events, request, hidden)

    async def update(self, request: Request) -> Response:
        agent = self._state.agent["status"] if self._state.agent else {}
        return JSONResponse(
            {"board_version": agent.get("version"), "computer_version": tenner_version()}
        )

    async def ask_update(self, request: Request) -> Response:
        return JSONResponse({"answer": await self._state.command("/update")})
