# tenner agent.again: asks a message once more whose turn had no memory for a connection.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A turn cannot reach its model on a chip whose heap has grown into the memory of TLS. Such a board
restarts itself (memory_restart). The message waits for that in state/again, `[chat, text, sender,
reply_to, by_owner]`, and the start asks it again.
"""

import json

from tenner.agent import spool
from tenner.agent.message_queue import Message
from tenner.log import log
from tenner.store import files, json_strict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.agent.parts import Inbox
    from tenner.agent.types import Answered


def keep(app: "Inbox", message: Message, turn: "Answered") -> bool:
    """Keep a message for a second turn; return False if its error is the answer."""
    result = turn.result
    if (
        message.again
        or app.again
        or message.channel != "telegram"
        or message.file  # it is gone after the turn
        or not result.outage
        or result.tool_calls  # no tool runs twice
        or not app.port.shares_memory
        or not app.get("semaphore").shortages
        or app.get("semaphore").why()  # a restart would not help
    ):
        return False
    text = message.text
    if turn.spooled:
        text = spool.text(turn.agent, turn.spooled, not message.by_owner)
    by_owner = message.by_owner and not message.quotes_agent
    kept = [message.chat, text, message.sender, message.reply_to, by_owner]
    try:
        files.write_atomic(path(app), json.dumps(kept))
    except OSError as error:
        log("agent", "a message was not kept for later: %s" % error)
        return False
    log("agent", "%s: asked again after a restart" % message.chat)
    app.again = True
    app.telegram.done(message)
    return True


async def ask(app: "Inbox") -> None:
    """Put the message that the last start kept into the inbox."""
    message = _load(app)
    if message is not None:
        message.again = True
        # First of all: a power cut from now on is told like one in any turn.
        app.telegram.open.append(message)
        app.telegram.save(app.telegram.offset)
        app.inbox.put_nowait(message)
    files.remove(path(app))


def path(app: "Inbox") -> str:
    """Return the path of the kept message."""
    return app.state + "/again"


def _load(app: "Inbox"):
    try:
        chat, text, sender, reply_to, by_owner = json_strict.loads(files.read_text(path(app)))
        if not (isinstance(text, str) and isinstance(sender, str)):
            raise ValueError("it is no message")
    except (ValueError, TypeError) as error:
        log("agent", "state/again is damaged: %s" % error)
        return None
    message = Message("telegram", chat, text, sender)
    message.reply_to = reply_to
    message.by_owner = by_owner
    return message
