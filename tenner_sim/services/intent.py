"""One intent of a user, and the way to build a tool call for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from . import readings
from .conversation import Tool, ToolCall


@dataclass(frozen=True)
class Intent:
    """One intent: a call, or words to say. `chip` or `sensor` explain a reading."""

    call: ToolCall | None = None
    say: str | None = None
    chip: readings.Chip | None = None
    sensor: str = ""
    #: An intermediate step without a report.
    quiet: bool = False


def fit(tool: Tool, wanted: list[tuple[str, Any]]) -> dict[str, Any]:
    """Name arguments as the tool's schema does.

    Each wanted value comes with its possible names, `path|file|name`; the first one in the schema
    is used.
    """
    arguments: dict[str, Any] = {}
    for names, value in wanted:
        for name in names.split("|"):
            if name in tool.properties and name not in arguments:
                arguments[name] = _typed(value, tool.properties[name])
                break
    return arguments


def _typed(value: Any, schema: Any) -> Any:
    kind = schema.get("type") if isinstance(schema, dict) else None
    kinds = kind if isinstance(kind, list) else [kind]
    if isinstance(value, str) and value.lower().startswith("0x") and "string" not in kinds:
        return int(value, 16) if "integer" in kinds or "number" in kinds else value
    if isinstance(value, int) and kinds == ["string"]:
        return str(value)
    if isinstance(value, str) and kinds == ["array"]:
        return [value]
    return value


def find(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.I | re.S)
