"""A request to the model in one shape for both wire formats, and the answer to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .pictures import Picture


@dataclass(frozen=True)
class Tool:
    """A tool on offer."""

    name: str
    description: str
    parameters: dict[str, Any]

    @property
    def properties(self) -> dict[str, Any]:
        found = self.parameters.get("properties")
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class ToolCall:
    """A call the model makes (id still empty) or made."""

    name: str
    arguments: dict[str, Any]
    id: str = ""

    def same(self, other: ToolCall) -> bool:
        return self.name == other.name and self.arguments == other.arguments


@dataclass
class Message:
    """One message; `call_id` is set for role "tool" only."""

    role: str
    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    call_id: str = ""
    pictures: list[Picture] = field(default_factory=list)


@dataclass
class Conversation:
    """Everything in a request that may influence the answer."""

    system: str = ""
    messages: list[Message] = field(default_factory=list)
    tools: dict[str, Tool] = field(default_factory=dict)

    def turn(self) -> list[Message]:
        """Return the messages since the last answer that made no calls."""
        start = 0
        for index, message in enumerate(self.messages):
            if message.role == "assistant" and not message.calls:
                start = index + 1
        return self.messages[start:]

    def task(self) -> str:
        """Return the user's words in this turn."""
        return "\n".join(message.text for message in self.turn() if message.role == "user")

    def pictures(self) -> list[Picture]:
        """Return the pictures of this turn."""
        return [picture for message in self.turn() for picture in message.pictures]

    def done(self) -> Iterator[tuple[ToolCall, str]]:
        """Yield this turn's calls with their results."""
        turn = self.turn()
        results = {message.call_id: message.text for message in turn if message.role == "tool"}
        for message in turn:
            for call in message.calls:
                if call.id in results:
                    yield call, results[call.id]


@dataclass
class Answer:
    """The model's text and tool calls."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
