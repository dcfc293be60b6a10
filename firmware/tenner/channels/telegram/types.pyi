# tenner channels.telegram.types: the channel, as its parts see it; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors
"""channels.telegram.channel.Telegram has it all, and says more about each."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from tenner.agent.agent import Agent
from tenner.agent.message_queue import Message, Queue
from tenner.agent.parts import Parts
from tenner.net.http import Http
from tenner.store.config import Config
from tenner.store.two_slot import TwoSlots

class Application(Parts, Protocol):
    """The application that makes the channel."""

    telegram: Any
    agent: Agent
    inbox: Queue

    def say(
        self,
        chat: int | str,
        text: str,
        reply_to: int | None = None,
        id: str | None = None,
        channel: str = "telegram",
    ) -> list[str | None]: ...

class Api(Protocol):
    """The Bot API: its address, and the connection for sending."""

    config: Config
    url: str
    http: Http | None
    http_factory: Callable[[bool], Http]
    sending: asyncio.Lock

    @property
    def headers(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def max_reply(self) -> int: ...

class Health(Protocol):
    """The failures in a row, and the state for /status."""

    status: str
    failures: int
    last_logged: str
    #: True while a webhook keeps the updates away, False when it has been removed.
    hooked: bool | None

class People(Protocol):
    """The owner, the chat for alarms, and a way to queue a text."""

    owner: str
    home: str
    bot_name: str | None
    #: The pending code that makes its writer the owner.
    pair: tuple[str, str] | None
    say: Callable

class Pairing(People, Protocol):
    """The owner, and the settings that name it."""

    config: Config

class Asking(Api, People, Protocol):
    """Questions to the owner."""

    async def idle(self) -> None: ...

class Pressed(Api, People, Protocol):
    """The buttons under questions and alarms."""

    inbound: Queue
    asks: dict

class Previews(Api, Protocol):
    """The answers that grow while a model writes."""

    open: list[Message]
    previews: dict
    draft: Callable[[Message], str] | None
    sleep: Callable[[float], Awaitable]

    @property
    def max_units(self) -> int: ...

class Strangers(Protocol):
    """Strangers the owner has been notified of."""

    strangers: list
    strangers_day: int
    #: Has the owner been notified of an unreadable update?
    told_wrong: bool

class Receiving(Pressed, Previews, Strangers, Health, Protocol):
    """The updates that come in, and the messages without an answer."""

    now: Callable[[], int | None]
    offset: int
    #: The unhandled updates of the last reply, and the last handled album of pictures.
    updates: list
    album: str | None
    #: A Message that joins the texts of the bot's offline time.
    digest: Message | None
    interrupted: dict | None
    slots: Callable[[str], TwoSlots]

    @property
    def max_open(self) -> int: ...
    def poll_body(self, timeout_s: int) -> bytes: ...
    def save(self, offset: int) -> None: ...
