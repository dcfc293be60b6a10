# tenner agent.context: what one model request is made of, streamed from flash; loaded while it is sent.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.agent.history import PIECE, pieces, span
from tenner.port.compat import const
from tenner.port.package import package_path
from tenner.store import files

_PIECE = const(256)

# The owner's files in the order they stand in the prompt, and how many bytes of each are read.
# What changes least comes first: providers cache the unchanged beginning of a prompt.
_FILES = const("AGENTS SOUL IDENTITY USER TOOLS memory/MEMORY")
_FILE_LIMIT = const(4096)
# A scheduled check pays for every byte on every beat: only who the owner is and what is wired.
_BEAT_FILES = const("IDENTITY USER TOOLS")
_BEAT_FILE_LIMIT = const(1024)


def _file_pieces(path, limit):
    """Yield at most `limit` bytes of a file, and say where it was cut."""
    with open(path, "rb") as file:
        while limit > 0:
            piece = file.read(min(_PIECE, limit))
            if not piece:
                return
            limit -= len(piece)
            yield piece
        if file.read(1):
            yield b"\n[cut: read_file shows the rest]"


def system(agent, turn):
    """Yield the system prompt as raw UTF-8 pieces."""
    if turn.system is not None:
        yield turn.system.encode()
        return
    rules, names, limit = "agent/heartbeat.md", _BEAT_FILES, _BEAT_FILE_LIMIT
    if turn.kind == "person":
        rules, names, limit = "agent/person.md", _FILES, _FILE_LIMIT
    yield from _file_pieces(package_path(rules), 4096)
    for name in names.split():
        path = "%s/%s.md" % (agent.workspace, name)
        if files.size(path) > 0:
            yield b"\n# %s.md\n" % name.encode()
            yield from _file_pieces(path, limit)
    if turn.kind == "person":
        from tenner.agent.skills import pieces

        yield from pieces(agent.workspace)


def records(turn):
    """Yield history and this turn's own lines as pieces of history lines (agent.history)."""
    if turn.span is not None:
        yield from span(turn.session, *turn.span)
    elif turn.session is not None:
        for piece in pieces(turn.session):
            turn.outside = turn.outside or _is_outside(piece)
            yield piece
    for line in turn.lines:
        for start in range(0, len(line), PIECE):
            yield line[start : start + PIECE]


def _is_outside(piece):
    """Is it the call of a tool whose results strangers write (OUTSIDE in its module)?"""
    if not piece.startswith(b'["c",'):
        return False
    # A piece of long arguments may begin so, too.
    for name in piece.split(b'"', 6)[5:6]:
        return name == b"exec" or name.startswith(b"web_") or b"_skill" in name or b"-" in name
    return False
