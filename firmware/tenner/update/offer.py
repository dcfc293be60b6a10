# tenner update.offer: asks the owner about a newer version, and waits for the answer.
# MIT license; Copyright (c) 2026 the tenner authors
"""
It stays in memory while it waits, so it holds no other code of an update.
"""

import asyncio

from tenner import overlay
from tenner.log import log
from tenner.port.compat import const
from tenner.update import daily, request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.update.types import Updating

_CLOCK_S = const(10)


async def service(app: "Updating") -> None:
    """Look at update.url once a day; offer each newer version to the owner once."""
    await app.connected.wait()
    while not app.clock.trusted:
        await asyncio.sleep(_CLOCK_S)
    while True:
        wait_s, found = await overlay.run("UPDATE", daily.look, app)
        channel, chat = app.owner()
        if found and channel is not None:
            await _ask(app, channel, chat, found)
        await asyncio.sleep(wait_s)


async def answer(app: "Updating", channel: str, chat: int | str) -> None:
    """Answer `/update` in the owner's chat."""
    found = await overlay.run("UPDATE", request.look, app, channel, chat)
    if found:
        await _ask(app, channel, chat, found)


async def _ask(app: "Updating", channel, chat, found):
    version, text = found
    allowed = False
    try:
        for one in (app.telegram, app.console, app.mqtt, app.page):
            if one is not None and one.name == channel:
                allowed = await one.ask(text)
    except OSError as error:
        log("update", error)
        return
    if allowed:
        await overlay.run("UPDATE", request.run, app, channel, chat, version)
