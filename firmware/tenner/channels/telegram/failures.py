# tenner channels.telegram.failures: the wait after a failure, and its description.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.net.tls_errors import explain
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tenner.channels.telegram.types import Health


_LONGEST_S = const(300)
_HOUR_S = const(3600)
_CONFLICT_S = const(10)


async def after(bot: "Health", error: Exception) -> int:
    """Put the reason of a failed poll into `bot.status`, log it once, and return the seconds to
    wait."""
    wait_s = min(1 << min(bot.failures, 9), _LONGEST_S)
    bot.failures += 1
    text = reason(error)
    if isinstance(error.args and error.args[0], dict):
        answer = error.args[0]
        status = answer["status"]
        # Telegram answers 404 to a malformed token.
        if status in (401, 404):
            text += ": check telegram.token"
        elif status == 409:
            wait_s = max(wait_s, _CONFLICT_S)
            if "webhook is active" not in answer["description"]:
                text += ": another program polls with this token"
            elif bot.hooked is None:
                bot.hooked = True
                wait_s = 1
                text += ": I remove the webhook"
            else:
                text += ": another program has set a webhook again"
        elif status == 429:
            wait_s = min(answer["retry_after"] or wait_s, _HOUR_S)
    bot.status = "%s; next try in %d s" % (text, wait_s)
    if text != bot.last_logged:
        bot.last_logged = text
        log("telegram", bot.status)
    return wait_s


def reason(error: Exception) -> str:
    """Return one clause for a failure."""
    detail = error.args[0] if error.args else ""
    if isinstance(detail, dict):
        return ("Telegram answers %d %s" % (detail["status"], detail["description"])).rstrip()
    text = explain(error)
    if text:
        return text
    text = str(error) or type(error).__name__
    return "no answer from Telegram: " + text.strip().replace("\n", " ")


def refused(answer: dict, is_html: bool) -> "tuple[str, Any] | None":
    """
    Return the result of Telegram.send for an error answer: None when Telegram rejects the HTML,
    ("moved", id) when a group has become a supergroup.
    """
    status = answer["status"]
    why = answer["description"] or "HTTP %d" % status
    log("telegram", "sendMessage: %d %s" % (status, why))
    if status == 429:
        # A proxy does not say when to retry, and it counts each try, so the waits grow.
        return "retry", answer["retry_after"] or None
    if status not in (400, 403, 413):
        # 200 without "ok" is not the Bot API, 3xx and 5xx are server errors, and the owner may fix
        # a token.
        return "retry", None
    if answer["migrate_to_chat_id"]:
        return "moved", answer["migrate_to_chat_id"]
    if is_html:
        for word in ("entit", "too long", "TOO_LONG", "empty"):
            if word in why:
                log("telegram", "Telegram rejected the HTML; resending as plain text")
                return None
    return "refused", why
