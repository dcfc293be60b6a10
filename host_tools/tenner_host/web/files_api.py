"""The API's requests that need the board's files: readings, runs, HEARTBEAT.md, settings."""

from __future__ import annotations

import asyncio
import functools
import json
import math
import time
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tenner_host.heartbeat import check
from tenner_host.heartbeat.replay import from_ring, replay
from tenner_host.output import visible
from tenner_host.sensors.ring import Series
from tenner_host.sensors.shape import quantity_and_unit
from tenner_host.setup import settings as store
from tenner_host.web import files, now
from tenner_host.web.bodies import BadRequest, body_of, text_of
from tenner_host.web.door import Door
from tenner_host.web.state import State

_MAX_HEARTBEAT = 16 * 1024
_POINTS = 4000
_RUNS = 200


class FilesApi:
    """Handlers; `routes` in api.py names them."""

    def __init__(self, state: State, door: Door) -> None:
        self._state = state
        self._door = door
        self._replaying = asyncio.Lock()

    async def log(self, request: Request) -> Response:
        runs = now.entries(self._run_lines()) if self._state.snapshot else []
        is_guest = self._door.is_guest(request)
        return JSONResponse(
            {
                "last_event": self._state.events.last,
                # A line may have a pairing code.
                "lines": [] if is_guest else self._state.events.kept("log"),
                "runs": runs,
            }
        )

    def _run_lines(self) -> list[str]:
        assert self._state.snapshot is not None
        lines = self._state.snapshot.run_log.decode(errors="replace").splitlines()[-_RUNS:]
        return [line for line in lines if _is_object(line)]

    async def read_files(self, request: Request) -> Response:
        self._state.snapshot = await self._state.wait(self._state.link.files(files.read))
        return JSONResponse({"files_at": self._state.snapshot.at, "board": self._state.board()})

    async def readings(self, request: Request) -> Response:
        self._state.kept()
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
        self._state.kept()
        rows = ["time,name,value"]
        for one in self._series(request):
            name = '"' + visible(one.name, keep="").replace('"', '""') + '"'
            rows += [
                f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(at))},{name},{value:g}"
                for at, value in zip(one.times, one.values, strict=True)
            ]
        headers = {"content-disposition": 'attachment; filename="readings.csv"'}
        return Response("\n".join(rows) + "\n", media_type="text/csv", headers=headers)

    def _series(self, request: Request) -> list[Series]:
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
            for one in self._state.live.series(self._state.kept().series)
            if (not names or one.name.startswith(names)) and (part := one.since(start))
        ]

    async def get_heartbeat(self, request: Request) -> Response:
        kept = self._state.kept()
        text = (kept.heartbeat or b"").decode(errors="replace")
        return JSONResponse(
            {
                "text": text,
                "version": files.version_of(kept.heartbeat),
                **check.for_a_page(text, kept.sensors, kept.settings),
            }
        )

    async def put_heartbeat(self, request: Request) -> Response:
        body = await body_of(request)
        text, base = text_of(body, "text", _MAX_HEARTBEAT), text_of(body, "version", 64)
        data = text.encode()

        def work(board: Any) -> files.Snapshot:
            files.write_heartbeat(board, data, base)
            return files.read(board)

        self._state.snapshot = await self._state.wait(self._state.link.files(work))
        self._state.agent = None
        return await self.get_heartbeat(request)

    async def check(self, request: Request) -> Response:
        text = text_of(await body_of(request), "text", _MAX_HEARTBEAT)
        snapshot = self._state.snapshot
        if snapshot is None:
            return JSONResponse(check.for_a_page(text, None, {}))
        return JSONResponse(check.for_a_page(text, snapshot.sensors, snapshot.settings))

    async def replay(self, request: Request) -> Response:
        text = text_of(await body_of(request), "text", _MAX_HEARTBEAT)
        kept = self._state.kept()
        keys = ("heartbeat.active_hours", "time.zone")
        wanted = {key: value for key in keys if (value := store.get(kept.settings, key))}
        readings = from_ring(kept.ring, "the board")
        async with self._replaying:
            found = await run_in_threadpool(functools.partial(replay, text, readings, wanted))
        return JSONResponse(found)

    async def get_settings(self, request: Request) -> Response:
        kept = self._state.kept()
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
        changes = (await body_of(request)).get("changes")
        if not isinstance(changes, dict) or not changes:
            raise BadRequest("changes must be an object of keys and their values as text")
        if not all(isinstance(value, str) for value in changes.values()):
            raise BadRequest("every value must be a text, as in `tenner setup --set`")

        started = await self._state.wait(
            self._state.link.files(lambda board: files.write_settings(board, changes))
        )
        self._state.snapshot = None
        self._state.agent = None
        return JSONResponse({"agent": started.as_json()})


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
