# tenner remote.types: the application and a carrier of requests; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors

from typing import Any, Protocol

from tenner.agent.message_queue import Message
from tenner.port import Port
from tenner.update.types import Updating

class Remote(Updating, Protocol):
    """The application, for the owner's computer."""

    async def command_text(self, message: Message) -> str: ...

class Carrier(Protocol):
    """Carries sealed messages: the MQTT channel, or page.sealed.Computer."""

    port: Port
    id: str
    #: The session with the owner's computer (remote.session), and its requests that wait.
    session: Any
    requests: int

    @property
    def app(self) -> Remote: ...
    async def publish(self, topic: str, frame: bytes, /) -> bool | None: ...
