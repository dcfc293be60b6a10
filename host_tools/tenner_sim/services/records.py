"""The traffic of a service: recorded requests, and answers before they are framed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from .faults import Step


@dataclass
class Request:
    """One request as it arrived. `headers` (lower-case names) and `path` contain no keys."""

    number: int
    connection: int
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    #: The parsed JSON body; None without a valid one.
    json: Any
    #: Seconds on the monotonic clock at the last byte of the body.
    at: float
    #: Status of the answer; None without one (as after a stall or a reset).
    status: int | None = None
    #: The plan's step that was applied, if any.
    step: Step | None = None


@dataclass
class Call:
    """The argument of a service's `respond`: the record and the secrets that it omits."""

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
