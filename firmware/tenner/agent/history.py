# tenner agent.history: one chat's history on flash, read in pieces and never loaded at once.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A session (agent.Session) has a file of JSON lines with fixed shapes, so that a request takes a
line without parsing it:

    ["s","summary"]   the summary of older turns; the first line only
    ["u","text"]      a message of a person (or the heartbeat); a turn starts here
    ["n","text"]      a note to the model inside a turn
    ["a","text"]      the model's text; the calls of the same reply follow
    ["c","id","tool",{arguments}]      ["t","id","result"]      exactly one result per call
    ["o","tag",{fields}]  ["x","tag",{fields}]  fields that the model of this tag wants back: of
                      the reply, before its ["a"] (a list of blocks in Anthropic's format); of a
                      call, behind its ["c"]

A request may also have ["i","type","path"], a picture, before its last ["u"].

`history_lines` writes them. One write appends a complete turn. `check` finds damage of a power
cut or an edit (agent.history_repair) and keeps the complete turns.
"""

import os

from tenner.agent import history_repair
from tenner.agent.history_lines import PIECE, line_blocks, line_pieces, record, shorten
from tenner.port.compat import const
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tenner.agent.agent import Session

_SHORT = const(200)  # bytes of a line that stays as it is


def check(session: "Session") -> None:
    """Check the file if it changed since the last turn, and choose the turns to send. Call at a
    turn's start."""
    path = session.path
    size = max(files.size(path), 0)
    if not size and files.exists(path + ".new"):
        os.rename(path + ".new", path)  # power was lost during a repair
        size = files.size(path)
    _choose(session, size)
    if size != session.size:
        if size and history_repair.repair(session.path, session.summary_end, session.start, size):
            session.repaired = True
            size = files.size(path)
            _choose(session, size)
        session.size = size


def span(session: "Session", start: int, end: int) -> "Iterator[bytes]":
    """Yield the summary and the lines from `start` to `end`, as `pieces` does."""
    if end > 0:
        with open(session.path, "rb") as file:
            yield from line_pieces(file, session.summary_end)
            file.seek(start)
            yield from line_blocks(file, end)


def pieces(session: "Session") -> "Iterator[bytes]":
    """Yield the history to send, summary first: blocks of complete lines, or a long line in
    pieces."""
    return span(session, session.start, session.size)


def append(session: "Session", lines: "Sequence[bytes]") -> None:
    """Add the lines of one turn in one write; call `check` before."""
    files.make_dirs(session.path.rsplit("/", 1)[0])
    with files.open_own(session.path, "ab") as file:
        for line in lines:
            files.put(file, shorten(line) if len(line) > _SHORT else line)
        files.sync(file)
    session.size = files.size(session.path)


def clear(session: "Session") -> None:
    """Start a new history; the old file stays as `.old` until the next call."""
    if files.exists(session.path):
        files.remove(session.path + ".old")
        os.rename(session.path, session.path + ".old")
    session.size = -1


def compact(session: "Session", start: int, summary: str | None = None) -> None:
    """Replace all before offset `start` by `summary` (None: the present one), by rename."""
    files.write_atomic(session.path, _compacted(session, start, summary))
    session.size = files.size(session.path)
    _choose(session, session.size)


def cut_for(session: "Session", keep: int) -> int:
    """Return the offset of the first turn among the last `keep` bytes, or of the last turn if it
    alone is longer."""
    return _cut(session, session.size, keep)


def _cut(session, size, keep):
    while True:
        start = turn_after(session.path, max(session.summary_end, size - keep))
        if start < size or keep >= session.most:
            return start
        keep = min(2 * keep, session.most)


def _compacted(session, start, summary):
    if summary is not None:
        yield record("s", summary)
        session.summary_end = 0
    yield from span(session, start, session.size)


def _choose(session, size):
    """Find the end of the summary and the first turn to send."""
    session.start = session.summary_end = 0
    if size:
        with open(session.path, "rb") as file:
            piece = file.readline(PIECE)
            if piece.startswith(b'["s",'):
                while piece and not piece.endswith(b"\n"):
                    piece = file.readline(PIECE)
                session.start = session.summary_end = file.tell()
    if size - session.start > session.window:
        session.start = _cut(session, size, session.window)


def turn_after(path: str, offset: int) -> int:
    """Return the offset of the first line at or after `offset` that starts a turn."""
    with open(path, "rb") as file:
        fresh = True
        if offset > 0:
            file.seek(offset - 1)
            fresh = file.read(1) == b"\n"
        while True:
            here = file.tell()
            piece = file.readline(PIECE)
            if not piece or fresh and piece.startswith(b'["u",'):
                return here
            fresh = piece.endswith(b"\n")
