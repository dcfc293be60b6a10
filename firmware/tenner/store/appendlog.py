# tenner store.appendlog: JSON lines that are only ever appended, with a cap on their size.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A line counts once its newline is there. Bytes after the last newline are left from a power cut:
readers skip them, and the next append cuts them off first, so that nothing is glued to them. Every
rewrite goes through a temporary file and a rename, in blocks, for a log of any size.
"""

import json

from tenner.log import log
from tenner.port.compat import const
from tenner.store import files, quarantine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCK = const(256)
_MOST_LATE = const(64)


class AppendLog:
    """A file of JSON lines of at most `max_bytes`; the oldest half goes when it is full."""

    #: A longer line is no record of ours: skipped and counted, so that a stray file cannot fill
    #: the heap.
    max_line = 16384

    def __init__(self, path: str, max_bytes: int) -> None:
        self.path = path
        self.max_bytes = max_bytes
        #: Lines that the last `tail` skipped because they are no JSON array or object.
        self.skipped = 0
        # Only a restart or a failed append can leave a torn tail, so only then `append` looks for
        # it.
        self._whole = False
        #: Records that flash did not take, for the next `note`; a list that another log may share.
        self.late: list[list] = []

    def append(self, lines: "Sequence", cut: bool = False) -> int:
        """
        Add lines at once and return the offset of the first: bytes and str are JSON lines already,
        other values are encoded. `cut`: they are pieces of complete lines, as bytes. Lines beyond
        the size of the log are a ValueError; a full disk is an OSError, and nothing is lost.
        """
        # Not joined: a used heap has many short stretches, and no long one. All are encoded before
        # the file is open, for a failure here must leave none of them in it.
        if not cut:
            lines = [_encode(line) for line in lines]
        count = sum([len(line) for line in lines])
        if count > self.max_bytes:
            raise ValueError("%d bytes do not fit %s (%d)" % (count, self.path, self.max_bytes))
        size = max(files.size(self.path), 0)
        if not count:
            return size
        end = size if self._whole else self.end()
        if end < size or size + count > self.max_bytes:
            end = quarantine.rewrite_log(self.path, end, self.max_bytes, lines, count)
        else:
            self._whole = False
            with files.open_own(self.path, "ab") as file:
                for line in lines:
                    files.put(file, line)
                files.sync(file)
        self._whole = True
        return end

    def note(self, record: list | None = None) -> None:
        """Append the records that are late, and `record`. While flash takes none, the last 64 wait
        in memory, which is logged."""
        records = self.late if record is None else self.late + [record]
        try:
            self.append(records)
            self.late[:] = []
        except OSError as error:
            self.late[:] = records[-_MOST_LATE:]
            log("storage", "cannot write to %s: %s" % (self.path, error))

    def end(self) -> int:
        """Return the offset after the last complete line, 0 when the log is absent."""
        size = files.size(self.path)
        if size <= 0:
            return 0
        with open(self.path, "rb") as file:
            return _line_start(file, size)

    def tail(self, count: int) -> list:
        """Return the last `count` records, oldest first, reading backwards from the end."""
        self.skipped = 0
        found = []
        end = self.end()
        if end:
            with open(self.path, "rb") as file:
                while end > 0 and len(found) < count:
                    start = _line_start(file, end - 1)
                    record = self._parse(file, start, end)
                    if record is None:
                        self.skipped += 1
                    else:
                        found.append(record)
                    end = start
        found.reverse()
        return found

    def _parse(self, file, start, end):
        """Return the record between two offsets, or None when it is no record."""
        if end - start > self.max_line:
            return None
        file.seek(start)
        line = file.read(end - start).strip()
        # MicroPython's reader accepts some cut-off texts, hence the look at both ends.
        if line[:1] + line[-1:] not in (b"[]", b"{}"):
            return None
        try:
            return json.loads(line.decode())
        except ValueError:
            return None


try:
    json.dumps("", ensure_ascii=False)
    _PLAIN = {"ensure_ascii": False}
except TypeError:
    # MicroPython escapes no character of UTF-8, and lacks the argument.
    _PLAIN = {}


def dumps(value: dict | list | tuple | str) -> str:
    """Return the compact JSON text of `value`: one line of a log."""
    return json.dumps(value, separators=(",", ":"), **_PLAIN)


def _encode(line):
    if not isinstance(line, (bytes, bytearray, str)):
        line = dumps(line)
    if isinstance(line, str):
        line = line.encode()
    line = line.rstrip(b"\n")
    if b"\n" in line:
        raise ValueError("a log line has a line break inside")
    return line + b"\n"


def _line_start(file, end):
    """Return the offset after the last newline before `end`; it reads blocks from the back."""
    while end > 0:
        start = max(end - _BLOCK, 0)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
