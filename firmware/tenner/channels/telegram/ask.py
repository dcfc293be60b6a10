# tenner channels.telegram.ask: questions and alarms with buttons, and the presses of these.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.channels.question import IN_FILE
from tenner.channels.telegram import api, menu, message
from tenner.log import log, visible
from tenner.net import multipart
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.channels.question import Question
    from tenner.channels.telegram.types import Asking, Pressed
    from tenner.net.http import Http

_RETRY_S = const(10)
_LONG = const(2000)  # longer questions are sent as a file: a message holds 4,096 units
_CAPTION = const(900)
_PIECE = const(512)
_ACTIONS = {"ack": "Acknowledge", "mute": "Mute 1 h", "unmute": "Unmute", "why": "Why"}
_RULE = const("pr:")
_ANSWERS = (("use", "Use it"), ("ask", "Ask the model each time"), ("off", "Off"))

_NAME = const(24)
_NEXT = const(".e:")


async def send(bot: "Asking", question: "Question") -> int:
    """Send a question with Allow and Deny; return the seconds until a retry, 0 when none is
    needed."""
    yes = {"text": "Allow", "callback_data": "y:" + question.id}
    no = {"text": "Deny", "callback_data": "n:" + question.id}
    fields = api.address(bot.home)
    fields["reply_markup"] = {"inline_keyboard": [[yes, no]]}
    text = question.text
    if len(text) > _LONG:
        fields["caption"] = _caption(text)
        kind = "text/plain; charset=utf-8"
        boundary = "tenner" + question.id

        def pieces():
            return _pieces(text)

        async def attempt():
            body = multipart.Multipart(fields, "document", "question.txt", kind, pieces, boundary)
            async with bot.sending:
                return await message.send_body(bot, "sendDocument", body, headers=body.headers)

    else:
        # As plain text: a mark could make a link look like another one.
        fields["link_preview_options"] = {"is_disabled": True}

        async def attempt():
            return await message.send_plain(bot, "sendMessage", fields, text.encode())

    verdict, detail = await message.send_on(fields, attempt)
    await bot.idle()
    if verdict == "ok":
        question.message_id = detail
        question.text = fields.get("caption", text)
    elif verdict == "refused":
        question.fail("the owner could not be asked: Telegram refused the question: %s" % detail)
    else:
        # A repeated question does no harm: the first press counts.
        return (verdict == "retry" and detail) or _RETRY_S
    return 0


def _pieces(text):
    for at in range(0, len(text), _PIECE):
        yield text[at : at + _PIECE].encode()


def _caption(text):
    """Return the caption of a question sent as a file: its lines with the action."""
    return "\n".join(text.split("\n", 2)[:2])[:_CAPTION] + IN_FILE


def alarm_buttons(
    id: str, actions: "Sequence[str]" = ("ack", "mute", "why"), state: str = ""
) -> dict[str, list]:
    """Return the keyboard for the message of an alarm; its `state` stands on top, as a button.
    With the mark of an offer (schedule.prose) as its `id`, that of the offer."""
    if id[:3] == _RULE:
        row = [{"text": text, "callback_data": id + ":" + act} for act, text in _ANSWERS]
        return {"inline_keyboard": [row]}
    row = [_button(id, _ACTIONS[act], act) for act in actions]
    return {"inline_keyboard": [[_button(id, state, "why")], row] if state else [row]}


def _button(id, text, act):
    return {"text": text, "callback_data": "al:%s:%s" % (id, act)}


async def mark(
    bot: "Asking", message_id: int, id: str, actions: "Sequence[str]", state: str
) -> None:
    """Show the state of an alarm at its first message."""
    chat = bot.config.get("heartbeat.chat") or bot.owner
    fields = {"chat_id": api.address(chat)["chat_id"], "message_id": message_id}
    fields["reply_markup"] = alarm_buttons(id, actions, state)
    await api.attempt(bot, "editMessageReplyMarkup", fields)
    await bot.idle()


async def close(bot: "Asking", message_id: int) -> None:
    """Remove the buttons of a closed question."""
    fields = {"chat_id": api.address(bot.owner)["chat_id"], "message_id": message_id}
    await api.attempt(bot, "editMessageReplyMarkup", fields)
    await bot.idle()


async def pressed(bot: "Pressed", http: "Http", update: dict) -> None:
    """Handle a press of a button: only the owner's counts, and only on a pending question."""
    who = str(update.get("from.id", ""))
    kind, _, id = str(update.get("data")).partition(":")
    question = bot.asks.get(id)
    note = None
    if kind == menu.STRANGER and who == bot.owner:
        await menu.decided(bot, http, update, id)
        return
    allowed = [str(one) for one in bot.config.get("telegram.allow") or ()]
    # An alarm that was passed on is theirs to acknowledge, too.
    if kind == "al" and (who == bot.owner or (_NEXT in id and who in allowed)):
        await _alarm(bot, http, update, id, who)
        return
    if kind == "pr" and who == bot.owner:
        await _alarm(bot, http, update, id, who, "heartbeat")
        return
    if kind in menu.KINDS:
        if who == bot.owner or who in allowed or str(update.get("message.chat.id")) in allowed:
            await menu.pressed(bot, http, update, who)
            return
        question = None
    if who != bot.owner:
        log("telegram", "user %s pressed a button that is not theirs" % who)
        answer = "Only the owner can answer this."
    elif question is None or question.answer is not None or kind not in ("y", "n"):
        answer = "This question is over."
    else:
        question.resolve(kind == "y")
        answer = note = "Allowed" if question.answer else "Denied"
    await menu.answer(bot, http, update, answer)
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
    await menu.take(bot, http, update, text, chat, who)
