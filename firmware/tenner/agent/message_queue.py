# tenner agent.message_queue: messages of people, and their bounded queue to the agent.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Message:
    """
    A person's message. `channel` and `chat` are the destination of the answer, `sender` is the
    writer, `reply_to` the message the answer quotes, `texts` the number of messages joined into
    this one. A long text continues in `pieces`, since a used heap has few long stretches.
    `by_owner`: has the owner typed it? `file` is (kind, id at the channel, bytes) of a file to
    fetch before the turn, `image` the (type, path) of a fetched picture. `again`: does its turn
    run for the second time?
    """

    reply_to = None
    texts = 0
    #: The rest of a long text; during its turn the bytes in agent.spool.
    pieces: "Sequence[str] | int" = 0
    by_owner = True
    #: Does it quote an answer of the agent, which may rest on text of others?
    quotes_agent = False
    file: "tuple[str, str, int] | None" = None
    image: "tuple[str, str] | None" = None
    again = False

    def __init__(self, channel: str, chat: str, text: str, sender: str | None = None) -> None:
        self.channel = channel
        self.chat = chat
        self.text = text
        self.sender = sender


class Queue:
    """Bounded queue for one consumer (MicroPython's asyncio has none)."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._items = []
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        return len(self._items)

    def put_nowait(self, item: Message) -> bool:
        """Add `item`; return False if the queue is full."""
        if len(self._items) >= self.limit:
            return False
        self._items.append(item)
        self._filled.set()
        return True

    async def get(self) -> Message:
        while not self._items:
            self._filled.clear()
            await self._filled.wait()
        return self._items.pop(0)
