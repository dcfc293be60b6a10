# tenner channels.telegram_preview: what a person sees while the answer is being written.
# MIT license; Copyright (c) 2026 the tenner authors
"""
For boards that can talk to the model and to Telegram at the same time. The preview is one message that
grows by edits; the answer itself comes through the outbox and is the last edit. A preview of which
nobody knows any more, after a reboot, is left as it is, and the answer comes as a message of its own.
"""

from tenner.channels import markup
from tenner.channels.telegram_send import address, attempt, request, send_once
from tenner.port.compat import const

_STEP_MS = const(1000)  # Telegram takes one edit a second
_TYPING_STEPS = const(4)  # "typing..." is shown for five seconds
_FIRST_CHARS = const(80)  # what is shorter is there at once
_LAST_CHARS = const(2000)  # each is one or two of the 4096 units of a message


async def follow(bot, message):
    """Show "typing..." and what there is of the answer, until it is in the outbox."""
    fields = address(message.chat)
    action = dict(fields, action="typing")
    key = (message.chat, message.reply_to)
    shown = ""
    step = 0
    while True:
        await bot.sleep(_STEP_MS)
        if not bot.is_open(message):
            return
        step += 1
        text = bot.draft(message)[:_LAST_CHARS].rstrip()
        if len(text) < _FIRST_CHARS or text == shown:
            if step % _TYPING_STEPS == 0 and not await request(bot, "sendChatAction", action):
                return
            continue
        shown = text
        raw = markup.clean(text) + b" \xe2\x80\xa6"
        if key in bot.previews:
            fields["message_id"] = bot.previews[key]
            verdict, _ = await send_once(bot, "editMessageText", fields, raw)
        else:
            parameters = {"message_id": message.reply_to, "allow_sending_without_reply": True}
            verdict, id = await send_once(
                bot, "sendMessage", dict(fields, reply_parameters=parameters), raw
            )
            if verdict == "ok":
                bot.previews[key] = id
        if verdict != "ok":
            return


async def finish(bot, chat, reply_to, raw, html):
    """Make the answer to a message of its preview; None when there is no preview, or it is gone."""
    async with bot.sending:
        pass  # a preview on its way comes first
    key = (str(chat), reply_to)
    id = bot.previews.pop(key, None)
    if id is None:
        return None
    verdict, detail = await attempt(
        bot, "editMessageText", dict(address(chat), message_id=id), raw, html
    )
    if verdict == "refused":
        return ("ok", id) if "not modified" in detail else None
    if verdict == "ok":
        return verdict, id
    # An edit may be made again without harm, whether it arrived or not.
    bot.previews[key] = id
    return "retry", detail if verdict == "retry" else None
