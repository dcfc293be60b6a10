# tenner agent.history: one chat's history on flash, read in pieces and never held.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A session (agent.Session) has a file of JSON lines with fixed shapes, so that a line is spliced into a request
without being parsed:

    ["s","summary"]   what was said before; the first line only
    ["u","text"]      a person (or the heartbeat) speaks; a turn starts here
    ["n","text"]      a note to the model inside a turn
    ["a","text"]      the model's text; the calls of the same reply follow
    ["c","id","tool",{arguments}]      ["t","id","result"]      exactly one result per call

`lines` writes them. A turn is appended whole, once. What a power cut or a stranger's hand left is found when the file
is checked (agent.repair), and only whole turns stay.
"""

import os

from tenner.agent import history_repair
from tenner.agent.history_lines import PIECE, line_blocks, line_pieces
from tenner.agent.history_records import record, shorten
from tenner.store import files


def check(session):
    """Check what is new in the file since the last turn, and choose what is sent. Call at a turn's start."""
    path = session.path
    size = max(files.size(path), 0)
    if not size and files.exists(path + ".new"):
        os.rename(path + ".new", path)  # a repair that lost its power half-way
        size = files.size(path)
    _choose(session, size)
    if size != session.size:
        if size and history_repair.repair(session.path, session.summary_end, session.start, size):
            session.repaired = True
            size = files.size(path)
            _choose(session, size)
        session.size = size


def span(session, start, end):
    """Yield the lines from `start` to `end`, the summary before them, as `pieces` does."""
    if end > 0:
        with open(session.path, "rb") as file:
            yield from line_pieces(file, session.summary_end)
            file.seek(start)
            yield from line_blocks(file, end)


def pieces(session):
    """Yield the history to send, summary first: several whole lines at once, or a long one in pieces."""
    return span(session, session.start, session.size)


def append(session, lines):
    """Add the lines of one turn in one write; the session was checked before."""
    files.make_dirs(session.path.rsplit("/", 1)[0])
    with open(session.path, "ab") as file:
        for line in lines:
            files.put(file, shorten(line))
        files.sync(file)
    session.size = files.size(session.path)


def clear(session):
    """Begin anew; the old file stays as `.old` until the next time."""
    if files.exists(session.path):
        files.remove(session.path + ".old")
        os.rename(session.path, session.path + ".old")
    session.size = -1


def compact(session, start, summary=None):
    """Put `summary` (None: the one there is) in the place of all before offset `start`, by rename."""
    files.write_atomic(session.path, _compacted(session, start, summary))
    session.size = files.size(session.path)
    _choose(session, session.size)


def cut_for(session, keep):
    """Return the offset of the first turn among the last `keep` bytes."""
    return turn_after(session.path, max(session.summary_end, session.size - keep))


def _compacted(session, start, summary):
    if summary is not None:
        yield record("s", summary)
        session.summary_end = 0
    yield from span(session, start, session.size)


def _choose(session, size):
    """Find where the summary ends, and the first turn that is sent."""
    session.start = session.summary_end = 0
    if size:
        with open(session.path, "rb") as file:
            piece = file.readline(PIECE)
            if piece.startswith(b'["s",'):
                while piece and not piece.endswith(b"\n"):
                    piece = file.readline(PIECE)
                session.start = session.summary_end = file.tell()
    if size - session.start > session.window:
        session.start = turn_after(session.path, size - session.window)


def turn_after(path, offset):
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
