# tenner channels.telegram.ask: sends questions with two buttons; handles presses, also on alarms.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.agent.message_queue import Message
from tenner.channels.telegram import api, message
from tenner.log import log
from tenner.net import multipart
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.channels.question import Question
    from tenner.channels.telegram.channel import Telegram
    from tenner.net.http import Http

_RETRY_S = const(10)
_LONG = const(2000)  # longer questions are sent as a file: a message holds 4,096 units
_CAPTION = const(900)
_PIECE = const(512)


async def send(bot: "Telegram", question: "Question") -> int:
    """Send a question with Allow and Deny; return the seconds until a retry, 0 when none is
    needed."""
    yes = {"text": "Allow", "callback_data": "y:" + question.id}
    no = {"text": "Deny", "callback_data": "n:" + question.id}
    fields = message.address(bot.owner)
    fields["reply_markup"] = {"inline_keyboard": [[yes, no]]}
    text = question.text
    await overlay.enter("SENDING")
    if _is_long(text):
        fields["caption"] = _caption(text)
        kind = "text/plain; charset=utf-8"
        boundary = "tenner" + question.id

        def pieces():
            return _pieces(text)

        body = multipart.Multipart(fields, "document", "question.txt", kind, pieces, boundary)
        async with bot.sending:
            verdict, detail = await message.send_body(
                bot, "sendDocument", body, headers=body.headers
            )
    else:
        # As plain text: a mark could make a link look like another one.
        fields["link_preview_options"] = {"is_disabled": True}
        verdict, detail = await message.send_plain(bot, "sendMessage", fields, text.encode())
    await bot.idle()
    if verdict == "ok":
        question.message_id = detail
    elif verdict == "refused":
        question.fail("the owner could not be asked: Telegram refused the question: %s" % detail)
    else:
        # A repeated question does no harm: the first press counts.
        return (verdict == "retry" and detail) or _RETRY_S
    return 0


def _pieces(text):
    for at in range(0, len(text), _PIECE):
        yield text[at : at + _PIECE].encode()


def _is_long(text):
    return len(text) > _LONG


def _caption(text):
    """Return the caption of a question sent as a file: its first line, which has the action."""
    return "%s\n(all of it is in the file)" % text.split("\n")[0][:_CAPTION]


def alarm_buttons(id: str) -> dict[str, list]:
    """Return the keyboard for the message of an alarm."""
    actions = (("Acknowledge", "ack"), ("Mute 1 h", "mute"), ("Why", "why"))
    row = [{"text": text, "callback_data": "al:%s:%s" % (id, act)} for text, act in actions]
    return {"inline_keyboard": [row]}


async def close(bot: "Telegram", message_id: int) -> None:
    """Remove the buttons of a closed question."""
    fields = {"chat_id": bot.owner, "message_id": message_id}
    await api.attempt(bot, "editMessageReplyMarkup", fields)
    await bot.idle()


async def pressed(bot: "Telegram", http: "Http", update: dict, who: str) -> None:
    """Handle a press of a button: only the owner's counts, and only on a pending question."""
    kind, _, id = str(update.get("data")).partition(":")
    question = bot.asks.get(id)
    note = None
    if who != bot.owner:
        log("telegram", "user %s pressed a button that is not theirs" % who)
        answer = "Only the owner can answer this."
    elif kind == "al":
        await _alarm(bot, http, update, id)
        return
    elif question is None or question.answer is not None or kind not in ("y", "n"):
        answer = "This question is over."
    else:
        question.resolve(kind == "y")
        answer = note = "Allowed" if question.answer else "Denied"
    fields = {"callback_query_id": str(update.get("id")), "text": answer}
    await api.attempt(bot, "answerCallbackQuery", fields, http)
    fields = {"chat_id": bot.owner, "message_id": update.get("message.message_id")}
    if note:
        # The edit removes the buttons and adds the decision.
        fields["message_id"] = question.message_id
        if _is_long(question.text):
            fields["caption"] = "%s\n\n%s." % (_caption(question.text), note)
            await api.attempt(bot, "editMessageCaption", fields, http)
        else:
            fields["text"] = "%s\n\n%s." % (question.text, note)
            await api.attempt(bot, "editMessageText", fields, http)
    elif question is None and who == bot.owner and fields["message_id"] is not None:
        # Usually a question from before a restart.
        await api.attempt(bot, "editMessageReplyMarkup", fields, http)


async def _alarm(bot, http, update, data):
    """Queue the command of an alarm's button."""
    id, _, action = data.rpartition(":")
    text = "/alarms %s %s" % (action, id)
    fields = {"callback_query_id": str(update.get("id"))}
    if not bot.inbound.put_nowait(Message("telegram", bot.owner, text, bot.owner)):
        fields["text"] = "Too much is waiting. Please try again in a moment."
    await api.attempt(bot, "answerCallbackQuery", fields, http)
