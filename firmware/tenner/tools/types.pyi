# tenner tools.types: the parts from above that tools use; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors

from collections.abc import Iterator
from typing import Protocol

from tenner.net.clock import Clock
from tenner.net.http import Http
from tenner.port import Port
from tenner.sensors.reading import Sensors
from tenner.store.config import Config

class Web(Protocol):
    """Access to servers, and the time."""

    @property
    def clock(self) -> Clock: ...
    def http(self) -> Http: ...

class Notifier(Protocol):
    """The agent, as a tool sees it."""

    @property
    def app(self) -> Web: ...
    def notify(self, text: str) -> None: ...

class Turn(Protocol):
    """The turn that calls a tool: its kind, its text, and the chat that asked."""

    kind: str
    text: str
    channel: str | None
    chat: int | str | None
    #: Has it read text of strangers?
    untrusted_input: bool

class Jobs(Protocol):
    """The jobs of CRON.json; see schedule.service.CronJobs."""

    def lines(self) -> Iterator[str]: ...
    def add(self, entry: dict) -> str: ...
    def times(self, entry: dict) -> str: ...
    def remove(self, key: str) -> None: ...
    def enable(self, key: str, enabled: bool = True) -> None: ...

class Offers(Protocol):
    """Finds a tool that is on offer; see tools.registry.Registry."""

    def find(self, name: str, kind: str) -> tuple[tuple[str, int, int], int]: ...

class Own(Protocol):
    """A Registry, as the owner's tools need it."""

    port: Port
    servers: dict
    user_folder: str
    schema_cache: dict[str, int]

class Board(Protocol):
    """The board and its settings."""

    port: Port
    config: Config
    workspace: str
    #: Should results be short? A complete result is in memory at once.
    brief: bool

    @property
    def sensors(self) -> Sensors: ...

class People(Protocol):
    """The people of a turn; see agent.tool_calls.ToolContext."""

    def chart(self, value: str, seconds: int) -> str | None: ...
    async def send(self, text: str, chat: str | None = None, file: str | None = None) -> str: ...
    async def ask(self, text: str) -> bool: ...

class ToolContext(Board, People, Protocol):
    """A tool's access to the board, the settings, its own turn, and people."""

    @property
    def agent(self) -> Notifier: ...
    @property
    def turn(self) -> Turn: ...
    @property
    def registry(self) -> Offers: ...
    def http(self) -> Http: ...
    async def jobs(self) -> Jobs: ...
    def spawn(self, task: str) -> str: ...
