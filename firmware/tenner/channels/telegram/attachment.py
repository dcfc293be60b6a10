# tenner channels.telegram.attachment: sends a file from flash, as a picture or as a document.
# MIT license; Copyright (c) 2026 the tenner authors

from binascii import hexlify
from os import urandom

from tenner.channels.telegram import api, message
from tenner.net import multipart
from tenner.store import attachments, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tenner.channels.telegram.types import Api


#: The method, the field and the type of each kind of file.
_KINDS = {
    "photo": ("sendPhoto", "photo", "image/png"),
    "document": ("sendDocument", "document", "application/octet-stream"),
}


async def send(
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
            return await message.send_body(bot, method, body, headers=body.headers)

    return await message.send_on(fields, attempt)
