"""The boards below a topic of a broker, as their messages there report them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

#: The topics below that of a board.
KINDS = ("status", "state", "sensor/+")

#: A message without a value, which says that something has happened.
ALERT = "alert"


def watched_topics(topic: str) -> list[str]:
    """The topics of all boards below this one."""
    return [f"{topic}/+/{kind}" for kind in (*KINDS, ALERT)]


@dataclass
class Board:
    """A board's retained messages at the broker; `state` and `sensors` are its own JSON."""

    topic: str
    status: str = "unknown"
    state: dict[str, Any] = field(default_factory=dict)
    sensors: dict[str, dict[str, float]] = field(default_factory=dict)

    def take(self, kind: str, text: str) -> None:
        """Store the message at `kind` below the board's topic; ignore invalid JSON, which no board
        sends."""
        if kind == "status":
            self.status = text
            return
        try:
            value = json.loads(text)
        except ValueError:
            return
        if isinstance(value, dict) and kind == "state":
            self.state = value
        elif isinstance(value, dict):
            self.sensors[kind.removeprefix("sensor/")] = value
