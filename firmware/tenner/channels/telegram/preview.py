# tenner channels.telegram.preview: shows a growing preview while the model writes the answer.
# MIT license; Copyright (c) 2026 the tenner authors
"""
For boards that can talk to the model and to Telegram at the same time. The preview is one message
that grows by edits; the answer comes through the outbox and is the last edit. After a reboot an
old preview stays unchanged, and the answer comes as a separate message.
"""

from tenner.channels.telegram import api, markup
from tenner.channels.telegram.message import send_locked, send_marked
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.agent.message_queue import Message
    from tenner.channels.telegram.types import Previews

_STEP_MS = const(1000)  # Telegram accepts one edit a second
_TYPING_STEPS = const(4)  # Telegram shows "typing..." for five seconds
_FIRST_CHARS = const(80)  # a shorter text needs no preview
_LAST_CHARS = const(2000)  # each is one or two of the 4096 units of a message


async def follow(bot: "Previews", message: "Message") -> None:
    """Show "typing..." and the growing answer, until the answer is in the outbox."""
    fields = api.address(message.chat)
    action = dict(fields, action="typing")
    key = (message.chat, message.reply_to)
    shown = ""
    step = 0
    while True:
        await bot.sleep(_STEP_MS)
        if message not in bot.open:
            return
        step += 1
        text = bot.draft(message)[:_LAST_CHARS].rstrip()
        if len(text) < _FIRST_CHARS or text == shown:
            if step % _TYPING_STEPS == 0 and not await api.attempt(bot, "sendChatAction", action):
                return
            continue
        shown = text
        raw = markup.clean(text) + b" \xe2\x80\xa6"
        async with bot.sending:
            # The answer may have been sent during the wait for the connection.
            if message not in bot.open or not await _show(bot, key, fields, raw):
                return


async def _show(bot, key, fields, raw):
    """Send or edit the preview; return whether that worked."""
    if key in bot.previews:
        fields["message_id"] = bot.previews[key]
        verdict, _ = await send_locked(bot, "editMessageText", fields, raw)
    else:
        quoted = {"message_id": key[1], "allow_sending_without_reply": True}
        verdict, id = await send_locked(
            bot, "sendMessage", dict(fields, reply_parameters=quoted), raw
        )
        if verdict == "ok":
            bot.previews[key] = id
    return verdict == "ok"


async def finish(
    bot: "Previews", chat: int | str, reply_to: int | None, raw: bytes, html: bytes
) -> "tuple[str, Any] | None":
    """Edit the preview into the answer; return None when there is no preview, or it is gone."""
    async with bot.sending:
        # Wait for a preview that is being sent.
        id = bot.previews.pop((str(chat), reply_to), None)
    if id is None:
        return None
    verdict, detail = await send_marked(
        bot, "editMessageText", dict(api.address(chat), message_id=id), raw, html
    )
    if verdict == "refused":
        return ("ok", id) if "not modified" in detail else None
    if verdict == "ok":
        return verdict, id
    # Repeating an edit is harmless.
    bot.previews[(str(chat), reply_to)] = id
    return "retry", detail if verdict == "retry" else None
