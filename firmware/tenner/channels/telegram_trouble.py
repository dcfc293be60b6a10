# tenner channels.telegram_trouble: how long to wait after a failed poll, and what to say of it.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const

_LONGEST_S = const(300)
_HOUR_S = const(3600)
_CONFLICT_S = const(10)


class Refused(OSError):
    """The Bot API answered, and said no."""

    def __init__(self, answer):
        super().__init__(answer.description or "HTTP %d" % answer.status)
        self.answer = answer


def after(bot, error):
    """Note the failure in `bot.status`, log it once, and return the seconds to wait."""
    bot.failures += 1
    wait_s = min(1 << min(bot.failures - 1, 9), _LONGEST_S)
    if isinstance(error, Refused):
        answer = error.answer
        status = answer.status
        # A token of the wrong form is "not found" to Telegram.
        if status in (401, 404):
            wait_s = _HOUR_S
            text = "Telegram refuses the bot's token (%d): check telegram.token" % status
        elif status == 409:
            wait_s = max(wait_s, _CONFLICT_S)
            text = "another program polls with this bot's token, or a webhook is set (409)"
        elif status == 429:
            wait_s = min(answer.retry_after_s or wait_s, _HOUR_S)
            text = "Telegram asks for a pause (429)"
        else:
            text = "Telegram answers HTTP %d: %s" % (status, answer.description)
    else:
        text = reason(error)
    bot.status = "%s; next try in %d s" % (text, wait_s)
    if text != bot.trouble:
        bot.trouble = text
        log("telegram", bot.status)
    return wait_s


def reason(error):
    """Return one clause for a failure without an answer."""
    from tenner.net.tls import explain

    sentence = explain(error)
    if sentence:
        return sentence
    text = str(error) or type(error).__name__
    return "no answer from Telegram: " + text.strip().replace("\n", " ")
