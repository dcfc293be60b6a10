"""What passes through a service: requests as recorded, answers before they are framed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from .faults import Step


@dataclass
class Request:
    """One request as it arrived. `headers` (lower-case names) and `path` are free of keys."""

    number: int
    connection: int
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    #: The parsed JSON body; None when there is none or it does not parse.
    json: Any
    #: Seconds on the monotonic clock when the last byte of the body was there.
    at: float
    #: Status of the answer; None while there is none (a stall or a reset leaves it so).
    status: int | None = None
    #: The plan's step that was applied, if any.
    step: Step | None = None


@dataclass
class Call:
    """What a service's `respond` gets: the record and the secrets that are not in it."""

    request: Request
    target: str
    headers: dict[str, str]
    step: Step


@dataclass
class Event:
    """One server-sent event."""

    data: str
    name: str = ""


@dataclass
class Response:
    """An answer: a body, or a stream of server-sent events."""

    status: int = 200
    body: bytes = b""
    headers: list[tuple[str, str]] = field(default_factory=list)
    events: list[Event] | None = None

    @classmethod
    def of_json(cls, value: Any, status: int = 200) -> Response:
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        return cls(status, body, [("Content-Type", "application/json")])
