# tenner agent.history_repair: removes damaged turns from a session's file.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner.agent.history_lines import line_blocks, line_pieces
from tenner.llm.records import is_dialog
from tenner.net.json.scanner import Scanner
from tenner.net.json.writer import cut, valid
from tenner.store import files, quarantine


def repair(path: str, summary_end: int, start: int, size: int) -> bool:
    """
    If the file is damaged, rewrite it with the summary and the undamaged turns from `start` on.
    Return whether that was necessary. The damaged file stays beside it as `.bad`.
    """
    with open(path, "rb") as file:
        summary_good = not summary_end or _good_line(file, summary_end)
        file.seek(start)
        if summary_good and _is_whole(file, size):
            return False
    kept = _kept(path, summary_end if summary_good else 0, start, size)
    files.write_atomic(path + ".new", kept)
    quarantine.quarantine(path)
    os.rename(path + ".new", path)
    return True


def _kept(path, summary_end, start, size):
    with open(path, "rb") as scan, open(path, "rb") as file:
        yield from line_pieces(file, summary_end)
        scan.seek(start)
        for start, end, good in _turns(scan, size):
            if good:
                file.seek(start)
                yield from line_pieces(file, end)


class _Line(Scanner):
    """Checks the pieces of a line; raises ValueError when an API would not accept the line
    unchanged."""

    _tail: bytes

    def __init__(self):
        super().__init__(lambda path, value, more: None)

    def take(self, piece):
        """Check the next piece; the last one ends in a newline."""
        data = self._tail + piece
        size = len(data) - cut(data, len(data))
        self._tail = data[size:]
        data = data[:size]
        self.feed(piece)
        if min(piece.rstrip(b"\n") or b" ") < 0x20 or valid(data) != data:
            raise ValueError("no clean UTF-8")
        if piece[-1:] == b"\n":
            self.end()

    def begin(self):
        self.reset()
        self._tail = b""


def _is_whole(file, end):
    """Return whether the file is undamaged from its position to `end`; a long dialog costs
    little."""
    line = _Line()
    calls = []
    fresh = first = True
    for block in line_blocks(file, end):
        if fresh and not calls and (not first or block[2:3] == b"u") and is_dialog(block):
            first = False
            continue
        start = 0
        while start < len(block):
            stop = block.find(b"\n", start) + 1 or len(block)
            piece = block[start:stop]
            start = stop
            if fresh:
                if not _follows(piece, piece[2:3], calls) or first and piece[2:3] != b"u":
                    return False
                line.begin()
            first = False
            fresh = piece.endswith(b"\n")
            try:
                line.take(piece)
            except ValueError:
                return False
    return fresh and not calls


def _good_line(file, end):
    line = _Line()
    line.begin()
    try:
        for piece in line_pieces(file, end):
            line.take(piece)
    except ValueError:
        return False
    return True


def _turns(file, end):
    """
    Yield (start, end, undamaged) of every turn from the file's position to `end`. Garbage after a
    finished turn is a separate stretch, so that the turn before it stays.
    """
    line = _Line()
    start = here = file.tell()
    good = fresh = True
    calls = []
    for piece in line_pieces(file, end):
        if fresh:
            here = file.tell() - len(piece)
            kind = piece[2:3]
            if kind == b"u" and here > start:
                yield start, here, good and not calls
                start = here
                good = True
                calls = []
            open_calls = len(calls)
            line_good = _follows(piece, kind, calls) and (kind == b"u" or here > start)
            line.begin()
        fresh = piece.endswith(b"\n")
        try:
            line.take(piece)
        except ValueError:
            line_good = False
        if good and not line_good or not fresh and file.tell() >= end:
            if good and not open_calls and here > start:
                yield start, here, True
                start = here
            good = False
    if end > start:
        yield start, end, good and not calls


def _follows(piece, kind, calls):
    """Return whether a line may stand here; `calls` holds the ids of calls without a result."""
    if (
        piece[:2] != b'["'
        or piece[3:5] != b'",'
        or kind not in (b"u", b"n", b"a", b"c", b"t", b"o", b"x")
    ):
        return False
    if kind == b"c":
        calls.append(piece[5 : piece.find(b'"', 6)])
    elif kind == b"t":
        call_id = piece[5 : piece.find(b'"', 6)]
        if call_id not in calls:
            return False
        calls.remove(call_id)
    elif kind == b"x":
        return bool(calls)
    elif calls:
        return False
    return True
