# tenner store.compaction: rewrite an append log without its torn tail or its oldest half.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files

_BLOCK = const(256)


def rewrite(path, end, max_bytes, data):
    """
    Replace the log by its whole lines up to `end`, followed by `data`. If that is more than `max_bytes`,
    only the lines of the newest half are kept.
    """
    start = 0
    if end + len(data) > max_bytes:
        start = _newest(path, end, min(max_bytes // 2, max_bytes - len(data)))
    if end < files.size(path):
        log("store", "%s: cut off the unfinished last line" % path)
    files.write_atomic(path, _pieces(path, start, end, data))


def _newest(path, end, keep):
    """Offset of the first line among the last `keep` bytes before `end`."""
    start = end - keep
    if start <= 0:
        return 0
    with open(path, "rb") as file:
        # One byte back: a line that starts exactly there is kept.
        file.seek(start - 1)
        while start < end:
            block = file.read(_BLOCK)
            newline = block.find(b"\n")
            if newline >= 0:
                return min(start + newline, end)
            start += len(block)
    return end


def _pieces(path, start, end, data):
    if start < end:
        yield from files.blocks(path, start, end)
    yield data
