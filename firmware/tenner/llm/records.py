# tenner llm.records: cut neutral history lines into the parts the wire formats are made of.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The records stay JSON text all the way: strings and argument objects are copied as they are, so nothing
is parsed, and no line is ever whole in memory.
"""


class Lines:
    """
    Walks over the pieces of a request's records. For each part of a line's content, the inside of a
    JSON string, or the whole arguments object of a call, `for part in lines.parts():` gives the bytes,
    maybe empty; `first` and `last` say where in the line it is, `kind` is its letter, and `id` and `name`
    are JSON strings with their quotes.
    """

    def __init__(self, pieces):
        self._pieces = pieces
        self.kind = ""
        self.first = self.last = False
        self.id = self.name = b""

    def parts(self):
        held = b""
        fresh = True
        for piece in self._pieces:
            # The line's end, `"]` and a newline, may be cut: keep two bytes back until it is known.
            if held:
                piece = held + piece
            self.last = piece[-1:] == b"\n"
            self.first = fresh
            start = self._begin(piece) if fresh else 0
            if self.last:
                end = len(piece) - (2 if self.kind == "c" else 3)
                held = b""
            else:
                end = max(start, len(piece) - 2)
                held = piece[end:]
            fresh = self.last
            yield piece[start:end]

    def _begin(self, piece):
        """Read kind, id and name at a line's beginning; return where the content begins."""
        self.kind = chr(piece[2])
        start = 5
        if self.kind == "c" or self.kind == "t":
            end = string_end(piece, start)
            self.id = piece[start:end]
            start = end + 1
            if self.kind == "c":
                end = string_end(piece, start)
                self.name = piece[start:end]
                return end + 1
        return start + 1


def string_end(data, start):
    """Return the place after the closing quote of the JSON string that opens at `data[start]`."""
    end = start
    while True:
        end = data.find(b'"', end + 1)
        if end < 0:
            raise ValueError("a history line is torn")
        back = end - 1
        while data[back] == 0x5C:
            back -= 1
        if (end - back) & 1:
            return end + 1


def file_pieces(path):
    """Yield a file in small pieces."""
    with open(path, "rb") as file:
        while True:
            piece = file.read(256)
            if not piece:
                return
            yield piece


def max_tokens(candidate, request):
    """Return the smaller of what the request and the candidate allow; 0 is no limit."""
    limits = [limit for limit in (candidate.max_tokens, request.max_tokens) if limit]
    return min(limits) if limits else 0
