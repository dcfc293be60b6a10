# tenner channels.telegram.press: handles presses of the buttons of questions and alarms.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.message_queue import Message
from tenner.channels.question import IN_FILE
from tenner.channels.telegram import api
from tenner.log import log, visible
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.channels.telegram.types import Pressed
    from tenner.net.http import Http

_NAME = const(24)
_NEXT = const(".e:")


async def pressed(bot: "Pressed", http: "Http", update: dict) -> None:
    """Handle a press of a button: only the owner's counts, and only on a pending question."""
    who = str(update.get("from.id", ""))
    kind, _, id = str(update.get("data")).partition(":")
    question = bot.asks.get(id)
    note = None
    allowed = [str(one) for one in bot.config.get("telegram.allow") or ()]
    # An alarm that was passed on is theirs to acknowledge, too.
    if kind == "al" and (who == bot.owner or (_NEXT in id and who in allowed)):
        await _alarm(bot, http, update, id, who)
        return
    if kind == "pr" and who == bot.owner:
        await _alarm(bot, http, update, id, who, "heartbeat")
        return
    if who != bot.owner:
        log("telegram", "user %s pressed a button that is not theirs" % who)
        answer = "Only the owner can answer this."
    elif question is None or question.answer is not None or kind not in ("y", "n"):
        answer = "This question is over."
    else:
        question.resolve(kind == "y")
        answer = note = "Allowed" if question.answer else "Denied"
    fields = {"callback_query_id": str(update.get("id")), "text": answer}
    await api.attempt(bot, "answerCallbackQuery", fields, http)
    fields = api.address(bot.owner)
    fields["message_id"] = update.get("message.message_id")
    if note:
        # The edit removes the buttons and adds the decision.
        fields["message_id"] = question.message_id
        text = "%s\n\n%s." % (question.text, note)
        if question.text.endswith(IN_FILE):
            fields["caption"] = text
            await api.attempt(bot, "editMessageCaption", fields, http)
        else:
            fields["text"] = text
            await api.attempt(bot, "editMessageText", fields, http)
    elif question is None and who == bot.owner and fields["message_id"] is not None:
        # Usually a question from before a restart.
        await api.attempt(bot, "editMessageReplyMarkup", fields, http)


def shown(name: str, longest: int) -> str:
    """Return the name of a person for the owner. It is data: no marks, no lines, nothing
    invisible, and short."""
    name = name[:longest]
    for mark in '*_`~[]()<>{}"@/\\\n\r':
        name = name.replace(mark, "")
    return visible(name)


async def _alarm(bot, http, update, data, who, command="alarms"):
    """Queue the command of the button of an alarm, or of an offer."""
    id, _, action = data.rpartition(":")
    text = "/%s %s %s" % (command, action, id)
    if action == "ack":
        text += " by " + shown(" ".join(update.get("from.first_name", who).split()), _NAME)
    chat = bot.home if who == bot.owner else str(update.get("message.chat.id", who))
    message = Message("telegram", chat, text, who)
    message.by_owner = who == bot.owner
    fields = {"callback_query_id": str(update.get("id"))}
    if not bot.inbound.put_nowait(message):
        fields["text"] = "Too much is waiting. Please try again in a moment."
    await api.attempt(bot, "answerCallbackQuery", fields, http)
