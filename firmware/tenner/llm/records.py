# tenner llm.records: cut neutral history lines into the parts the wire formats are made of.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The records stay JSON text all the way: strings and argument objects are copied as they are, so nothing
is parsed, and no line is ever whole in memory.
"""


def parts(pieces):
    """
    Yield (line, part, last) for each piece of the records: `part` is from the line's content, the inside of a
    JSON string or a call's whole arguments object, and may be empty. `line` is [kind, id, name], and None
    unless a line begins; id and name are JSON strings with their quotes.
    """
    held = b""
    line = kind = None
    for piece in pieces:
        # The line's end, `"]` and a newline, may be cut: keep two bytes back until it is known.
        piece = held + piece
        start = 0
        if kind is None:
            kind = piece[2:3].decode()
            line = [kind, b"", b""]
            start = 5
            for place in (1, 2) if kind == "c" else (1,) if kind == "t" else ():
                end = _string_end(piece, start)
                line[place] = piece[start:end]
                start = end + 1
            if kind != "c":
                start += 1
        last = piece[-1:] == b"\n"
        if last:
            end = len(piece) - (2 if kind == "c" else 3)
            kind = None
        else:
            end = max(start, len(piece) - 2)
        held = b"" if last else piece[end:]
        yield line, piece[start:end], last
        line = None


def _string_end(data, start):
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
        piece = file.read(256)
        while piece:
            yield piece
            piece = file.read(256)


def max_tokens(candidate, request):
    """Return the smaller of what the request and the candidate allow; 0 is no limit."""
    limits = [limit for limit in (candidate.max_tokens, request.max_tokens) if limit]
    return min(limits) if limits else 0
