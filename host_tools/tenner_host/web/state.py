"""The state that all handlers share, and the calls into the link's thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from tenner_host.board.opening import class_of
from tenner_host.console.console import LOG_LINE, Kind, Said
from tenner_host.errors import BoardSilent, CommandError
from tenner_host.output import visible
from tenner_host.setup import settings as store
from tenner_host.web import files, now
from tenner_host.web.chat import Chat
from tenner_host.web.events import Events
from tenner_host.web.link import BUSY, Link, Talk

T = TypeVar("T")


class State:
    """One board, its events, its conversation, and the last reading of its files."""

    def __init__(self, link: Link, events: Events, chat: Chat) -> None:
        self.link = link
        self.events = events
        self.chat = chat
        self.live = now.LiveValues()
        self.snapshot: files.Snapshot | None = None
        #: The agent's last state; None makes the next request ask for it.
        self.agent: dict[str, Any] | None = None
        self._asking = asyncio.Lock()

    def heard(self, said: Said) -> None:
        """Take a line or a frame of the agent, in the link's thread."""
        if said.kind is not Kind.LINE:
            self.chat.heard(said)
            return
        found = LOG_LINE.match(said.text)
        when, area, text = found.groups() if found else ("", "", said.text)
        if area == "boot" and text.endswith(" start)"):
            self.chat.restarted()
        elif area == "tool":
            self.chat.used(text)
        self.events.publish("log", when=when, area=visible(area), text=visible(text))

    def changed(self, state: str, text: str) -> None:
        """Take a change of the connection, in the link's thread."""
        self.events.publish("link", state=state, text=visible(text))

    def board(self) -> dict[str, Any]:
        """The board and its connection as JSON."""
        kept = self.snapshot
        name = store.get(kept.settings, "name") if kept else None
        found = {
            "label": visible(self.link.label).strip(),
            "name": visible(str(name)) if name else None,
            "state": self.link.state,
            "text": visible(self.link.text),
            "restarts_for_files": class_of(self.link.port).has_repl,
        }
        if self.link.is_slow:
            found["slow"] = True
        return found

    def kept(self) -> files.Snapshot:
        """The files as they were read last; CommandError before the first time."""
        if self.snapshot is None:
            raise CommandError("the board's files are not read yet: POST /api/v1/files/read")
        return self.snapshot

    async def ask(self, work: Callable[[Talk], T]) -> T:
        """Ask the agent; its answer could be taken for the one that a person waits for."""
        if self.chat.is_waiting:
            raise BoardSilent(BUSY)
        return await self.wait(self.link.console(work))

    async def command(self, text: str) -> str:
        """The agent's answer to a command."""
        return visible("\n".join(await self.ask(lambda talk: talk.ask_for(text, lambda _: True))))

    async def look(self, fresh_s: float) -> str | None:
        """Ask for the agent's state unless it is as fresh as this; the problem if that fails."""
        async with self._asking:
            if self._is_old(fresh_s):
                try:
                    self.agent = await self.ask(now.ask)
                    self.live.take(self.agent)
                except CommandError as exc:
                    return visible(exc.message)
        return None

    def _is_old(self, fresh_s: float) -> bool:
        if self.agent is not None and self.chat.is_waiting:
            # A person's answer comes first.
            return False
        return self.agent is None or time.time() - self.agent["at"] >= fresh_s

    async def wait(self, done: Future[T]) -> T:
        """Wait for work in the link's thread."""
        return await asyncio.wrap_future(done)
