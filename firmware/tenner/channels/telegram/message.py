# tenner channels.telegram.message: sends or edits one message or file, and returns the outcome.
# MIT license; Copyright (c) 2026 the tenner authors

import json
from binascii import hexlify
from os import urandom

from tenner.channels import split
from tenner.channels.telegram import api, markup
from tenner.log import log
from tenner.net import multipart
from tenner.net.http_errors import FAILURES
from tenner.net.json.writer import escape
from tenner.port.compat import const
from tenner.store import attachments, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from typing import Any

    from tenner.channels.telegram.types import Api
    from tenner.net.multipart import Multipart


_PIECE = const(256)
_MARKS = const("*_`~[<>&#|\\-+\n\r\t")


#: The method, the field and the type of each kind of file.
_KINDS = {
    "photo": ("sendPhoto", "photo", "image/png"),
    "document": ("sendDocument", "document", "application/octet-stream"),
}


class Body:
    """
    The JSON of a request: the dict `fields`, and `text` as UTF-8 bytes. The HTTP client calls it
    for each pass, to count and to send; the second calls `began()`. `taken`: the client has all of
    its bytes; they may have left if Http.is_sent is true, too.
    """

    def __init__(
        self, fields: dict, text: bytes, began: "Callable[[], None] | None" = None
    ) -> None:
        self._head = json.dumps(fields)[:-1].encode() + b',"text":"'
        self._text = text
        self._began = began
        self._counted = False
        self.taken = False

    def __call__(self) -> "Iterator[bytes]":
        if self.taken:
            # A reused connection was dead; the server may have seen the request.
            raise OSError("the connection was lost before the answer")
        sending = self._counted
        self._counted = False
        if sending and self._began:
            self._began()
        yield self._head
        for at in range(0, len(self._text), _PIECE):
            yield escape(self._text[at : at + _PIECE])
        self._counted = not sending
        # Before the last piece: its sender may fail after the bytes have left.
        self.taken = sending
        yield b'"}'


def marked(text: str, max_units: int) -> tuple[bytes, bytes]:
    """Return a text as valid UTF-8, and as HTML, or b"" if it has no marks or the HTML is too
    long."""
    raw = text.encode()
    if len(raw) == len(text) and not any(mark in text for mark in _MARKS):
        # One line of plain ASCII: skip the parser, whose code is large.
        return raw, b""
    raw = markup.clean(raw)
    html = b"".join(markup.pieces(raw))
    # Aligned columns may push a table past the limit, and a lone mark shows nothing.
    return raw, html if 0 < split.visible_units(html) <= max_units else b""


async def send_on(
    fields: dict, send: "Callable[[], Awaitable[tuple[str, Any]]]"
) -> "tuple[str, Any]":
    """
    Return the outcome of `send()`, which sends to the destination in `fields`. Where Telegram
    refuses that, send again to the group's new id, or outside of the topic.
    """
    result = await send()
    while True:
        verdict, detail = result
        if verdict == "moved":
            if fields["chat_id"] == detail:
                return "refused", "the group has moved to %d" % detail
            log(
                "telegram",
                "group %s has the new id %d: set it in config.json" % (fields["chat_id"], detail),
            )
            fields["chat_id"] = detail
        elif verdict != "refused" or "message_thread_id" not in fields or not _is_of_topic(detail):
            return result
        # The quoted message is in the old group, or leads into the topic again.
        fields.pop("reply_parameters", None)
        fields.pop("message_thread_id", None)
        result = await send()


def _is_of_topic(why):
    return "thread not found" in why.lower() or "TOPIC" in why


async def send_marked(
    bot: "Api",
    method: str,
    fields: dict,
    raw: bytes,
    html: bytes,
    began: "Callable[[], None] | None" = None,
) -> "tuple[str, Any]":
    """Send a text as HTML, or as plain text when Telegram rejects the HTML."""
    fields["link_preview_options"] = {"is_disabled": True}
    if html:
        fields["parse_mode"] = "HTML"
        result = await send_plain(bot, method, fields, html, began)
        if result is not None:
            return result
        del fields["parse_mode"]
    return await send_plain(bot, method, fields, raw, began)


async def send_plain(
    bot: "Api",
    method: str,
    fields: dict,
    text: bytes,
    began: "Callable[[], None] | None" = None,
) -> "tuple[str, Any] | None":
    """Call `method`, which returns a message; return None if Telegram cannot parse the HTML."""
    async with bot.sending:
        return await send_locked(bot, method, fields, text, began)


async def send_locked(
    bot: "Api",
    method: str,
    fields: dict,
    text: bytes,
    began: "Callable[[], None] | None" = None,
) -> "tuple[str, Any] | None":
    """Send as `send_plain` does; the caller holds the lock `bot.sending`."""
    return await send_body(bot, method, Body(fields, text, began), "parse_mode" in fields)


async def send_body(
    bot: "Api",
    method: str,
    body: "Body | Multipart",
    is_html: bool = False,
    headers: "Sequence[tuple[str, str]] | None" = None,
) -> "tuple[str, Any] | None":
    """Send as `send_locked` does a body with the attribute `taken`, see Body."""
    message_id = None
    http = api.sender(bot)

    def sink(path, value, more):
        nonlocal message_id
        if path[1:] == ["message_id"]:
            message_id = value

    try:
        answer = await api.call(
            bot, http, method, body, sink, headers=headers, phases=("SENDING", "SENT")
        )
    except FAILURES as error:
        why = api.reason(error)
        log("telegram", "not sent: " + why)
        return ("unknown", why) if body.taken and http.is_sent else ("retry", None)
    except MemoryError:
        if not (body.taken and http.is_sent):
            raise
        # A retry of the entire phase would send the message again.
        return "unknown", "no memory for the reply"
    if answer["ok"]:
        return "ok", message_id
    return api.refused(answer, is_html)


async def send_message(
    bot: "Api",
    chat: int | str,
    kind: str,
    path: str,
    caption: str,
    began: "Callable[[], None]",
) -> tuple:
    """Send the file; return the outcome as Telegram.send does. It is read piece by piece."""
    method, field, media_type = _KINDS[kind]
    fields = api.address(chat)
    if caption:
        fields["caption"] = caption
    name = attachments.name_of(path)
    boundary = "tenner" + hexlify(urandom(8)).decode()

    def pieces():
        return files.blocks(path)

    async def attempt():
        body = multipart.Multipart(fields, field, name, media_type, pieces, boundary, began)
        async with bot.sending:
            return await send_body(bot, method, body, headers=body.headers)

    return await send_on(fields, attempt)
