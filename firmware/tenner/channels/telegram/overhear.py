# tenner channels.telegram.overhear: peeks at an update that must wait while a turn has the memory.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import overlay
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.lane import Lane
    from tenner.channels.telegram.types import People
    from tenner.net.http import Http

_BEGINNING = const(2048)  # of a reply; it names the writer
_PIECE = const(256)
_REST_S = const(1)  # for the rest of the reply


async def overhear(bot: "People", http: "Http", lane: "Lane") -> None:
    """
    Notify the lane of a turn when the owner has written, and close the connection. This needs no
    parser: JSON escapes quotes in texts, so none of the searched words can be part of one.
    """
    raw = bytearray(memoryview(http.buffer)[: http.end])
    try:
        await asyncio.wait_for(overlay.start(_read(http.stream, raw)), _REST_S)
    except (OSError, EOFError, asyncio.TimeoutError):
        pass  # the received part must do; `receive` fetches the update again
    await http.close()
    owner = b'":{"id":' + bot.owner.encode() + b","
    raw = bytes(raw)
    if b'"from' + owner in raw and b'"forward_' not in raw and b'"reply_to_' not in raw:
        lane.overheard(b'"text":"/stop"' in raw and b'"chat' + owner in raw)


async def _read(stream, raw):
    """Read the rest of a short reply."""
    while len(raw) < _BEGINNING and not raw.endswith(b"}]}"):
        piece = await stream.read(_PIECE)
        if not piece:
            return
        raw.extend(piece)
