# tenner channels.telegram_ask: a question to the owner with two buttons.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.channels.telegram_api import chat_value
from tenner.log import log
from tenner.port.compat import const, ticks_ms

_TRIES = const(5)
_FIRST_WAIT_S = const(2)


class _Question:
    def __init__(self, text):
        self.text = text
        self.answer = None
        self.answered = asyncio.Event()


async def ask(bot, text, timeout_s):
    """Send `text` to the owner with Allow and Deny; return whether Allow was pressed in time."""
    if not bot.owner:
        log("telegram", "nobody to ask: set telegram.owner")
        return False
    # New after each restart, so that a button of an old question cannot answer this one.
    token = "%x-%d" % (ticks_ms() & 0xFFFFFF, len(bot.asks))
    while token in bot.asks:
        token += "x"
    question = _Question(text)
    bot.asks[token] = question
    try:
        await asyncio.wait_for(_answered(bot, question, token), timeout_s)
    except asyncio.TimeoutError:
        log("telegram", "no answer in %d s: taken as no" % timeout_s)
    finally:
        del bot.asks[token]
    return question.answer is True


async def _answered(bot, question, token):
    keyboard = (
        '{"inline_keyboard":[[{"text":"Allow","callback_data":"y:%s"},'
        '{"text":"Deny","callback_data":"n:%s"}]]}' % (token, token)
    ).encode()
    wait_s = _FIRST_WAIT_S
    for _ in range(_TRIES):
        result = await bot.send(bot.owner, question.text, None, keyboard)
        if result[0] == "refused":
            log("telegram", "cannot ask the owner: %s" % result[1])
            question.answer = False
            return
        if result[0] == "ok":
            break
        # Asked twice, the first press counts.
        await bot.pause((result[1] if result[0] == "retry" else None) or wait_s)
        wait_s *= 3
    await question.answered.wait()


async def pressed(bot, update):
    """A button was pressed: only the owner's counts, and only on a question that still waits."""
    kind, _, token = str(update.get("data")).partition(":")
    question = bot.asks.get(token)
    if str(update.get("from.id")) != bot.owner:
        log("telegram", "user %s pressed a button that is not theirs" % update.get("from.id"))
        note = "Only the owner can answer this."
        question = None
    elif question is None or question.answer is not None or kind not in ("y", "n"):
        note = "This question is over."
        question = None
    else:
        question.answer = kind == "y"
        question.answered.set()
        note = "Allowed" if question.answer else "Denied"
    await bot.request(
        "answerCallbackQuery", [("callback_query_id", str(update.get("id"))), ("text", note)]
    )
    if question is not None:
        # Without buttons, and with what was decided.
        await bot.request(
            "editMessageText",
            [
                ("chat_id", chat_value(update.get("message.chat.id"))),
                ("message_id", update.get("message.message_id", 0)),
                ("text", "%s\n\n%s." % (question.text, note)),
            ],
        )
