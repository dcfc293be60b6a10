# tenner page.types: the page, as its parts see it; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tenner.agent.message_queue import Queue
from tenner.channels.question import Question
from tenner.page.events import Events
from tenner.remote.types import Remote

class Application(Remote, Protocol):
    """The application behind the page."""

    inbox: Queue

    def now_text(self) -> str: ...

class Paged(Application, Protocol):
    """The application that gets its page."""

    page: Any

class Reader(Protocol):
    """The connection of a browser, while a request comes."""

    async def read(self, size: int) -> bytes: ...

class Sessions(Protocol):
    """Knows the sessions of browsers; see page.access.Access."""

    def allows(self, session: str, token: str) -> bool: ...

class Guarded(Protocol):
    """A page with its sessions, or with their state between two requests."""

    kept: tuple | None

    @property
    def app(self) -> Application: ...
    @property
    def access(self) -> Any: ...

class Streaming(Protocol):
    """A page with streams of events."""

    streams: int

    @property
    def app(self) -> Application: ...
    @property
    def events(self) -> Events: ...
    @property
    def access(self) -> Sessions: ...
    def draft(self) -> str | None: ...

class Talk(Guarded, Protocol):
    """The conversation of a chip's page; see page.chip.ChipPage."""

    name: str
    chat: str
    count: int | None
    waits: bool
    failed: bool
    lines: Sequence[bytes]
    question: Question | None

class Served(Talk, Protocol):
    """A chip's page, while it serves a request; `computer` is kept by page.sealed."""

    computer: tuple | None

class Opening(Protocol):
    """A chip's page that begins to listen."""

    listening: Any

    @property
    def app(self) -> Application: ...
    async def take(self, stream: Any, writer: Any) -> None: ...

class Accepting(Protocol):
    """The server of a page, and its limits."""

    @property
    def connections(self) -> int: ...
    @property
    def read_s(self) -> int: ...
    async def count(self, address: str | bytes, work: Callable, *args: Any) -> None: ...
    async def converse(self, stranger: list, reader: Any, writer: Any) -> None: ...
