# tenner channels.telegram_send: one message out, and what became of it.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.channels import markup
from tenner.channels.telegram_api import Body, chat_value
from tenner.channels.telegram_trouble import reason
from tenner.log import log
from tenner.port.compat import const

_TIMEOUT_S = const(30)
_TOKEN_RETRY_S = const(3600)
_MAX_UNITS = const(4096)

_FAILURES = (OSError, EOFError, ValueError, asyncio.TimeoutError)


async def send(bot, http, chat, text, reply_to, keyboard):
    """Send `text` as HTML, and as it stands when Telegram does not like the marks. See Telegram.send."""
    raw = markup.clean(text)
    html = b"".join(markup.pieces(raw))
    units = markup.visible_units(html)
    # Aligned columns may have grown a table past the limit, and a mark alone shows nothing.
    if units > _MAX_UNITS or not units:
        html = None
    if html is not None:
        result = await _send(bot, http, chat, html, reply_to, keyboard, True)
        if result is not None:
            return result
        log("telegram", "the marks were refused: sending the text as it is")
    result = await _send(bot, http, chat, raw, reply_to, keyboard, False)
    return result or ("refused", "the text was refused")


async def _send(bot, http, chat, text, reply_to, keyboard, is_html):
    """Send once; None means that Telegram could not parse the HTML."""
    fields = [("chat_id", chat_value(chat)), ("text", [text])]
    if is_html:
        fields.append(("parse_mode", "HTML"))
    fields.append(("link_preview_options", b'{"is_disabled":true}'))
    if reply_to is not None:
        # The message may have been deleted in the meantime.
        quoted = '{"message_id":%d,"allow_sending_without_reply":true}' % reply_to
        fields.append(("reply_parameters", quoted.encode()))
    if keyboard is not None:
        fields.append(("reply_markup", keyboard))
    message_id = None

    def sink(path, value, more):
        nonlocal message_id
        if path[1:] == ["message_id"]:
            message_id = value

    body = Body(fields)
    try:
        answer = await bot.api.call(http, "sendMessage", body, sink, _TIMEOUT_S)
    except _FAILURES as error:
        if body.taken:
            return "unknown", reason(error)
        log("telegram", "not sent: " + reason(error))
        return "retry", None
    if answer.ok:
        return "ok", message_id
    return _refused(answer, is_html)


def _refused(answer, is_html):
    """Tell for good from for now."""
    status = answer.status
    words = answer.description.lower()
    log("telegram", "sendMessage: HTTP %d %s" % (status, answer.description))
    if status == 429:
        return "retry", answer.retry_after_s or 1
    if status in (401, 404):
        return "retry", _TOKEN_RETRY_S
    if status == 400 and is_html and ("entit" in words or "too long" in words or "empty" in words):
        return None
    if answer.moved_to is not None:
        return "refused", "the group has the new id %s" % answer.moved_to
    if status in (400, 403):
        return "refused", answer.description or "HTTP %d" % status
    # 200 without "ok" is no Bot API, 3xx and 5xx are a server in trouble.
    return "retry", None


async def request(bot, http, method, fields):
    """Call a method whose failure harms nobody; return whether it worked."""
    try:
        answer = await bot.api.call(http, method, Body(fields), None, _TIMEOUT_S)
    except _FAILURES as error:
        log("telegram", "%s: %s" % (method, reason(error)))
        return False
    if not answer.ok:
        log("telegram", "%s: HTTP %d %s" % (method, answer.status, answer.description))
    return answer.ok
