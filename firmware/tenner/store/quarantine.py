# tenner store.quarantine: sets aside entries that are no file of the agent, and repairs its files.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A folder, a link or megabytes in the place of a file would end the service that opens it, at every
start. Such a thing is renamed at the start, before each turn and after a service has failed; the
service begins without it. Content that is wrong is found by the code that reads it.
"""

import os

from tenner.log import log
from tenner.port.compat import const
from tenner.port.package import entries
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAMES = const(
    "AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md memory/MEMORY.md HEARTBEAT.md CRON.json "
    "SENSORS.json"
)
_FOLDERS = const("memory skills tools drivers")
#: The folders in /state; all else there are files.
_STATE = const("sessions mcp outgoing")
_CLOSED = const("could not be opened")
#: The most KB of a file in /state by its ending. Logs are cut at far less; readings and histories
#: have settings of their own, at most 4 MB.
_MOST_KB = (
    (".a", 4), (".b", 4), (".json", 128), (".jsonl", 1024), ("/readings", 4224), ("/tls", 4),
    ("/starts", 4), ("/restart", 4), ("/again", 64), ("/bluetooth", 4), ("/config.wrong", 64),
    ("/config.good", 16),
)  # fmt: skip

_LAST_BAD = const(9)
_BLOCK = const(256)


def folder(path: str) -> "list[str]":
    """Quarantine a thing in the place of one of the two folders. Return sentences for the
    owner."""
    told: list[str] = []
    if not files.is_folder(path):
        _rename(told, path.rpartition("/")[2], path, "was not a folder")
    return told


def in_workspace(workspace: str) -> "list[str]":
    """Quarantine an entry of the wrong type, such as a folder MEMORY.md or a file `skills`, or one
    that cannot be opened. Return sentences for the owner."""
    told: list[str] = []
    # The folders first: nothing is in one that cannot be opened.
    for name in (_FOLDERS + " " + _NAMES).split():
        path = workspace + "/" + name
        why = _misfit(path, name in _FOLDERS.split())
        if why:
            _rename(told, name, path, why)
    return told


def _misfit(path, is_folder):
    try:
        if not files.exists(path):
            return ""
        if not (files.is_folder if is_folder else files.is_file)(path):
            return "was not a folder" if is_folder else "was not a file"
    except OSError:
        return _CLOSED
    return "" if _opens(path, is_folder) else _CLOSED


def in_state(state: str) -> "list[str]":
    """Quarantine the files of the agent that it cannot use. Return sentences for the owner."""
    told: list[str] = []
    for path, kind, wanted in list(_entries(state)):
        why = _fault(path, kind, wanted)
        if why:
            _rename(told, "state" + path[len(state) :], path, why)
    return told


def _fault(path, kind, wanted):
    """Return a clause about an entry that the agent cannot use, "" for any other."""
    if kind != wanted:
        return "was not a %s" % ("folder" if wanted == "d" else "file")
    if kind == "d":
        return "" if _opens(path, True) else _CLOSED
    for ending, most_kb in _MOST_KB:
        is_limited = path.endswith(ending) and "/sessions/" not in path
        if is_limited and files.size(path) > most_kb * 1024:
            return "had over %d KB" % most_kb
    return "" if _opens(path, False) else _CLOSED


def _entries(state) -> "Iterator[tuple[str, str, str]]":
    """Yield (path, kind, the right kind) of the entries of /state and its folders."""
    for name, kind in list(entries(state)):
        wanted = "d" if name in _STATE.split() else "f"
        if ".bad" not in name and not name.endswith(files.TEMP):
            yield state + "/" + name, kind, wanted
            if kind == wanted == "d" and _opens(state + "/" + name, True):
                for inner, its in list(entries(state + "/" + name)):
                    if ".bad" not in inner:
                        yield state + "/" + name + "/" + inner, its, "f"


def _opens(path, is_folder):
    try:
        if is_folder:
            for _ in entries(path):
                break
        else:
            open(path, "rb").close()
    except OSError:
        return False
    return True


def _rename(told, name, path, why):
    try:
        new = quarantine(path).rpartition("/")[2]
        told.append("%s %s: I saved it as %s." % (name, why, new))
    except OSError as error:
        told.append("%s is in the way and cannot be renamed: %s" % (name, error))
    log("files", told[-1])


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
