# tenner store.types: the parts that modules of store share; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors

from typing import Protocol

from tenner.store.appendlog import AppendLog
from tenner.store.outbox_item import Item

class Clock(Protocol):
    """Time, as net.clock.Clock tells it."""

    @property
    def trusted(self) -> bool: ...
    def now(self) -> int: ...
    def mono_s(self) -> int: ...

class Space(Protocol):
    """The limits of an Outbox."""

    max_items: int
    max_bytes: int
    dropped: int

    def used(self) -> int: ...

class Box(Space, Protocol):
    """An Outbox, as its maintenance sees it."""

    clock: Clock
    folder: str
    path: str
    items: list[Item]
    finished: list[str]
    log: AppendLog

    def text_of(self, item: Item, part: int) -> str | None: ...
    def finish(self, item: Item) -> None: ...
