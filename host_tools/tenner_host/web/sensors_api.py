"""The API's requests about chips and new sensors, at the agent's console."""

from __future__ import annotations

import functools
import re
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tenner_host import FIRMWARE
from tenner_host.web.bodies import BadRequest, body_of, text_of
from tenner_host.web.guard import refusal
from tenner_host.web.state import State

_CHIP = re.compile(
    r"(?P<bus>\S+) (?P<address>0x[0-9a-f]{2}): (?P<chips>.*?)"
    r"(?: \(your sensor (?P<sensor>.*)\)|; /sensors add .*)?"
)
_UNKNOWN = "an unknown chip"
_NOT_ADDED = " is not added: "


class SensorsApi:
    """Handlers; `routes` in api.py names them."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def find(self, request: Request) -> Response:
        lines = await self._state.command("/sensors find")
        return JSONResponse(
            {"found": [found(line) for line in lines.splitlines()], "drivers": drivers()}
        )

    async def add(self, request: Request) -> Response:
        body = await body_of(request)
        settings = body.get("settings")
        if not isinstance(settings, dict):
            raise BadRequest("settings must be an object")
        words = [text_of(body, "name", 64), text_of(body, "driver", 40)]
        words += [f"{key}={value}" for key, value in settings.items()]
        if any(len(word.split()) != 1 for word in words):
            raise BadRequest("a name and a setting are one word each")
        text = await self._state.command(" ".join(["/sensors add", *words]))
        if _NOT_ADDED in text:
            return refusal(400, text)
        self._state.agent = None
        return JSONResponse({"answer": text})


def found(line: str) -> dict[str, Any]:
    """A line of `/sensors find` as JSON."""
    chip = _CHIP.fullmatch(line)
    if not chip:
        return {"bus": "", "problem": line}
    chips = "" if chip["chips"] == _UNKNOWN else chip["chips"]
    words = re.split(r"[,; ]+", chips.lower())
    return {
        "bus": chip["bus"],
        "address": chip["address"],
        "chips": chips,
        "drivers": [one for one in drivers() if one in words],
        "sensor": chip["sensor"],
    }


@functools.cache
def drivers() -> list[str]:
    """The names of the chips that have a driver."""
    rows = (FIRMWARE / "tenner" / "sensors" / "chips.tsv").read_text(encoding="utf-8")
    return [row.split("\t")[0] for row in rows.splitlines()]
