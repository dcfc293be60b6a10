"""The errors in a HEARTBEAT.md, in the board's own words."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from tenner_host import FIRMWARE

NAME = "HEARTBEAT.md"


def firmware(name: str) -> Any:
    """A module of the firmware, such as `schedule.heartbeat_parser`."""
    if str(FIRMWARE) not in sys.path:
        sys.path.append(str(FIRMWARE))
    return importlib.import_module("tenner." + name)


def problems(text: str) -> list[dict[str, Any]]:
    """Line and sentence of each error."""
    parser = firmware("schedule.heartbeat_parser")
    lines = enumerate(text.split("\n"), 1)
    return [
        {"line": line, "text": what}
        for kind, line, what, _ in parser.read(lines)
        if kind == parser.PROBLEM
    ]


def as_text(found: list[dict[str, Any]], name: str) -> list[str]:
    return [f"{name} line {one['line']}: {one['text']}" for one in found]
