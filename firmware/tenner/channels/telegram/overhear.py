# tenner channels.telegram.overhear: what can be told of an update that has to wait, as a turn has the memory.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.port.compat import const

_BEGINNING = const(2048)  # of a reply: it says who has written
_PIECE = const(256)
_REST_S = const(1)  # for what of it comes later


async def overhear(bot, http):
    """
    Tell the lane when the owner has written, and close the connection. That needs no parser: quotes in what anybody writes are
    escaped, so that none of these words can be part of a text.
    """
    raw = bytearray(memoryview(http.buffer)[: http.end])
    try:
        await asyncio.wait_for(_read(http.stream, raw), _REST_S)
    except (OSError, EOFError, asyncio.TimeoutError):
        pass  # what there is must do; the update is asked for again in any case
    await http.close()
    if bot.overheard is None:
        return
    owner = b'":{"id":' + bot.owner.encode() + b","
    raw = bytes(raw)
    if b'"from' + owner in raw and b'"forward_' not in raw and b'"reply_to_' not in raw:
        bot.overheard(b'"text":"/stop"' in raw and b'"chat' + owner in raw)


async def _read(stream, raw):
    """Read what is left of a short reply."""
    while len(raw) < _BEGINNING and not raw.endswith(b"}]}"):
        piece = await stream.read(_PIECE)
        if not piece:
            return
        raw.extend(piece)
