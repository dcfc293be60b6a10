# tenner store.repairs: rare work on files: after something went wrong, or when a log is full.
# MIT license; Copyright (c) 2026 the tenner authors

import os

from tenner.log import log
from tenner.port.compat import const
from tenner.port.folders import entries
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LAST_BAD = const(9)
_BLOCK = const(256)


def clean_strays(top: str, ending: str = files.TEMP) -> int:
    """
    Delete the files with this ending that a power cut left in `top` and below; return how many. It
    follows no links, and skips folders that it cannot read or tidy: a start must not fail because
    of them.
    """
    count = 0
    left = [top]
    while left:
        folder = left.pop()
        try:
            for name, kind in list(entries(folder)):
                path = folder + "/" + name
                if kind == "d":
                    left.append(path)
                elif kind == "f" and name.endswith(ending):
                    os.remove(path)
                    count += 1
        except OSError as error:
            if folder != top or files.exists(top):
                log("store", "cannot clean up %s: %s" % (folder, error))
    return count


def quarantine(path: str) -> str:
    """Rename a corrupt file to `path.bad` (`.bad1` ... when taken) and return the new name."""
    bad = path + ".bad"
    number = 0
    while files.exists(bad) and number < _LAST_BAD:
        number += 1
        bad = "%s.bad%d" % (path, number)
    if files.exists(bad):
        log("store", "replacing %s: too many corrupt files" % bad)
        files.remove(bad)
    os.rename(path, bad)
    return bad


def rewrite_log(path: str, end: int, max_bytes: int, lines: "Sequence[bytes]", count: int) -> int:
    """
    Replace the log by its complete lines up to `end`, followed by `lines`, `count` bytes in all;
    return their offset. A log over `max_bytes` keeps only the lines of its newest half.
    """
    start = 0
    if end + count > max_bytes:
        start = _newest(path, end, min(max_bytes // 2, max_bytes - count))
    if end < files.size(path):
        log("store", "%s: cut off the unfinished last line" % path)
    files.write_atomic(path, _pieces(path, start, end, lines))
    return end - start


def _newest(path, end, keep):
    """Return the offset of the first line among the last `keep` bytes before `end`."""
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


def _pieces(path, start, end, lines):
    if start < end:
        yield from files.blocks(path, start, end)
    yield from lines
