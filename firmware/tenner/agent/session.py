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

A turn is appended whole, once. What a power cut or a stranger's hand left is found when the file
is opened, and only whole turns stay.
"""

import os

from tenner.net.jsonin import Scanner
from tenner.net.jsonout import quote
from tenner.port.compat import const
from tenner.store import files

_PIECE = const(512)
_OLD_RESULT = const(200)  # characters a tool result keeps once its turn is over


def _ignore(path, value, more):
    return None


def line_pieces(file, end):
    """Yield the lines of `file` up to offset `end` in pieces; the last of a line ends in a newline."""
    left = end - file.tell()
    while left > 0:
        piece = file.readline(min(_PIECE, left))
        if not piece:
            return
        left -= len(piece)
        yield piece


def record(kind, text, call_id=None):
    """Return one history line of `kind` u, n, a, s (text) or t (call_id and result)."""
    middle = quote(call_id) + b"," if call_id is not None else b""
    return b'["' + kind.encode() + b'",' + middle + quote(text) + b"]\n"


def call_record(call_id, name, arguments):
    """Return the line of a tool call; `arguments` is the JSON text of an object, kept verbatim."""
    # A raw line end inside valid JSON is white space between tokens: it must not end the line.
    arguments = arguments.replace("\n", " ").replace("\r", " ")
    return b'["c",' + quote(call_id) + b"," + quote(name) + b"," + arguments.encode() + b"]\n"


def shorten(line):
    """Return a history line as later turns see it: a tool's result is cut to 200 characters."""
    if not line.startswith(b'["t",') or len(line) < _OLD_RESULT + 40:
        return line
    import json

    _, call_id, text = json.loads(line)
    if len(text) <= _OLD_RESULT:
        return line
    return record("t", text[:_OLD_RESULT] + " [cut]", call_id)


class Session:
    """`window` is the number of bytes of history that is sent at most, cut at a whole turn."""

    def __init__(self, path, window):
        self.path = path
        self.window = window
        self.repaired = False  # set when open() had to drop something; the caller tells
        self._size = -1  # size of the file as last checked
        self._start = 0
        self._summary_end = 0

    def open(self):
        """Check what is new since the last turn and choose what is sent. Call at a turn's start."""
        size = max(files.size(self.path), 0)
        if size == 0 and files.exists(self.path + ".new"):
            os.rename(self.path + ".new", self.path)  # a repair that lost its power half-way
            size = files.size(self.path)
        if size != self._size:
            self._choose(size)
            if not self._all_good(size):
                self._repair(size)
                size = max(files.size(self.path), 0)
            self._size = size
        self._choose(size)

    def size(self):
        return self._size

    def pieces(self):
        """Yield the history to send, summary first, in pieces that never span two lines."""
        if self._size <= 0:
            return
        with open(self.path, "rb") as file:
            yield from line_pieces(file, self._summary_end)
            file.seek(self._start)
            yield from line_pieces(file, self._size)

    def append(self, lines):
        """Add the lines of one turn in one write; open() was called before."""
        folder = self.path.rsplit("/", 1)[0]
        files.make_dirs(folder)
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

    def replace(self, summary, start):
        """Put `summary` in the place of everything before offset `start`, by rename."""
        files.write_atomic(self.path, self._compacted(summary, start, self._size))
        self._size = -1
        self.open()

    def drop(self, start):
        """Forget everything before offset `start` except the summary, by rename."""
        files.write_atomic(self.path, self.span(start, self._size))
        self._size = -1
        self.open()

    def cut_for(self, keep):
        """Return the offset of the first turn among the last `keep` bytes."""
        return self._turn_after(max(self._summary_end, self._size - keep))

    def span(self, start, end):
        """Yield the lines from `start` to `end` in pieces, the summary before them."""
        with open(self.path, "rb") as file:
            yield from line_pieces(file, self._summary_end)
            file.seek(start)
            yield from line_pieces(file, end)

    # --- where to begin

    def _choose(self, size):
        self._summary_end = self._find_summary(size)
        self._start = self._summary_end
        if size - self._start > self.window:
            self._start = self._turn_after(size - self.window)

    def _find_summary(self, size):
        if size <= 0:
            return 0
        with open(self.path, "rb") as file:
            if file.read(5) != b'["s",':
                return 0
            while True:
                piece = file.readline(_PIECE)
                if not piece or piece.endswith(b"\n"):
                    return file.tell()

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
                if not piece:
                    return here
                if fresh and piece.startswith(b'["u",'):
                    return here
                fresh = piece.endswith(b"\n")

    # --- what is whole

    def _turns(self, file, end):
        """
        Yield (start, end, whole) of every turn from the file's position to `end`. What follows a
        finished turn and is no history line is a stretch of its own, so that it costs only itself.
        """
        scanner = Scanner(_ignore)
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
                line_good = self._follows(piece, kind, calls) and (kind == b"u" or here > start)
                scanner.reset()
            fresh = piece.endswith(b"\n")
            try:
                scanner.feed(piece)
                if fresh:
                    scanner.end()
            except ValueError:
                line_good = False
            if good and not line_good or not fresh and file.tell() >= end:
                if good and not open_calls and here > start:
                    yield start, here, True
                    start = here
                good = False
        if end > start:
            yield start, end, good and not calls

    def _follows(self, piece, kind, calls):
        """Tell whether a line may stand here; `calls` holds the ids still without a result."""
        if piece[:2] != b'["' or piece[3:5] != b'",' or kind not in (b"u", b"n", b"a", b"c", b"t"):
            return False
        if kind == b"c":
            calls.append(piece[5 : piece.find(b'"', 6)])
        elif kind == b"t":
            call_id = piece[5 : piece.find(b'"', 6)]
            if call_id not in calls:
                return False
            calls.remove(call_id)
        elif calls:
            return False
        return True

    def _all_good(self, size):
        if size <= 0:
            return True
        with open(self.path, "rb") as file:
            if self._summary_end and not self._good_line(file):
                return False
            file.seek(self._start)
            for _, _, good in self._turns(file, size):
                if not good:
                    return False
        return True

    def _good_line(self, file):
        scanner = Scanner(_ignore)
        try:
            for piece in line_pieces(file, self._summary_end):
                scanner.feed(piece)
            scanner.end()
        except ValueError:
            return False
        return True

    def _repair(self, size):
        """Keep the whole turns of the window; the file as it was stays beside it as `.bad`."""
        files.write_atomic(self.path + ".new", self._whole_turns(size))
        files.set_aside(self.path)
        os.rename(self.path + ".new", self.path)
        self.repaired = True
        self._choose(max(files.size(self.path), 0))

    def _whole_turns(self, size):
        with open(self.path, "rb") as file:
            if self._summary_end and self._good_line(file):
                file.seek(0)
                yield from line_pieces(file, self._summary_end)
        with open(self.path, "rb") as scan, open(self.path, "rb") as file:
            scan.seek(self._start)
            for start, end, good in self._turns(scan, size):
                if good:
                    file.seek(start)
                    yield from line_pieces(file, end)

    def _compacted(self, summary, start, end):
        yield record("s", summary)
        with open(self.path, "rb") as file:
            file.seek(start)
            yield from line_pieces(file, end)
