# tenner agent.parts: the application, as the code below it sees it; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A function asks for the narrowest of these that has what it needs. tenner.app.App has them all.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from tenner.agent.message_queue import Message, Queue
from tenner.llm.chain import Chain
from tenner.net.clock import Clock
from tenner.net.http import Http
from tenner.port import Port
from tenner.store.config import Config
from tenner.store.two_slot import TwoSlots
from tenner.tools.types import Turn

class Base(Protocol):
    """The parts that exist from the start; the folders of the owner's and the agent's files."""

    port: Port
    config: Config
    clock: Clock
    workspace: str
    state: str

class Parts(Base, Protocol):
    """The parts that are made on their first use."""

    def get(self, name: str) -> Any: ...
    def has(self, name: str) -> bool: ...
    def slots(self, name: str) -> TwoSlots: ...
    def http(self, yields: bool = False) -> Http: ...

class Sender(Protocol):
    """Sends texts to people, the owner first of all."""

    def owner(self) -> tuple[str | None, int | str | None]: ...
    def deliver(
        self,
        channel: str,
        chat: int | str,
        text: str,
        alert: bool | str = False,
        id: str | None = None,
        reply_to: int | None = None,
    ) -> list[str | None]: ...

class Reaching(Parts, Sender, Protocol):
    """The parts, and a way to reach people."""

class Channel(Protocol):
    """A way to ask the owner."""

    name: str

    async def ask(self, text: str) -> bool: ...

class Channels(Parts, Protocol):
    """The ways to ask the owner; None: not set up."""

    @property
    def telegram(self) -> Channel | None: ...
    @property
    def mqtt(self) -> Channel | None: ...
    @property
    def console(self) -> Channel | None: ...
    @property
    def page(self) -> Channel | None: ...

class Polling(Protocol):
    """The messages of Telegram that are not answered yet."""

    open: list[Message]
    offset: int

    def done(self, message: Message) -> None: ...
    def save(self, offset: int) -> None: ...

class Inbox(Parts, Protocol):
    """The messages of people, one of which may wait for the next start."""

    inbox: Queue
    again: bool

    @property
    def telegram(self) -> Polling | None: ...

class Connected(Protocol):
    """A turn with a connection to its model."""

    chain: Chain | None

class Host(Inbox, Reaching, Protocol):
    """The application around the agent."""

    def now_text(self) -> str: ...
    def reply(
        self, message: Message, text: str, failed: bool = False, lines: Sequence[bytes] = ()
    ) -> None: ...
    async def breathe(self, turn: Connected | None = None) -> bool: ...
    async def drain(self) -> None: ...
    async def ask_owner(self, text: str, turn: Turn) -> bool: ...
    def spawn(self, text: str, turn: Turn) -> str: ...
    def chart(
        self,
        value: str,
        seconds: int,
        channel: str,
        chat: int | str,
        tells: bool,
        seen: tuple[tuple[int, float], ...] = (),
    ) -> bool: ...
