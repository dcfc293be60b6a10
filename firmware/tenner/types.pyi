# tenner types: the application, as the modules that app starts see it; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
from typing import Protocol

from tenner.agent.agent import Agent
from tenner.agent.message_queue import Message, Queue
from tenner.agent.parts import Host, Inbox, Parts, Reaching
from tenner.channels.console import Console
from tenner.channels.mqtt.channel import Mqtt
from tenner.channels.mqtt.types import Application as Publishing
from tenner.channels.telegram.channel import Telegram
from tenner.net.tls_reserve import TlsContext
from tenner.schedule.types import Application as Scheduling
from tenner.update.types import Linked, Served, Updating

class Shown(Parts, Protocol):
    """The state for /status."""

    @property
    def telegram(self) -> Linked | None: ...
    def now_text(self) -> str: ...

class Drawing(Reaching, Protocol):
    """The charts to draw when no turn runs."""

    charts: tuple

    @property
    def mqtt(self) -> Mqtt | None: ...

class Guarded(Inbox, Protocol):
    """The parts that show a lack of memory, and the questions that end with it."""

    @property
    def telegram(self) -> Telegram | None: ...

class Restarting(Guarded, Reaching, Protocol):
    """The application that a lack of memory restarts."""

    agent: Agent

    @property
    def mqtt(self) -> Mqtt | None: ...
    def now_text(self) -> str: ...

class Fetching(Host, Protocol):
    """The way to the file of a message, and to its sender."""

    @property
    def telegram(self) -> Telegram | None: ...

class Sleeping(Parts, Protocol):
    """All that deep sleep must not interrupt."""

    agent: Agent
    inbox: Queue
    charts: tuple
    #: Is a task sending the outbox, was the clock set, and when did a person last write?
    sending: bool
    synced: bool
    heard_s: int | None

    @property
    def telegram(self) -> Telegram | None: ...

class Paging(Served, Protocol):
    """The page, and its code for a browser."""

    def offer(self, is_guest: bool = False) -> str: ...

class Reporting(Fetching, Drawing, Updating, Protocol):
    """The application, for a person's commands."""

    @property
    def telegram(self) -> Telegram | None: ...
    @property
    def mqtt(self) -> Mqtt | None: ...
    @property
    def page(self) -> Paging | None: ...

class Serving(Fetching, Restarting, Protocol):
    """The application, for the services that run all day."""

    connected: asyncio.Event
    synced: bool
    heard_s: int | None

    async def command(self, message: Message) -> None: ...

class Linking(Serving, Scheduling, Publishing, Protocol):
    """The application, for channels and services that are made once."""

    @property
    def console(self) -> Console | None: ...
    @property
    def telegram(self) -> Telegram | None: ...
    @property
    def mqtt(self) -> Mqtt | None: ...
    def linked(self) -> None: ...
    def tls(self) -> TlsContext: ...

class Beginning(Host, Protocol):
    """The application before it has its parts, and the mistakes of its owner."""

    agent: Agent
    connected: asyncio.Event
    mail: asyncio.Event
    ended: asyncio.Event
    #: Sentences about settings that have their defaults for now, and about quarantined files.
    wrong: list[str]
    aside: list[str]

class Starting(Linking, Beginning, Protocol):
    """The application that starts its channels, by the settings, and its services."""

    console: Console | None
    telegram: Telegram | None
    mqtt: Mqtt | None
    #: The channels that only send.
    one_way: tuple[str, ...]

    def start_sending(self) -> None: ...
