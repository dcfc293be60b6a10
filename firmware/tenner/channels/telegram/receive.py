# tenner channels.telegram.receive: fetches and handles the waiting updates.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner import overlay
from tenner.channels.telegram import api, command_list, update
from tenner.log import log
from tenner.net.http_errors import Yielded
from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.lane import Lane
    from tenner.channels.telegram.types import People, Receiving
    from tenner.net.http import Http

_NO_ROOM_S = const(3)
_TIMEOUT_S = const(15)
# Telegram takes an offset further ahead of its updates as none.
_AHEAD = const(10)

_BEGINNING = const(2048)  # of a reply; it names the writer
_PIECE = const(256)
_REST_S = const(1)  # for the rest of the reply


async def receive(bot: "Receiving", http: "Http") -> int:
    """Handle the waiting updates; return the seconds to wait before the next poll. Yielded if a
    turn has taken the connection."""
    if http.stream is None:
        # Connecting now could wait forever, for a task that has the TLS session and waits for the
        # memory.
        raise Yielded
    if bot.interrupted:
        tell_interrupted(bot)
        return 0  # the code of the outbox makes room for that of the connection
    if bot.hooked:
        await _unhook(bot, http)
    if not bot.bot_name:
        await _introduce(bot, http)
    while True:
        if not bot.updates:
            bot.updates = await _updates(bot, http)
        found = bot.updates[0] if bot.updates else {}
        id = found.get("update_id", 0)
        # Telegram restarts its numbers after a week without updates, far below the offset.
        if found and (id < 1 or bot.offset - _AHEAD <= id < bot.offset):
            bot.updates = []
            raise ValueError("Telegram sent a confirmed update again")
        if (found or bot.digest) and not await update.handle(bot, found, http):
            return _NO_ROOM_S
        bot.offset = id + 1 if found else 0
        bot.updates = bot.updates[1:]
        # One digest answers all messages from our offline time: fetch the rest of them.
        if not bot.updates and not bot.digest:
            return 0


async def _introduce(bot, http):
    """Ask for the bot's own name, and tell the list of commands if it has changed."""

    def sink(path, value, more):
        if path[-1] == "username" and isinstance(value, str):
            bot.bot_name = value

    await api.request(bot, http, "getMe", {}, sink)
    await command_list.tell(bot, http)


async def _unhook(bot, http):
    """Remove the webhook; the updates that it has not delivered stay."""
    await api.request(bot, http, "deleteWebhook", {"drop_pending_updates": False})
    bot.hooked = False
    log("telegram", "a webhook was set, and is removed")
    if bot.owner:
        bot.say(
            bot.home,
            "A webhook of this bot kept your messages from me. I have removed it. If another "
            "program needs it, give me a bot of my own.",
        )


async def _updates(bot, http):
    """Return the waiting updates, reduced to the fields of update.keep: one, or all from a server
    without limit."""
    found = []

    def sink(path, value, more):
        if len(path) > 2 and isinstance(path[1], int):
            while path[1] >= len(found):
                found.append({})
            update.keep(found[path[1]], path, value)

    body = None if http.came else bot.poll_body(0)
    await api.request(bot, http, "getUpdates", body, sink, _TIMEOUT_S)
    return found


def tell_interrupted(bot: "Receiving") -> None:
    """Answer every message that the restart interrupted."""
    for chat, ids in bot.interrupted.items():
        quoted = 0
        for distance in ids:
            quoted += distance
            bot.say(
                chat,
                "I was restarted while working on this. Please send it again.",
                reply_to=quoted,
                id="tg-%s-%d" % (chat, quoted),
            )
    bot.interrupted = None
    bot.save(bot.offset)


async def overhear(bot: "People", http: "Http", lane: "Lane") -> None:
    """
    Notify the lane of a turn when the owner has written, and close the connection. This needs no
    parser: JSON escapes quotes in texts, so none of the searched words can be part of one.
    """
    raw = bytearray(memoryview(http.buffer)[: http.end])
    try:
        await asyncio.wait_for(overlay.start(_read(http.stream, raw)), _REST_S)
    except (OSError, EOFError, asyncio.TimeoutError):
        pass  # the received part must do; `receive` fetches the update again
    await http.close()
    owner = b'":{"id":' + bot.owner.encode() + b","
    raw = bytes(raw)
    if b'"from' + owner in raw and b'"forward_' not in raw and b'"reply_to_' not in raw:
        lane.overheard(b'"text":"/stop"' in raw and b'"chat' + owner in raw)


async def _read(stream, raw):
    """Read the rest of a short reply."""
    while len(raw) < _BEGINNING and not raw.endswith(b"}]}"):
        piece = await stream.read(_PIECE)
        if not piece:
            return
        raw.extend(piece)
