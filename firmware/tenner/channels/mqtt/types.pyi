# tenner channels.mqtt.types: the channel, as its parts see it; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors
"""channels.mqtt.channel.Mqtt has it all, and says more about each."""

from collections.abc import Callable
from typing import Any, Protocol

from tenner.agent.message_queue import Queue
from tenner.channels.question import Question
from tenner.net.tls_reserve import TlsContext
from tenner.port import Port
from tenner.port.cpython import Stream
from tenner.remote.types import Remote
from tenner.store.config import Config

class Application(Remote, Protocol):
    """The application, for requests of the owner's computer."""

    def take_request(self, data: bytes) -> None: ...

class Making(Application, Protocol):
    """The application that makes the channel."""

    mqtt: Any
    inbox: Queue

    def tls(self) -> TlsContext: ...
    def linked(self) -> None: ...

class Topics(Protocol):
    """The names of the board at its broker, and a way to publish."""

    id: str
    base: str
    config: Config

    async def publish(
        self, topic: str, payload: bytes | str, retain: bool = False
    ) -> bool | None: ...
    async def publish_at(
        self, topic: str, payload: bytes | str, retain: bool = False
    ) -> bool | None: ...

class Announced(Topics, Protocol):
    """The values that the broker has from the board."""

    port: Port
    get: Callable[[str], Any]
    mono_s: Callable[[], int]
    #: The values announced to Home Assistant.
    announced: list
    app: Application

class Images(Topics, Protocol):
    """Pictures of charts."""

    is_connected: bool

    async def deliver(
        self, topic: str, payload: bytes | str, retain: bool = False
    ) -> tuple[str, Any]: ...

class Link(Topics, Protocol):
    """The connection to the broker, and its state."""

    status: str
    away: bool
    #: The topic on which Home Assistant announces its start.
    birth: str
    #: Check sums of the last messages of QoS 1 that it has taken.
    taken: tuple[int, ...]

class Connecting(Link, Protocol):
    """A connection that begins or has ended."""

    port: Port
    get: Callable[[str], Any]
    tls: Callable[[], TlsContext] | None
    stream: Stream | None
    is_connected: bool
    failures: int

    @property
    def keep_alive_s(self) -> int: ...
    async def read(self, view: memoryview) -> None: ...
    async def write(self, packet: bytes) -> None: ...
    async def close(self) -> None: ...

class Inbox(Link, Protocol):
    """The messages that come from the broker."""

    app: Application
    inbound: Queue
    questions: dict[str, Question]
    requests: int
    up: Callable[[], None]

    @property
    def owner(self) -> str: ...
    @property
    def max_text(self) -> int: ...
    def announce_again(self) -> None: ...
    def back(self) -> None: ...
