# tenner channels.telegram_ask: a question to the owner with two buttons.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio
from binascii import hexlify
from os import urandom

from tenner.channels.telegram_send import request
from tenner.log import log
from tenner.port.compat import const

_RETRY_S = const(10)


class _Question:
    answer = None
    message_id = None

    def __init__(self, text):
        self.text = text
        self.answered = asyncio.Event()


async def ask(bot, text, timeout_s):
    """Send `text` to the owner with Allow and Deny; return whether Allow was pressed in time."""
    if not bot.owner:
        log("telegram", "nobody to ask: set telegram.owner")
        return False
    # Never the same again, so that a button of an old question cannot answer this one.
    token = hexlify(urandom(6)).decode()
    question = bot.asks[token] = _Question(text)
    try:
        await asyncio.wait_for(_ask(bot, question, token), timeout_s)
    except asyncio.TimeoutError:
        log("telegram", "no answer in %d s: taken as no" % timeout_s)
    finally:
        del bot.asks[token]
        if question.answer is None:
            # By itself: whoever asked may have been cancelled.
            asyncio.create_task(_close(bot, question.message_id))
    return question.answer is True


async def _close(bot, id):
    """Take the buttons away from a question that is over."""
    if id is not None:
        await request(bot, "editMessageReplyMarkup", {"chat_id": bot.owner, "message_id": id})


async def _ask(bot, question, token):
    yes = {"text": "Allow", "callback_data": "y:" + token}
    no = {"text": "Deny", "callback_data": "n:" + token}
    while question.answer is None:
        verdict, detail = await bot.send(
            bot.owner, question.text, None, {"inline_keyboard": [[yes, no]]}
        )
        if verdict == "ok":
            question.message_id = detail
            await question.answered.wait()
        elif verdict == "refused":
            log("telegram", "cannot ask the owner: %s" % detail)
            return
        else:
            # Asked twice, the first press counts.
            await bot.sleep(1000 * (detail if verdict == "retry" and detail else _RETRY_S))


async def pressed(bot, update, who):
    """A button was pressed: only the owner's counts, and only on a question that still waits."""
    kind, _, token = str(update.get("data")).partition(":")
    question = bot.asks.get(token)
    note = None
    if who != bot.owner:
        log("telegram", "user %s pressed a button that is not theirs" % who)
        answer = "Only the owner can answer this."
    elif question is None or question.answer is not None or kind not in ("y", "n"):
        answer = "This question is over."
    else:
        question.answer = kind == "y"
        question.answered.set()
        answer = note = "Allowed" if question.answer else "Denied"
    fields = {"callback_query_id": str(update.get("id")), "text": answer}
    await request(bot, "answerCallbackQuery", fields)
    if question is None and who == bot.owner:
        # From before a restart, as a rule.
        await _close(bot, update.get("message.message_id"))
    if note:
        # Without buttons, and with what was decided.
        fields = {
            "chat_id": bot.owner,
            "message_id": question.message_id,
            "text": "%s\n\n%s." % (question.text, note),
        }
        await request(bot, "editMessageText", fields)
