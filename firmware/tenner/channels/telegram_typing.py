# tenner channels.telegram_typing: hands a message over, and shows its writer that it is worked on.
# MIT license; Copyright (c) 2026 the tenner authors
"""A module of its own: it waits for the network, and the code that has read the message need not."""

import asyncio

from tenner.channels.telegram import FAILURES
from tenner.log import log
from tenner.net.http import Yielded
from tenner.port.compat import const

_COURTESY_S = const(3)


async def show(bot, http, message):
    """Show "typing..." over a connection that is there: another costs a handshake. Then hand the message over."""
    fields = {"chat_id": int(message.chat), "action": "typing"}
    try:
        await bot.request(http, "sendChatAction", fields, None, _COURTESY_S)
    except FAILURES + (Yielded,) as error:
        # A courtesy: what is wrong with the line will show at the next poll.
        log("telegram", "sendChatAction: %s" % type(error).__name__)
    if bot.draft is not None:
        from tenner.channels.telegram_preview import follow

        asyncio.create_task(follow(bot, message))
    bot.inbound.put_nowait(message)
