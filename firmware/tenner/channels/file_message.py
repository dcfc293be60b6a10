# tenner channels.file_message: sends a message of the outbox that is a file.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.channels.mqtt import image
from tenner.channels.telegram import attachment
from tenner.store import attachments, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tenner.store.outbox_item import Item


async def send(channel: "Any", item: "Item", began: "Callable[[], None]") -> tuple:
    """Send it over its channel; return the outcome as the `send` of a channel does."""
    kind, path, caption = attachments.unpack(item.text)
    if not files.is_file(path):
        return "refused", "its file is gone"
    if channel.name == "mqtt":
        return await image.publish(channel, path, caption, began)
    return await attachment.send(channel, item.chat, kind, path, caption, began)
