# tenner channels.telegram.command_list: tells Telegram the commands, for the menu of its apps.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Telegram keeps the list. It is sent at a start, if its checksum in the slots state/commands is
another one.
"""

import json
from binascii import crc32

from tenner.channels import command_table
from tenner.channels.telegram import api
from tenner.log import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.channels.telegram.types import Receiving
    from tenner.net.http import Http


async def tell(bot: "Receiving", http: "Http") -> None:
    """Send the list if it has changed; a failure waits for the next start."""
    slots = bot.slots("commands")
    now = checksum()
    if slots.load().get("c") == now or not await api.attempt(bot, "setMyCommands", _body, http):
        return
    try:
        slots.save({"c": now})
    except OSError as error:
        log("telegram", "the list of commands is told again at the next start: %s" % error)


def checksum() -> int:
    """Return that of the list."""
    found = 0
    for piece in _body():
        found = crc32(piece, found)
    return found


def _body() -> "Iterator[bytes]":
    """Yield the list as JSON, the commands of /help first."""
    before = '{"commands":['
    for name, _, _, meaning in command_table.rows():
        text = json.dumps({"command": name, "description": meaning})
        yield (before + text).encode()
        before = ","
    yield b"]}"
