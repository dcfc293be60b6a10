# tenner update.command: /update.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import overlay
from tenner.channels import question
from tenner.store import files
from tenner.update import offer, request, slot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.types import Reporting


def command(app: "Reporting", name: str, args: str, channel: str, chat: int | str) -> str:
    """Return the answer to `/update [VERSION]`; see channels.commands."""
    owner = app.owner()
    if channel == "mqtt" and owner[0] != "telegram":
        return (
            "Everybody at the broker could send this, and there is no Telegram to ask you: "
            "run `tenner update`, or send it on the console."
        )
    if channel != "mqtt" and not question.is_owner(app, channel, chat):
        return "Only the owner updates this agent."
    if not slot.is_possible(app):
        return (
            "This agent is updated by your computer: `tenner deploy`, or `tenner flash` for "
            "its image."
        )
    if not app.config.get("update.url"):
        return "Updates are off: there is no update.url in config.json."
    if files.exists(app.port.path("lib/trial")):
        return "The trial of the last update is not over yet."
    if channel == "mqtt":
        asyncio.create_task(offer.answer(app, *owner))
        return "Looking at update.url; the owner decides on Telegram."
    if args:
        overlay.later("UPDATE", None, request.run, app, channel, chat, args)
    else:
        asyncio.create_task(offer.answer(app, channel, chat))
    return "Looking at update.url."
