# tenner channels.telegram.menu: sends an answer with buttons, and takes the presses of these.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A press is as good as the message that it stands for, from the same person. The data of a button
says the kind and a word: `c:room.temperature`, `s:alarms`.
"""

import json

from tenner.agent.message_queue import Message
from tenner.channels.telegram import api, message
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tenner.channels.telegram.types import Pressed
    from tenner.net.http import Http

_SHORT = const(20)  # characters of a name that leaves room for another one beside it
#: The kinds of buttons here.
KINDS = ("c", "s")
#: The kind of those under the notice of a stranger: `g:let:4242`.
STRANGER = "g"
_STARTS = {"temperature": "What is the temperature?", "alarms": "/alarms", "chart": "/chart"}
_OLD = "This button is of another time. Send /start for new ones."
_FULL = "Too much is waiting. Please try again in a moment."


async def send(
    bot: "Any", chat: int | str, buttons: str, text: str, began: "Callable[[], None]"
) -> tuple:
    """Send a text with `buttons`, JSON as attachments.menu has it; return the outcome as
    Telegram.send does."""
    rows = []
    is_half = False
    for label, data in json.loads(buttons):
        button = {"text": label, "callback_data": data}
        if is_half and len(label) <= _SHORT:
            rows[-1].append(button)
            is_half = False
        else:
            rows.append([button])
            is_half = len(label) <= _SHORT
    fields = api.address(chat)
    fields["reply_markup"] = {"inline_keyboard": rows}
    fields["link_preview_options"] = {"is_disabled": True}

    async def attempt():
        return await message.send_plain(bot, "sendMessage", fields, text.encode(), began)

    return await message.send_on(fields, attempt)


async def decided(bot: "Pressed", http: "Http", update: dict, word: str) -> None:
    """Take the owner's press under the notice of a stranger."""
    action, _, who = word.partition(":")
    chat = _home(bot, str(update.get("message.chat.id", bot.owner)))
    if action != "let":
        await answer(bot, http, update, "Ignored.")
    elif not await take(bot, http, update, "/guest let " + who, chat, bot.owner):
        return
    at = {"chat_id": api.address(chat)["chat_id"], "message_id": update.get("message.message_id")}
    await api.attempt(bot, "editMessageReplyMarkup", at, http)


async def pressed(bot: "Pressed", http: "Http", update: dict, who: str) -> None:
    """Take the press of a person who is let in: queue the message that the button stands for."""
    kind, _, word = str(update.get("data")).partition(":")
    text = "/chart %s 24h" % word if kind == "c" else _STARTS.get(word)
    if text:
        await take(
            bot, http, update, text, _home(bot, str(update.get("message.chat.id", who))), who
        )
    else:
        await answer(bot, http, update, _OLD)


def _home(bot, chat):
    return bot.home if chat == bot.owner else chat


async def take(bot: "Pressed", http: "Http", update: dict, text: str, chat: str, who: str) -> bool:
    """Queue `text` as a person's message for a chat, and answer the press; False: no room."""
    queued = Message("telegram", chat, text, who)
    queued.by_owner = who == bot.owner
    fits = bot.inbound.put_nowait(queued)
    await answer(bot, http, update, "" if fits else _FULL)
    return fits


async def answer(bot: "Pressed", http: "Http", update: dict, text: str) -> None:
    """End the wait of the app for the answer to a press; show the person a text, if any."""
    fields = {"callback_query_id": str(update.get("id"))}
    if text:
        fields["text"] = text
    await api.attempt(bot, "answerCallbackQuery", fields, http)
