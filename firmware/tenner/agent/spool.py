# tenner agent.spool: keeps the record of a long message on flash during its turn.
# MIT license; Copyright (c) 2026 the tenner authors

import json

from tenner.agent.history_lines import record_pieces
from tenner.log import log
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.agent.agent import Agent
    from tenner.agent.message_queue import Message


def put(agent: "Agent", message: "Message", head: str, end: str) -> int:
    """
    Store the record of `head`, a message in pieces and `end`; return its bytes, and 0 if flash
    fails: the text of the message is whole then. A turn that is tried again finds the record.
    """
    words = message.pieces
    if isinstance(words, int):
        return words
    try:
        with files.open_own(_path(agent), "wb") as file:
            for piece in record_pieces("u", [head, message.text] + list(words) + [end]):
                files.put(file, piece)
        size = files.size(_path(agent))
    except OSError as error:
        log("turn", "a long message stays in memory: %s" % error)
        message.text += "".join(words)
        size = 0
    message.pieces = size
    return size


def pieces(agent: "Agent", size: int) -> "Iterator[bytes]":
    """Yield the record of `size` bytes."""
    return files.blocks(_path(agent), 0, size)


def text(agent: "Agent", size: int, has_head: bool) -> str:
    """Return the message of a record, without the lines before and after it."""
    whole: str = json.loads(b"".join(pieces(agent, size)))[1]
    if has_head:
        whole = whole.partition("\n")[2]
    return whole[: whole.rfind("\n\n")]


def _path(agent):
    return agent.port.path("state/message.part")
