# tenner schedule.stores: the files of a service of the schedule: what it watches, its state, the run log.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.store import files

# A file this small is read through at every wake: an edit within a second of the last one
# changes neither size nor time stamp.
_SMALL = const(4096)
_MAX_LOG = const(32768)
# Half of it is kept at least: 60 alerts.
_MAX_SAID = const(4096)


class Stores:
    """
    `file` is watched and never written here; `folder` has runs.jsonl, said.jsonl, and a JSON file for each name.
    """

    def __init__(self, folder, file):
        self._folder = folder + "/"
        self._file = file

    def signature(self):
        """Something that changes with the file; None when there is none."""
        import os
        from binascii import crc32

        try:
            stat = os.stat(self._file)
        except OSError:
            return None
        check = 0
        if stat[6] <= _SMALL:
            with open(self._file, "rb") as f:
                block = f.read(256)
                while block:
                    check = crc32(block, check)
                    block = f.read(256)
        return (stat[6], stat[8], check)

    def lines(self):
        """Yield the numbered lines of the file."""
        from tenner.schedule.items import file_lines

        return file_lines(self._file)

    def load(self, name):
        """(value, None), or (None, name of the corrupt file put aside); (None, None) when absent."""
        path = self._folder + name + ".json"
        if not files.exists(path):
            return None, None
        from tenner.store import jsontext

        try:
            return jsontext.loads(files.read_text(path)), None
        except ValueError:
            from tenner.store import repairs

            return None, repairs.set_aside(path)

    def save(self, name, pieces):
        """Replace the file by the text the pieces make, whole or not at all."""
        files.write_atomic(self._folder + name + ".json", pieces)

    def _log(self, name="runs", max_bytes=_MAX_LOG):
        from tenner.store.appendlog import AppendLog

        return AppendLog(self._folder + name + ".jsonl", max_bytes)

    def append(self, lines):
        self._log().append(lines)

    def tail(self, count):
        return self._log().tail(count)

    def say(self, line):
        """Add a line to those of `said`."""
        self._log("said", _MAX_SAID).append([line])

    def said(self):
        """Yield what `say` has kept, oldest first, as bytes: one line at a time, for there may be no memory for more."""
        path = self._folder + "said.jsonl"
        if files.exists(path):
            with open(path, "rb") as file:
                yield from files.lines(file)
