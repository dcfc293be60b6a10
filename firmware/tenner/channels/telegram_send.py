# tenner channels.telegram_send: one message out, and what became of it.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.channels.telegram import FAILURES
from tenner.log import log
from tenner.net.jsonout import escape
from tenner.port.compat import const

_PIECE = const(256)
_MAX_UNITS = const(4096)


class Body:
    """
    The JSON of a request: the dict `fields`, and `text` as UTF-8 bytes. The HTTP client calls it for each
    pass, to count and to send; `began()` is called before the second. `taken`: all was taken for sending, and the message may arrive.
    """

    def __init__(self, fields, text, began=None):
        self._head = json.dumps(fields)[:-1].encode() + b',"text":"'
        self._text = text
        self._began = began
        self._counted = False
        self.taken = False

    def __call__(self):
        if self.taken:
            # A kept connection was found dead. Whether the server saw the request is not known.
            raise OSError("the connection was lost before the answer")
        sending = self._counted
        self._counted = False
        if sending and self._began:
            self._began()
        yield self._head
        for at in range(0, len(self._text), _PIECE):
            yield escape(self._text[at : at + _PIECE])
        self._counted = not sending
        # Before the last of it: whoever takes that may fail when it has left.
        self.taken = sending
        yield b'"}'


async def send(bot, chat, text, reply_to, keyboard, began=None):
    """Send `text` as HTML, and as it stands when Telegram does not like the marks. See Telegram.send."""
    raw, html = _marked(text)
    # The largest module of all, and not needed any more.
    bot.shed("tenner.channels.markup")
    if bot.previews:
        from tenner.channels.telegram_preview import finish

        result = await finish(bot, chat, reply_to, raw, html)
        if result is not None:
            return result
    fields = address(chat)
    if reply_to is not None:
        # The message may have been deleted in the meantime.
        fields["reply_parameters"] = {
            "message_id": reply_to,
            "allow_sending_without_reply": True,
        }
    if keyboard is not None:
        fields["reply_markup"] = keyboard
    return await attempt(bot, "sendMessage", fields, raw, html, began)


def address(chat):
    """Return the field that says where to: a number, or a name such as `@channel`."""
    text = str(chat)
    return {"chat_id": int(text) if text.lstrip("-").isdigit() else text}


def _marked(text):
    """Return a text as valid UTF-8, and as HTML, b"" where that does not fit a message."""
    from tenner.channels import markup

    raw = markup.clean(text)
    html = b"".join(markup.pieces(raw))
    # Aligned columns may have grown a table past the limit, and a mark alone shows nothing.
    return raw, html if 0 < markup.visible_units(html) <= _MAX_UNITS else b""


async def attempt(bot, method, fields, raw, html, began=None):
    """Send a text with its marks, and without when they are refused."""
    fields["link_preview_options"] = {"is_disabled": True}
    if html:
        fields["parse_mode"] = "HTML"
        result = await send_once(bot, method, fields, html, began)
        if result is not None:
            return result
        del fields["parse_mode"]
    return await send_once(bot, method, fields, raw, began)


def _sender(bot):
    if bot.http is None:
        bot.http = bot.http_factory(False)
    return bot.http


async def send_once(bot, method, fields, text, began=None):
    """Call `method`, which returns a message; None means that Telegram could not parse the HTML."""
    message_id = None

    def sink(path, value, more):
        nonlocal message_id
        if path[1:] == ["message_id"]:
            message_id = value

    body = Body(fields, text, began)
    try:
        async with bot.sending:
            answer = await bot.call(_sender(bot), method, body, sink)
    except FAILURES as error:
        from tenner.channels.telegram_trouble import reason

        why = reason(error)
        log("telegram", "not sent: " + why)
        return ("unknown", why) if body.taken else ("retry", None)
    if answer["ok"]:
        return "ok", message_id
    from tenner.channels.telegram_trouble import refused

    return refused(answer, "parse_mode" in fields)


async def request(bot, method, fields):
    """Call a method whose failure harms nobody; return whether it worked."""
    try:
        async with bot.sending:
            await bot.request(_sender(bot), method, fields)
        return True
    except FAILURES as error:
        from tenner.channels.telegram_trouble import reason

        log("telegram", "%s: %s" % (method, reason(error)))
        return False
