# tenner channels.incoming: fetches the file of a message to flash, for the turn that answers it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
One file at a time is on flash, and only during its turn. Its name has the ending of unfinished
files, so after a power cut the next start removes it.
"""

import os

from tenner import overlay
from tenner.channels import voice
from tenner.channels.telegram import api, media
from tenner.log import log
from tenner.net.http_errors import FAILURES
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.message_queue import Message
    from tenner.types import Fetching

# Bytes of flash that stay free for sessions, logs and the outbox.
_RESERVE = const(65536)

# The beginnings of the pictures that models take.
_TYPES = (
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"GIF8", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
)


async def fetch(app: "Fetching", message: "Message") -> bool:
    """Fetch the file of `message`; return False if the person got a sentence instead."""
    sentence, name = await _fetch(app, message)
    if sentence is None and message.file[0] != "photo":
        # Steps of their own, so that the memory holds the download, the request, or the outbox.
        sentence, text = await overlay.step("HEAR", _hear, app, name)
        if sentence is None:
            _quote(app, message, text)
    if sentence is None:
        return True
    log("incoming", sentence)
    app.reply(message, sentence, True)
    return False


async def clear(app: "Fetching") -> None:
    """Remove the file of the last turn."""
    files.remove(_place(app))


async def _fetch(app: "Fetching", message):
    """Fetch the file; return (None or a sentence for the person, its name)."""
    kind, file_id, size = message.file
    path = _place(app)
    setting = "telegram.photo_kb" if kind == "photo" else "voice.max_kb"
    limit_kb = app.config.get(setting)
    free = os.statvfs(app.state)
    if free[1] * free[4] < size + _RESERVE:
        return "My flash has no room for this %s: delete files first." % kind, ""
    http = app.http()
    try:
        name = await media.fetch(app.telegram, http, file_id, path, 1024 * limit_kb)
    except media.TooBig:
        sentence = "This %s has over %d KB (%s): send a smaller one." % (kind, limit_kb, setting)
        return sentence, ""
    except FAILURES as error:
        why = api.reason(error)
        return "I could not fetch this %s (%s): please send it again." % (kind, why), ""
    finally:
        await http.close()
    log("incoming", "a %s of %d KB" % (kind, (files.size(path) + 1023) // 1024))
    if kind == "photo":
        found = media_type(path)
        if found is None:
            return "I look at pictures in JPEG, PNG, WebP and GIF only.", ""
        message.image = found, path
    return None, name


async def _hear(app: "Fetching", name):
    """Return (None or a sentence, the words of the voice note)."""
    ending = name.rpartition(".")[2].lower()
    http = app.http()
    try:
        # Telegram's voice notes are .oga, which some services refuse.
        ending = ending.replace("oga", "ogg")
        text = await voice.transcribe(app.config, http, _place(app), ending)
    except OSError as error:
        return "I could not transcribe this voice note: %s." % error, ""
    finally:
        await http.close()
    if text:
        return None, text
    return "I heard no words in this voice note: please say it again, or write it.", ""


def _quote(app: "Fetching", message, text):
    """Put the words of a voice note into the message, and quote them."""
    message.text = message.text.replace("[a %s]" % message.file[0], text, 1).rstrip()
    id = "heard-%s-%d" % (message.chat, message.reply_to)
    quoted = "\u201c%s\u201d" % text
    app.deliver(message.channel, message.chat, quoted, False, id, message.reply_to)


def media_type(path: str) -> str | None:
    """Return the type of a picture by its first bytes; None for any other file."""
    with open(path, "rb") as file:
        head = file.read(12)
    for mark, start, found in _TYPES:
        if head[start : start + len(mark)] == mark and (not start or head[:4] == b"RIFF"):
            return found
    return None


def _place(app: "Fetching"):
    return app.state + "/incoming.tmp"
