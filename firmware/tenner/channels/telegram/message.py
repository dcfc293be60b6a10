# tenner channels.telegram.message: sends or edits one message, and says what became of it.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner import overlay
from tenner.channels.telegram import api, failures, markup
from tenner.channels.telegram.errors import FAILURES
from tenner.log import log
from tenner.net.json.writer import escape
from tenner.port.compat import const

_PIECE = const(256)
_MARKS = const("*_`~[<>&#|\\-+\n\r\t")


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


def address(chat):
    """Return the field that says where to: a number, or a name such as `@channel`."""
    text = str(chat)
    return {"chat_id": int(text) if text.lstrip("-").isdigit() else text}


def marked(text, max_units):
    """Return a text as valid UTF-8, and as HTML, b"" where it has no marks or that does not fit a message."""
    raw = text.encode()
    if len(raw) == len(text) and not any(mark in text for mark in _MARKS):
        # One line of ASCII: nothing to make of it, and the code for that is large.
        return raw, b""
    raw = markup.clean(text)
    html = b"".join(markup.pieces(raw))
    # Aligned columns may have grown a table past the limit, and a mark alone shows nothing.
    return raw, html if 0 < markup.visible_units(html) <= max_units else b""


async def _make_room(sends):
    """See net.http.Http.stage."""
    await overlay.enter("SENDING")


async def send_marked(bot, method, fields, raw, html, began=None):
    """Send a text with its marks, and without when they are refused."""
    fields["link_preview_options"] = {"is_disabled": True}
    if html:
        fields["parse_mode"] = "HTML"
        result = await send_plain(bot, method, fields, html, began)
        if result is not None:
            return result
        del fields["parse_mode"]
    return await send_plain(bot, method, fields, raw, began)


async def send_plain(bot, method, fields, text, began=None):
    """Call `method`, which returns a message; None means that Telegram could not parse the HTML."""
    async with bot.sending:
        return await send_locked(bot, method, fields, text, began)


async def send_locked(bot, method, fields, text, began=None):
    """The same for the holder of the lock `bot.sending`."""
    return await send_body(bot, method, Body(fields, text, began), "parse_mode" in fields)


async def send_body(bot, method, body, is_html=False, headers=None):
    """The same for a body that says by `taken` whether all of it was taken for sending."""
    message_id = None

    def sink(path, value, more):
        nonlocal message_id
        if path[1:] == ["message_id"]:
            message_id = value

    try:
        answer = await api.call(
            bot, api.sender(bot), method, body, sink, headers=headers, stage=_make_room
        )
    except FAILURES as error:
        why = failures.reason(error)
        log("telegram", "not sent: " + why)
        return ("unknown", why) if body.taken else ("retry", None)
    except MemoryError:
        if not body.taken:
            raise
        # The whole phase would be run again, and with it the message sent again.
        return "unknown", "no memory for the reply"
    if answer["ok"]:
        return "ok", message_id
    return failures.refused(answer, is_html)
