# tenner agent.cut_off: joins answers cut off at the length limit, and sends long ones from flash.
# MIT license; Copyright (c) 2026 the tenner authors

import sys

from tenner.agent.history_lines import record_pieces
from tenner.net.json.writer import escaped
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.agent.agent import Agent
    from tenner.agent.errors import Stopped
    from tenner.agent.message_queue import Message
    from tenner.agent.types import Answered, Outcome

_SHORT = const(2000)  # characters
_PIECE = const(1024)  # bytes: a used heap has few long stretches
_ROOMY_PIECE = const(3072)
#: So much of an answer on flash becomes part of the history.
_REMEMBERED = const(6144)

_GO_ON = const(
    "Your answer was cut off at the length limit. The part so far is kept: go on from there, "
    "beginning with the last word you wrote. Repeat nothing else, and keep it short."
)
#: The whole answer, when all of it was reasoning.
CUT_AGAIN = const("(cut off at the length limit, llm.max_tokens)")
_REST_FAILED = const("(cut off at the length limit; the rest did not come: %s)")
# From this character on (Chinese, Japanese and others) scripts put no space between words.
_SPACELESS = const("\u2e80")


def take(turn: "Answered", text: str, stop: str) -> str | None:
    """Return the complete answer, its last part being `text`; None when the model has to continue
    it."""
    if turn.result.kept:
        return text if stop != "length" else _with_note(text, CUT_AGAIN)
    if turn.begun is None:
        turn.begun = text
        if not text:
            turn.add("a", "(nothing)")
        turn.add("n", _GO_ON)
        return None
    text = _joined(turn.begun, text)
    return text if stop != "length" else _with_note(text, CUT_AGAIN)


def unfinished(turn: "Answered", reason: "Stopped") -> str:
    """Return the received part of an answer with a note that gives the `reason` for the missing
    rest."""
    note = _REST_FAILED % reason
    turn.add("a", note)
    return _with_note(turn.begun, note)


def short(text: str) -> str:
    """Return the end of a long text, for the history."""
    return "(the beginning of this long answer was sent, and is not kept here)\n" + text[-_SHORT:]


def parts(agent: "Agent", result: "Outcome") -> "Iterator[str]":
    """Yield a long answer, whose beginning is on flash, in parts that end at a line or a word."""
    path = _path(agent)
    is_roomy = sys.implementation.name == "cpython" and not agent.port.small
    size = _ROOMY_PIECE if is_roomy else _PIECE
    kept, text = result.kept, result.text
    start = 0
    while start < kept:
        piece = b"".join(files.blocks(path, start, min(start + size, kept)))
        if start + len(piece) >= kept and len(piece) + len(text.encode()) <= size:
            text = str(piece, "utf-8") + text
            break
        if start + len(piece) < kept:
            half = len(piece) // 2
            end = (
                piece.rfind(b"\n", half) if b"\n" in piece[half:] else piece.rfind(b" ", half)
            ) + 1
            if not end:
                end = len(piece)
                while end > 1 and piece[end - 1] & 0xC0 == 0x80:
                    end -= 1
                end -= 1
            piece = piece[:end]
        if not piece:
            break
        start += len(piece)
        yield str(piece, "utf-8")
    if text:
        yield text


def deliver(agent: "Agent", message: "Message", result: "Outcome") -> str:
    """Send all parts of a long answer but the last as separate messages; return the last."""
    last = ""
    for part in parts(agent, result):
        if last:
            agent.app.deliver(message.channel, message.chat, last)
        last = part
    return last


def record(turn: "Answered", text: str) -> "Iterator[bytes]":
    """Yield the history line of an answer, whose beginning may be on flash, in pieces."""
    kept = turn.result.kept
    pieces = record_pieces("a", short(text) if kept > _REMEMBERED else text)
    yield pieces[0]
    if 0 < kept <= _REMEMBERED:
        yield from escaped(files.blocks(_path(turn.agent), 0, kept))
    yield from pieces[1:]


def _path(agent):
    return agent.port.path("state/reply.part")


def _with_note(text, note):
    return text + "\n\n" + note if text else note


def _joined(head, text):
    """Join two parts; the second may repeat the last, possibly incomplete, word of the first."""
    if not head or not text:
        return head or text
    last = head.split()[-1] if head[-1:].strip() else ""
    if last and text.startswith(last):
        return head[: len(head) - len(last)] + text
    # Models often drop the space between the parts.
    between = ""
    if last and head[-1:] < _SPACELESS and text[:1].strip() and text[:1] < _SPACELESS:
        between = " "
    return head + between + text
