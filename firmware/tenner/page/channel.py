# tenner page.channel: the page as a channel, with its conversation.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import log
from tenner.agent.history_lines import calls_of
from tenner.agent.message_queue import Message
from tenner.channels.console import KEPT
from tenner.channels.question import Question
from tenner.page import stream
from tenner.page.access import Access
from tenner.page.events import Events
from tenner.page.request import Refused
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from typing import Any

    from tenner.page.connection import Connection
    from tenner.page.request import Request
    from tenner.page.types import Application

_KEPT_MESSAGES = const(100)


class Page:
    """The conversation since the start, and the events of the page."""

    name = "page"
    chat = "owner"
    #: The server, once it listens.
    listening: "Any" = None
    #: How many streams of events are open (page.stream)?
    streams = 0
    #: Entries of the run log that a view gets.
    runs = 200
    #: As of a chip's page; `access` lasts here.
    kept: tuple | None = None
    #: Alarms go to the owner's channel, and to the page too.
    alert_chat = "alerts"
    #: The records of the turn whose answer comes next.
    lines: "Sequence[bytes]" = ()

    def __init__(
        self, app: "Application", serve: "Callable[[Application, Page], Coroutine]"
    ) -> None:
        self.app = app
        self._serve = serve
        self.access = Access(app.state, app.clock.mono_s)
        self.events = Events(app.clock.now)
        self._messages: list[dict] = []
        self._count = 0
        self._waits = False
        self._failed = False
        self._question: Question | None = None
        self._asking = asyncio.Lock()
        self._write = log.write
        log.write = self._log

    def _log(self, line):
        """Print a line of the log, and pass it on as an event."""
        self._write(line)
        parts = line.split(None, 2)
        if len(parts) == 3:
            self.events.publish("log", {"when": parts[0], "area": parts[1], "text": parts[2]})

    async def run(self) -> None:
        """Begin to serve browsers."""
        await self._serve(self.app, self)

    def offer(self, is_guest: bool = False) -> str:
        """Return the sentence that shows a new code."""
        get = self.app.config.get
        code = self.access.offer(is_guest)
        if get("web.cert"):
            names = get("web.hosts") or ["ADDRESS-OF-THIS-BOARD"]
            place = "https://%s:%d/" % (names[0], get("web.port"))
        else:
            place = "http://localhost:%d/" % get("web.port")
        return "Within ten minutes, open %s#code=%s\nor enter the code %s on the page." % (
            place,
            code,
            code,
        )

    # --- for the agent

    def fail(self) -> None:
        """Announce that the next answer is an error."""
        self._failed = True

    def show(self, chat: int | str, text: str) -> None:
        """Show an answer, or a message to the owner."""
        is_answer = chat == self.chat
        tools = ()
        if is_answer:
            self._waits = False
            tools, self.lines = calls_of(self.lines), ()
        failed = is_answer and self._failed
        self._add("agent", log.visible(log.redact(text), KEPT), failed, tools)
        if is_answer:
            self._failed = False

    async def ask(self, text: str, timeout_s: float = 600) -> bool:
        """Ask the owner, one question at a time; a timeout means no."""
        async with self._asking:
            question = self._question = Question(log.visible(log.redact(text), KEPT))
            self.events.publish("question", {"text": question.text})
            try:
                return await question.wait(timeout_s)
            finally:
                self._question = None

    # --- for the API

    def as_json(self) -> "dict[str, Any]":
        """Return the conversation."""
        question = self._question
        return {
            "messages": self._messages,
            "question": question.text if question else None,
            "waiting": self._waits,
        }

    async def send_chat(self, connection: "Connection", status: int) -> None:
        """Send the conversation."""
        await connection.answer(status, self.as_json())

    async def follow(self, connection: "Connection", request: "Request") -> None:
        """Send events as they come."""
        await stream.send(self, connection, request)

    def draft(self) -> str | None:
        """Return the part of the answer that is written, None while none is due."""
        if not self._waits:
            return None
        text = log.redact(self.app.agent.lane.draft("%s:%s" % (self.name, self.chat)))
        for secret in log.secrets():
            # The beginning of a secret at the end is not known as one.
            for size in range(min(len(secret) - 1, len(text)), 0, -1):
                if text.endswith(secret[:size]):
                    text = text[:-size]
                    break
        return log.visible(text, KEPT)

    def last_event(self) -> int:
        """Return the number of the newest event."""
        return self.events.last

    def log_lines(self) -> "list[dict[str, Any]]":
        """Return the last lines of the log, as events."""
        return self.events.of("log")

    def say(self, text: str) -> None:
        """Pass a person's words to the agent."""
        if self._waits:
            raise Refused(409, "the agent has not answered yet")
        if not self.app.inbox.put_nowait(Message(self.name, self.chat, text, self.chat)):
            raise Refused(503, "the board has enough to do: try again in a moment")
        self._waits = True
        self._add("you", text, False)

    def answer(self, yes: bool) -> None:
        """Answer the agent's question."""
        if self._question is None:
            raise Refused(409, "the agent asks nothing now")
        self._question.resolve(yes)
        self._question = None
        self._add("you", "yes" if yes else "no", False)

    async def command(self, text: str) -> str:
        """Return the agent's answer to a command."""
        return await self.app.command_text(Message(self.name, self.chat, text))

    def _add(self, who, text, failed, tools=()):
        self._count += 1
        message = {
            "number": self._count,
            "who": who,
            "text": text,
            "failed": failed,
            "time": self.app.clock.now(),
        }
        if tools:
            message["tools"] = tools
        self._messages.append(message)
        if len(self._messages) > _KEPT_MESSAGES:
            self._messages.pop(0)
        self.events.publish("chat", {"message": message})
