# tenner schedule.schedule_files: a service's files: the watched one, its state, the run log.
# MIT license; Copyright (c) 2026 the tenner authors

import os
from binascii import crc32

from tenner.port.compat import const
from tenner.schedule import heartbeat_parser
from tenner.store import files, json_strict, quarantine
from tenner.store.appendlog import AppendLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Protocol

    from tenner.agent.parts import Base

    class Watched(Protocol):
        """A file of the owner, and the files about it; `files` replaces these in tests."""

        file: str
        files: "ScheduleFiles | None"

        @property
        def app(self) -> Base: ...


# A file this small is read through at every look: an edit within a second of the last one
# changes neither size nor time stamp.
_SMALL = const(4096)
_MAX_LOG = const(32768)
# Half of it is kept at least: 60 alerts.
_MAX_MARKS = const(4096)
_MAX_HELD = const(16384)


def of(service: "Watched") -> "ScheduleFiles":
    """Return `service.files`, or the ScheduleFiles of its folder and file."""
    return service.files or ScheduleFiles(service.app.state, service.file)


class ScheduleFiles:
    """
    `file` is watched and never written here; `folder` has runs.jsonl, said.jsonl, and a JSON file
    for each name.
    """

    def __init__(self, folder: str, file: str) -> None:
        self._folder = folder + "/"
        self._file = file

    def signature(self) -> tuple[int, int, int] | None:
        """Return a value that changes with the file; None without the file."""
        if not files.is_file(self._file):
            return None
        stat = os.stat(self._file)
        check = 0
        if stat[6] <= _SMALL:
            with open(self._file, "rb") as f:
                block = f.read(256)
                while block:
                    check = crc32(block, check)
                    block = f.read(256)
        try:
            # Names in the lines are those of its sensors.
            other = os.stat(self._file.rpartition("/")[0] + "/SENSORS.json")
            check = crc32(b"%d %d" % (other[6], other[8]), check)
        except OSError:
            pass
        return (stat[6], stat[8], check)

    def lines(self) -> "Iterator[tuple[int, str]]":
        """Yield the numbered lines of the file."""
        return heartbeat_parser.file_lines(self._file)

    def load(self, name: str) -> tuple[dict | None, str | None]:
        """Return (value, None), or (None, name of the quarantined file) when corrupt, (None, None)
        when absent."""
        path = self._folder + name + ".json"
        if not files.exists(path):
            return None, None
        try:
            return json_strict.loads(files.read_text(path)), None
        except ValueError:
            return None, self.quarantine(name)

    def quarantine(self, name: str) -> str:
        """Quarantine the JSON file of a name; return its new name."""
        return quarantine.quarantine(self._folder + name + ".json")

    def save(self, name: str, pieces: "Iterable[str]") -> None:
        """Replace the file by the text of the pieces, entirely or not at all."""
        files.write_atomic(self._folder + name + ".json", pieces)

    def _log(self, name="runs", max_bytes=_MAX_LOG):
        return AppendLog(self._folder + name + ".jsonl", max_bytes)

    def append(self, lines: list[str]) -> None:
        """Add lines to the run log, all or none."""
        self._log().append(lines)

    def tail(self, count: int) -> list[dict]:
        """Return the last `count` entries of the run log, oldest first."""
        found = self._log().tail(count)
        return [one for one in found if isinstance(one, dict) and "t" in one and "due" in one]

    def runs(self) -> "Iterator[bytes]":
        """Yield the lines of the run log, oldest first, as bytes."""
        return self._lines("runs")

    def keep_mark(self, line: str) -> None:
        """Add a line to the marks of sent texts (said.jsonl)."""
        self._log("said", _MAX_MARKS).append([line])

    def marks(self) -> "Iterator[bytes]":
        """Yield the lines of said.jsonl, oldest first, as bytes. Memory may not suffice for more
        than one at a time."""
        return self._lines("said")

    def numbers(self) -> "Iterator[int]":
        """Yield the numbers of the alarms in the marks of texts that were sent or wait."""
        for name in ("said", "outbox"):
            for line in self._lines(name):
                head, _, rest = line.partition(b'"al:')
                for number in rest.split(b'"')[0].split(b".")[0].split(b"+"):
                    if head[-1:] in (b"[", b",") and number.isdigit():
                        yield int(number)

    def hold(self, line: list) -> None:
        """Add a line to held.jsonl, the messages that wait for the end of quiet hours."""
        self._log("held", _MAX_HELD).append([line])

    def is_holding(self) -> bool:
        """Return whether a message waits in held.jsonl."""
        return files.size(self._folder + "held.jsonl") > 0

    def holding(self) -> "Iterator[bytes]":
        """Yield the lines of held.jsonl, oldest first, as bytes."""
        return self._lines("held")

    def release(self) -> None:
        """Delete held.jsonl, when its messages are in the digest."""
        files.remove(self._folder + "held.jsonl")

    def _lines(self, name):
        path = self._folder + name + ".jsonl"
        if files.exists(path):
            with open(path, "rb") as file:
                yield from files.lines(file)
