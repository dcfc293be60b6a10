"""The API of a board, version 1; openapi.json describes it, and a test compares the two."""

from __future__ import annotations

import functools

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tenner_host import page_files, tenner_version
from tenner_host.web.agent_api import AgentApi
from tenner_host.web.door import Door
from tenner_host.web.files_api import FilesApi
from tenner_host.web.sensors_api import SensorsApi
from tenner_host.web.state import State

#: The abilities that only some servers of the page have.
OFFERS = ["replay", "sensors"]
#: Those that a way without a chat to the agent does not have.
_BY_CHAT = ("sensors",)


class Api:
    """The routes, and the request for the session."""

    def __init__(self, state: State, door: Door) -> None:
        self._state = state
        self._door = door

    async def openapi(self, request: Request) -> Response:
        return self._door.described(request, openapi_document())

    async def session(self, request: Request) -> Response:
        missing = self._state.link.missing
        found = {
            "board": self._state.board(),
            "version": tenner_version(),
            "offers": [one for one in OFFERS if one not in _BY_CHAT or "chat" not in missing],
            "guest": self._door.is_guest(request),
        }
        if missing:
            found["missing"] = missing
        return JSONResponse(found)

    def routes(self) -> list[Route]:
        door = self._door
        agent, files = AgentApi(self._state, door), FilesApi(self._state, door)
        sensors = SensorsApi(self._state)
        return door.routes(
            [
                ("GET", "/openapi.json", self.openapi),
                ("POST", "/pair", door.pair),
                ("GET", "/session", self.session),
                ("DELETE", "/session", door.leave),
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
                ("POST", "/sensors", sensors.add),
                ("POST", "/sensors/find", sensors.find),
                ("GET", "/settings", files.get_settings),
                ("PATCH", "/settings", files.patch_settings),
                ("GET", "/update", agent.update),
                ("POST", "/update", agent.ask_update),
            ]
        )


@functools.cache
def openapi_document() -> bytes:
    """The description of this API."""
    return page_files.openapi()
