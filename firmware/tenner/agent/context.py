# tenner agent.context: streams the parts of a model request from flash, skills among them.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner.agent import redaction, spool, tails
from tenner.agent.history import PIECE, pieces, span
from tenner.log import is_odd, is_plain
from tenner.port.compat import const
from tenner.port.package import locate
from tenner.store import files
from tenner.tools import untrusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.agent.agent import Agent
    from tenner.agent.types import Prompt

# The owner's files in the order they stand in the prompt, and how many bytes of each are read.
# Stable files come first: providers cache the unchanged beginning of a prompt.
_FILES = const("AGENTS SOUL IDENTITY USER TOOLS memory/MEMORY")
_FILE_LIMIT = const(4096)
# A scheduled check pays for every byte on every beat, so it gets only the owner and the wiring.
_BEAT_FILES = const("IDENTITY USER TOOLS")
_BEAT_FILE_LIMIT = const(1024)

_MOST = const(20)
_FRONT = const(512)
_LINE = const(160)


def _file_pieces(path, limit):
    """Yield at most `limit` bytes of a file, with a note where it is cut."""
    size = files.size(path)
    yield from files.blocks(path, 0, min(size, limit))
    if size > limit:
        yield b"\n[cut: read_file shows the rest]"


def system(agent: "Agent", turn: "Prompt") -> "Iterator[bytes]":
    """Yield the system prompt as raw UTF-8 pieces, without secrets of the settings."""
    return redaction.redacted(_system(agent, turn))


def _system(agent, turn):
    if turn.system is not None:
        yield turn.system.encode()
        return
    rules, names, limit = "agent/heartbeat.md", _BEAT_FILES, _BEAT_FILE_LIMIT
    if turn.owes:
        rules = "agent/alarm.md"
    if turn.kind == "person":
        rules, names, limit = "agent/person.md", _FILES, _FILE_LIMIT
    if turn.file_limit is not None:
        limit = min(limit, turn.file_limit)
    yield from files.blocks(*locate(rules))
    for name in names.split():
        path = "%s/%s.md" % (agent.workspace, name)
        if files.size(path) > 0:
            yield b"\n# %s.md\n" % name.encode()
            yield from _file_pieces(path, limit)
    if turn.kind == "person":
        for piece in skill_pieces(agent.workspace):
            if untrusted.is_marked(piece):
                turn.untrusted_input = True
            yield piece
    for note in turn.notes:
        yield b"\n" + note.encode()


def records(turn: "Prompt") -> "Iterator[bytes]":
    """Yield history and this turn's own lines as pieces of history lines (agent.history), without
    secrets."""
    return redaction.redacted(_records(turn), True)


def _records(turn):
    before = ()
    if turn.span is not None:
        before = span(turn.session, *turn.span)
    elif turn.session is not None:
        before = pieces(turn.session)
    for piece in before:
        # The first piece of a line has its mark.
        if not turn.untrusted_input and untrusted.is_marked(piece):
            turn.untrusted_input = True
        yield piece
    if turn.image:
        yield turn.image
    if turn.spooled:
        yield from spool.pieces(turn.agent, turn.spooled)
    for line in turn.lines:
        if turn.tails is not None and line[:5] in tails.KINDS:
            yield from tails.pieces(turn.agent, line)
            continue
        for start in range(0, len(line), PIECE):
            yield line[start : start + PIECE]


def skill_pieces(workspace: str) -> "Iterator[bytes]":
    """Yield the names and descriptions of the skills: marked where a name is not plain, and none
    that looks like an order."""
    folder = workspace + "/skills"
    if not files.is_folder(folder):
        return
    head = b"\n# Skills\nFor what one is for, read skills/NAME/SKILL.md first.\n"
    for name in sorted(os.listdir(folder))[:_MOST]:
        path = "%s/%s/SKILL.md" % (folder, name)
        if files.is_file(path) and not is_odd(name):
            with open(path, "rb") as file:
                front = file.read(_FRONT)
            _, _, line = front.partition(b"\ndescription:")
            line = line.partition(b"\n")[0].strip(b" \"'\r")[:_LINE]
            if not is_plain(name):
                head += b"(%s)\n" % untrusted.DATA.encode()
            yield head + b"- %s: %s\n" % (name.encode(), line)
            head = b""
