"""The bodies of requests: JSON objects with texts that are safe to type at a console."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request

from tenner_host.output import KEPT, is_hidden


class BadRequest(Exception):
    """The request's fault, in a sentence."""


async def body_of(request: Request) -> dict[str, Any]:
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


def text_of(body: dict[str, Any], name: str, limit: int) -> str:
    """A text in it, at most `limit` characters long."""
    value = body.get(name)
    if not isinstance(value, str) or len(value) > limit:
        raise BadRequest(f"{name} must be a text of at most {limit} characters")
    # Ctrl-C in a line would stop the agent.
    if any(is_hidden(letter) and letter not in KEPT for letter in value):
        raise BadRequest(f"{name} has a control character in it")
    return value
