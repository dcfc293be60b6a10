# tenner agent.session: one chat's history on flash, read in pieces and never held.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A session is a file of JSON lines with fixed shapes, so that a line is spliced into a request
without being parsed:

    ["s","summary"]   what was said before; the first line only
    ["u","text"]      a person (or the heartbeat) speaks; a turn starts here
    ["n","text"]      a note to the model inside a turn
    ["a","text"]      the model's text; the calls of the same reply follow
    ["c","id","tool",{arguments}]      ["t","id","result"]      exactly one result per call

`lines` writes them. A turn is appended whole, once. What a power cut or a stranger's hand left is found when the file
is opened (agent.repair), and only whole turns stay.
"""

import os

from tenner.port.compat import const
from tenner.store import files

_PIECE = const(512)


def line_pieces(file, end):
    """Yield the lines of `file` up to offset `end` in pieces; the last of a line ends in a newline."""
    left = end - file.tell()
    while left > 0:
        piece = file.readline(min(_PIECE, left))
        if not piece:
            return
        left -= len(piece)
        yield piece


class Session:
    """
    `window` is the number of bytes of history that is sent at most, cut at a whole turn. `checked` is the
    size the file had when it was last known to be whole.
    """

    def __init__(self, path, window, checked=-1):
        self.path = path
        self.window = window
        self.repaired = False  # set when open() had to drop something; the caller tells
        self._size = checked
        self._start = 0
        self._summary_end = 0

    def open(self):
        """Check what is new since the last turn and choose what is sent. Call at a turn's start."""
        size = max(files.size(self.path), 0)
        if not size and files.exists(self.path + ".new"):
            os.rename(self.path + ".new", self.path)  # a repair that lost its power half-way
            size = files.size(self.path)
        self._choose(size)
        if size != self._size:
            if size and self._repair(size):
                self.repaired = True
                size = files.size(self.path)
                self._choose(size)
            self._size = size

    def size(self):
        return self._size

    def span(self, start, end):
        """Yield the lines from `start` to `end` in pieces, the summary before them."""
        if end > 0:
            with open(self.path, "rb") as file:
                yield from line_pieces(file, self._summary_end)
                file.seek(start)
                yield from line_pieces(file, end)

    def pieces(self):
        """Yield the history to send, summary first, in pieces that never span two lines."""
        return self.span(self._start, self._size)

    def append(self, lines):
        """Add the lines of one turn in one write; open() was called before."""
        from tenner.agent.lines import shorten

        files.make_dirs(self.path.rsplit("/", 1)[0])
        with open(self.path, "ab") as file:
            for line in lines:
                files.put(file, shorten(line))
            files.sync(file)
        self._size = files.size(self.path)

    def clear(self):
        """Begin anew; the old file stays as `.old` until the next time."""
        if files.exists(self.path):
            files.remove(self.path + ".old")
            os.rename(self.path, self.path + ".old")
        self._size = -1

    def compact(self, start, summary=None):
        """Put `summary` (None: the one there is) in the place of all before offset `start`, by rename."""
        files.write_atomic(self.path, self._compacted(start, summary))
        self._size = files.size(self.path)
        self._choose(self._size)

    def cut_for(self, keep):
        """Return the offset of the first turn among the last `keep` bytes."""
        return self._turn_after(max(self._summary_end, self._size - keep))

    def _compacted(self, start, summary):
        if summary is not None:
            from tenner.agent.lines import record

            yield record("s", summary)
            self._summary_end = 0
        yield from self.span(start, self._size)

    def _choose(self, size):
        """Find where the summary ends, and the first turn that is sent."""
        self._start = self._summary_end = 0
        if size:
            with open(self.path, "rb") as file:
                piece = file.readline(_PIECE)
                if piece.startswith(b'["s",'):
                    while piece and not piece.endswith(b"\n"):
                        piece = file.readline(_PIECE)
                    self._start = self._summary_end = file.tell()
        if size - self._start > self.window:
            self._start = self._turn_after(size - self.window)

    def _turn_after(self, offset):
        """Return the offset of the first line at or after `offset` that starts a turn."""
        with open(self.path, "rb") as file:
            fresh = True
            if offset > 0:
                file.seek(offset - 1)
                fresh = file.read(1) == b"\n"
            while True:
                here = file.tell()
                piece = file.readline(_PIECE)
                if not piece or fresh and piece.startswith(b'["u",'):
                    return here
                fresh = piece.endswith(b"\n")

    def _repair(self, size):
        """Check the window, and put right what is wrong; return whether something was."""
        from tenner.agent import repair
        from tenner.store.modules import forget

        # Its code makes room for the turn's again.
        forget("tenner.agent.repair")
        return repair.mend(self.path, self._summary_end, self._start, size)
