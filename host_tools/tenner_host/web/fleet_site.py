"""The site of a fleet: tiles from the broker, and below them the page of each known board."""

from __future__ import annotations

import asyncio
import functools
import json
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Router

from tenner_host import page_files, tenner_version
from tenner_host.board.ports import Port
from tenner_host.output import visible
from tenner_host.remote import known
from tenner_host.remote.broker import Broker
from tenner_host.web.access import Access
from tenner_host.web.door import Door
from tenner_host.web.events import Events
from tenner_host.web.fleet_watch import FleetWatch
from tenner_host.web.one_board import OneBoard
from tenner_host.web.pages import page_routes
from tenner_host.web.streams import stream

#: A board is asked for its alarms at most so often, while somebody looks.
_FRESH_S = 60.0
_COOKIE = "tenner_fleet"


class FleetSite:
    """All boards below a topic; those that this computer knows have a page at `boards/ID/`."""

    def __init__(self, access: Access, broker: Broker, topic: str) -> None:
        self._door = Door(access, "/", _COOKIE)
        self._broker = broker
        self._topic = topic
        self.events = Events()
        self.watch = FleetWatch(broker, topic, self._changed)
        self.boards = {
            one.topic: OneBoard(Port(known.MQTT + one.device), self._door)
            for one in known.every()
            if one.topic.startswith(f"{topic}/")
        }
        self._ids = {one.topic: one.device for one in known.every()}
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._looked_at: dict[str, float] = {}
        self._problems: dict[str, str | None] = {}
        self.api = self._door.routes(
            [
                ("GET", "/openapi.json", self._openapi),
                ("POST", "/pair", self._door.pair),
                ("GET", "/session", self._session),
                ("DELETE", "/session", self._door.leave),
                ("GET", "/fleet", self._fleet),
                ("GET", "/events", self._events),
            ]
        )
        pages = [
            Mount(f"/boards/{self._ids[topic]}", Router(board.routes, redirect_slashes=False))
            for topic, board in self.boards.items()
        ]
        self.routes: Sequence[BaseRoute] = [
            *self.api,
            *pages,
            *page_routes(page_files.page("fleet.js")),
        ]

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self.events.attach(loop)
        for board in self.boards.values():
            board.start(loop)
        self.watch.start()

    def end(self) -> None:
        """End the streams of events, in the loop."""
        self.events.end()
        for board in self.boards.values():
            board.end()

    def stop(self) -> None:
        self.watch.stop()
        if self.boards:
            with ThreadPoolExecutor(len(self.boards)) as pool:
                list(pool.map(OneBoard.stop, self.boards.values()))

    def _changed(self, topic: str) -> None:
        """Tell the pages, from any thread."""
        if tile := self._tile(topic):
            self.events.publish("tile", tile=tile)

    def _tile(self, topic: str) -> dict[str, Any] | None:
        watched = self.watch.find(topic)
        if watched is None:
            return None
        board = self.boards.get(topic)
        return {
            **watched.as_json(),
            "page": f"boards/{self._ids[topic]}/" if board else None,
            "alarms": _alarms(board) if board else None,
            "problem": self._problems.get(topic),
        }

    async def _openapi(self, request: Request) -> Response:
        return self._door.described(request, openapi_document())

    async def _session(self, request: Request) -> Response:
        return JSONResponse(
            {
                "version": tenner_version(),
                "guest": self._door.is_guest(request),
                "place": f"{self._topic}/ on {self._broker.place}",
            }
        )

    async def _events(self, request: Request) -> Response:
        return stream(self.events, request)

    async def _fleet(self, request: Request) -> Response:
        topics = self.watch.topics()
        for topic in topics:
            if self._is_due(topic):
                self._looking[topic] = asyncio.create_task(self._look(topic))
        tiles = [tile for topic in topics if (tile := self._tile(topic))]
        return JSONResponse({"connected": self._broker.is_connected, "tiles": tiles})

    def _is_due(self, topic: str) -> bool:
        """Is it time to ask this board for its alarms?"""
        watched = self.watch.find(topic)
        if topic not in self.boards or watched is None or watched.board.status == "offline":
            return False
        if topic in self._looking:
            return False
        # An action on the board's page makes its state unknown, too.
        is_unknown = self.boards[topic].state.agent is None and not self._problems.get(topic)
        age_s = time.monotonic() - self._looked_at.get(topic, -math.inf)
        return is_unknown or watched.has_alerted or age_s >= _FRESH_S

    async def _look(self, topic: str) -> None:
        watched = self.watch.find(topic)
        try:
            fresh_s = _FRESH_S / 2
            if watched is not None and watched.has_alerted:
                watched.has_alerted = False
                fresh_s = 0
            self._problems[topic] = await self.boards[topic].state.look(fresh_s)
        finally:
            self._looked_at[topic] = time.monotonic()
            del self._looking[topic]
        self._changed(topic)


def _alarms(board: OneBoard) -> list[dict[str, Any]] | None:
    """The open alarms as the agent has told them; None before that."""
    agent = board.state.agent
    if agent is None:
        return None
    return [
        {
            "text": visible(str(task.get("text", "")).partition("\n")[0]),
            "condition": task.get("condition"),
            "state": task.get("state"),
        }
        for task in agent["tasks"]
        if task.get("alarm") is not None
    ]


@functools.cache
def openapi_document() -> bytes:
    """The description of this API: some requests of a board's, and the tiles."""
    board = json.loads(page_files.openapi())
    own = json.loads(page_files.fleet_openapi())
    shared = {
        path: operations
        for path, operations in board["paths"].items()
        if path in ("/openapi.json", "/pair", "/events")
    }
    leave = {"delete": board["paths"]["/session"]["delete"]}
    paths = {**shared, **own["paths"]}
    paths["/session"] = {**paths["/session"], **leave}
    schemas = {**board["components"]["schemas"], **own["components"]["schemas"]}
    components = {**board["components"], "schemas": schemas}
    return json.dumps(
        {**board, "info": own["info"], "paths": paths, "components": components}
    ).encode()
