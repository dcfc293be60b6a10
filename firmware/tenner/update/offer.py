# tenner update.offer: looks for a newer version once a day, asks the owner, waits for the answer.
# MIT license; Copyright (c) 2026 the tenner authors
"""
It stays in memory while it waits, so it holds no other code of an update.
"""

import asyncio

from tenner import overlay
from tenner.channels import question
from tenner.log import log
from tenner.port.compat import const
from tenner.store import files
from tenner.update import install, request, slot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.update.types import Updating

_CLOCK_S = const(10)

_DAY_S = const(86400)
_QUIET_S = const(1800)


async def service(app: "Updating") -> None:
    """Look at update.url once a day; offer each newer version to the owner once."""
    await app.connected.wait()
    while not app.clock.trusted:
        await asyncio.sleep(_CLOCK_S)
    while True:
        wait_s, found = await overlay.run("UPDATE", look, app)
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


# /state/update.a and .b have the time of the last look, the ETag of the release, and the last
# version that the owner was told of; /state/update.new has a sentence about it.
async def look(app: "Updating") -> "tuple[int, tuple[str, str] | None]":
    """Return (seconds until the next look, and (version, question) for the owner or None)."""
    now_s = app.clock.now()
    slots = app.slots("update")
    state = slots.load()
    wait_s = state.get("t", 0) + _DAY_S - now_s
    if 0 < wait_s <= _DAY_S:
        return wait_s, None
    if question.is_quiet(app):
        return _QUIET_S, None
    # Saved first, so that a look which ends in a reset is none too many.
    state["t"] = now_s
    slots.save(state)
    try:
        found = await overlay.step("UPDATE", install.look, app, state.get("e"))
    except (OSError, ValueError, overlay.OutOfMemory) as error:
        log("update", "no daily look: %s" % error)
        return _DAY_S, None
    if found is None:
        log("update", "update.url has the same release as yesterday")
        return _DAY_S, None
    state["e"], version, text = found
    log("update", text.split("\n")[0])
    is_new = version and version != state.get("v")
    if is_new:
        files.write_atomic(app.state + slot.SUMMARY, text.split("\n")[0])
        state["v"] = version
    try:
        slots.save(state)
    except ValueError:
        # An ETag that does not fit: the next look reads the manifest again.
        del state["e"]
        slots.save(state)
    if is_new and app.mqtt is not None:
        app.mqtt.announce_again()
    return _DAY_S, is_new and (version, text) or None
