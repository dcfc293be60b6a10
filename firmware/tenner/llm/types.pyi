# tenner llm.types: the parts that modules of llm share, and a request; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from tenner.store.files import Parts

class Candidate(NamedTuple):
    """One model at one address."""

    name: str
    api: str
    base_url: str
    api_key: str
    model: str
    max_tokens: int

class Limits(Protocol):
    """The limits of a reply, and where its parts go that are too long for memory."""

    #: The most tokens and bytes of the reply, and of its text on flash.
    max_tokens: int
    max_reply: int
    kept_from: int
    most_kept: int
    #: The file for the beginning of a text too long for memory; None: the text is cut off.
    keep_at: str | None
    #: The file for the fields that the model wants back, and its bytes so far.
    tail_at: tuple[str | None, int]

class Request(Limits, Protocol):
    """
    One request to a model, as generators that run twice: the first pass counts the bytes, the
    second sends them.
    """

    #: How the model's requests differ (llm.quirks).
    quirks: str
    #: The llm.collect.Collector of a reply in progress.
    reply: Any

    def system(self) -> Iterator[bytes]: ...
    def records(self) -> Iterator[bytes]: ...
    def tools(self) -> Sequence[Parts]: ...

class Text(Protocol):
    """The text of a reply in progress; see llm.collect.Collector."""

    def put(self, piece: str) -> None: ...
    def size(self) -> int: ...
    def draft(self) -> str: ...
    def forget(self) -> None: ...

class Tagged(Text, Protocol):
    """The state of llm.tags in a reply: inside and after reasoning, after the end mark."""

    thinking: bool
    closed: bool
    over: bool
    #: The beginning of a tag, the last line of reasoning, and all of it where it may be answer.
    held: str
    line: str
    lost: str
    #: The number of marks of code on flash.
    fences: int
