# tenner channels.types: the channels that messages go out by; for type checking only.
# MIT license; Copyright (c) 2026 the tenner authors

from collections.abc import Callable
from typing import Any, Protocol

class Local(Protocol):
    """A channel whose texts arrive at once."""

    def show(self, chat: int | str, text: str) -> None: ...

class Sending(Protocol):
    """A channel over a network; see channels.delivery."""

    async def send(
        self,
        chat: Any,
        text: str,
        reply_to: int | None = None,
        began: Callable[[], None] | None = None,
        alarm: str | None = None,
    ) -> tuple[str, Any]: ...
