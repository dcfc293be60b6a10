# tenner agent.types: a turn as its steps see it, and a text to send; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from tenner.agent.agent import Agent, Session
from tenner.agent.parts import Base, Host
from tenner.llm.chain import Chain
from tenner.llm.reply import Reply
from tenner.llm.types import Request
from tenner.store.files import Parts
from tenner.tools.types import Turn

class Cost(Protocol):
    """The cost of a turn."""

    rounds: int
    tool_calls: int
    used: int
    estimated: bool
    ms: int

    def tokens(self) -> int: ...

class Outcome(Cost, Protocol):
    """The result of a turn; see agent.turn.Result."""

    text: str
    error: str | None
    outage: bool
    kept: int
    reply: Reply | None

class Origin(Turn, Protocol):
    """The agent of a turn, and who asked."""

    agent: Agent

class Records(Origin, Protocol):
    """The records of a turn, in memory and on flash."""

    lines: list[bytes]
    #: The bytes of a long message in agent.spool; 0 if the message is the first line.
    spooled: int
    #: The bytes of agent.tails on flash, None without such lines, and those of the calls to run.
    tails: int | None
    extras: dict | tuple[()]

    def add(self, kind: str, text: str, id: str | None = None) -> None: ...

class Prompt(Records, Protocol):
    """The parts of a turn's requests; see agent.turn.Turn."""

    system: str | None
    session: Session | None
    span: tuple[int, int] | None
    notes: Sequence[str]
    owes: bool
    image: bytes | None
    file_limit: int | None

class Sized(Prompt, Protocol):
    """The model of a turn, and the sizes of its requests."""

    model: str | None
    tools: Sequence[Parts] | None
    max_tokens: int | None
    is_tight: bool | None

class Answered(Records, Protocol):
    """The answer of a turn so far."""

    #: The beginning of an answer that was cut off at the length limit.
    begun: str | None
    #: A long answer, which becomes a record after it is sent.
    unkept: str | None
    run_tools: bool
    chain: Chain | None

    @property
    def result(self) -> Outcome: ...
    def check_interrupt(self) -> None: ...

class Asking(Sized, Answered, Protocol):
    """A turn while a model call runs."""

    task: asyncio.Task | None
    request: Request | None
    reply: Reply | None

    @property
    def on_result(self) -> Callable | None: ...

class Calling(Answered, Protocol):
    """A turn while its tools run."""

    failure: tuple[str, str] | None
    failures: int
    question: asyncio.Task | None
    overruled: bool
    asked_ms: int

class Owned(Protocol):
    """A channel with an owner's chat."""

    @property
    def owner(self) -> str | None: ...

class Owners(Base, Protocol):
    """The settings of the owner's chats, and the channels that are set up."""

    @property
    def mqtt(self) -> Owned | None: ...
    @property
    def console(self) -> object | None: ...

class Background(Host, Owners, Protocol):
    """The application around turns that no person asked for."""

    agent: Agent

class Sending(Protocol):
    """The heartbeat or cron, which send a request's text."""

    #: The replacement for background.deliver.
    deliver: Callable[..., Coroutine] | None

    @property
    def app(self) -> Background: ...

class Outgoing(Protocol):
    """A text of schedule, its address and its outcome; see schedule.task.Request."""

    text: str | None
    address: tuple | None
    tells: bool
    mark: str | bool
    sent: str | None
    error: str | None
    seen: tuple

    @property
    def tasks(self) -> Sequence[Any]: ...
