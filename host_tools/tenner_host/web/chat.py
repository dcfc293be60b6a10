"""The conversation with the agent: messages, a pending question, and whether an answer is due."""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from tenner_host.console.console import TURN_LIMIT_S, Kind, Said
from tenner_host.output import visible
from tenner_host.web.events import Events

_KEPT = 200
#: The tool calls of an answer that a message names, the newest (agent/history_lines.py).
_TOOLS = 8
#: A line of the log about a call: the call, its result.
_CALL = re.compile(r"(.*?) -> (.*), \d+ ms$")
_FAILED = "failed"


class Chat:
    """The transcript of this server's time. The link's thread and the server's loop use it."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._lock = threading.Lock()
        self._messages: deque[dict[str, Any]] = deque(maxlen=_KEPT)
        self._number = 0
        self._question: str | None = None
        self._failed = False
        self._until = 0.0
        self._tools: deque[dict[str, str]] = deque(maxlen=_TOOLS)

    @property
    def is_waiting(self) -> bool:
        """Is an answer of the agent due?"""
        return time.monotonic() < self._until

    def as_json(self) -> dict[str, Any]:
        with self._lock:
            return {
                "messages": list(self._messages),
                "question": self._question,
                "waiting": self.is_waiting,
            }

    def asked(self, text: str) -> None:
        """A person said something."""
        self._until = time.monotonic() + TURN_LIMIT_S
        self._tools.clear()
        self._add("you", text)

    def used(self, text: str) -> None:
        """The agent has run a tool: the text of its line in the log."""
        found = _CALL.match(text)
        if found and self.is_waiting:
            self._tools.append({"call": visible(found[1]), "result": visible(found[2])})

    def unsent(self, reason: str) -> None:
        """The person's text did not reach the agent."""
        self._until = 0.0
        self._add("tenner", reason, failed=True)

    def restarted(self) -> None:
        """The board has started again: the answer to the last message will not come."""
        if self.is_waiting:
            self._until = 0.0
            self._question = None
            self._add("tenner", "The board has restarted before it answered.", failed=True)

    def answered(self, yes: bool) -> None:
        """A person answered the question."""
        self._question = None
        self._add("you", "yes" if yes else "no")

    def heard(self, said: Said) -> None:
        """Take a frame of the agent."""
        if said.kind is Kind.READY:
            self._failed = said.text == _FAILED
        elif said.kind is Kind.QUESTION:
            self._question = visible(said.text).removesuffix(" [y/n]")
            self._events.publish("question", text=self._question)
        elif said.kind is Kind.ANSWER:
            self._until = 0.0
            self._question = None
            tools = list(self._tools)
            self._tools.clear()
            self._add("agent", visible(said.text), self._failed, tools)
            self._failed = False

    def _add(
        self, who: str, text: str, failed: bool = False, tools: Sequence[dict[str, str]] = ()
    ) -> None:
        with self._lock:
            self._number += 1
            message: dict[str, Any] = {
                "number": self._number,
                "who": who,
                "text": text,
                "failed": failed,
                "time": int(time.time()),
            }
            if tools:
                message["tools"] = tools
            self._messages.append(message)
        self._events.publish("chat", message=message)
