# tenner update.types: the application, as an update needs it; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
from typing import Any, Protocol

from tenner.agent.agent import Agent
from tenner.agent.parts import Channel, Reaching

class Linked(Channel, Protocol):
    """A channel over the network, with the state of its connection."""

    status: str

class Broker(Linked, Protocol):
    """The channel to an MQTT broker."""

    def announce_again(self) -> None: ...

class Served(Channel, Protocol):
    """The page; `listening` is its server, once there is one."""

    @property
    def listening(self) -> Any: ...
    async def run(self) -> None: ...

class Ways(Protocol):
    """The channels to the owner; None: not set up."""

    @property
    def console(self) -> Channel | None: ...
    @property
    def telegram(self) -> Linked | None: ...
    @property
    def mqtt(self) -> Broker | None: ...
    @property
    def page(self) -> Served | None: ...

class Updating(Reaching, Ways, Protocol):
    """An application that an update may replace."""

    agent: Agent
    #: Is the network there?
    connected: asyncio.Event
    #: Does an update run?
    updating: bool
