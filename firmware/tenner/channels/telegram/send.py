# tenner channels.telegram.send: sends one part of a text to a chat.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.channels.telegram import api, message, preview

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tenner.channels.telegram.types import Previews


async def send_part(
    bot: "Previews",
    chat: int | str,
    text: str,
    reply_to: int | None,
    keyboard: dict | None,
    began: "Callable[[], None] | None" = None,
) -> "tuple[str, Any]":
    """Send `text` as HTML, or as plain text when Telegram rejects the HTML. See Telegram.send."""
    # The code that reads the marks makes room for that which sends.
    raw, html = await overlay.step("SEND", message.marked, text, bot.max_units)
    if bot.draft is not None:
        result = await preview.finish(bot, chat, reply_to, raw, html)
        if result is not None:
            return result
    fields = api.address(chat)
    if reply_to is not None:
        # The message may have been deleted in the meantime.
        fields["reply_parameters"] = {
            "message_id": reply_to,
            "allow_sending_without_reply": True,
        }
    if keyboard is not None:
        fields["reply_markup"] = keyboard

    async def attempt():
        return await message.send_marked(bot, "sendMessage", fields, raw, html, began)

    result = await message.send_on(fields, attempt)
    if result[0] == "refused" and "empty" in result[1]:
        # It has nothing but characters without width. Silence would look like a dead board.
        raw, html = b"(The model gave no text.)", b""
        result = await message.send_on(fields, attempt)
    return result
