# tenner schedule.stores: where the schedule keeps what must outlive a reboot.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.store import files

# A file this small is read through at every wake: an edit within a second of the last one
# changes neither size nor time stamp.
_SMALL = const(2048)


class Stores:
    """
    workspace/HEARTBEAT.md (read only), state/heartbeat.a and .b (counters, 128 bytes),
    state/tasks.json (last runs), state/runs.jsonl (the run log), state/said.json (alerts).
    """

    #: Bytes of the run log before its older half goes.
    max_log = 32 * 1024

    def __init__(self, port):
        self._file = port.path("workspace/HEARTBEAT.md")
        self._folder = port.path("state")
        self._log = None

    # --- HEARTBEAT.md

    def signature(self):
        """Something that changes with the file; None when there is none."""
        import os

        try:
            stat = os.stat(self._file)
        except OSError:
            return None
        check = 0
        if stat[6] <= _SMALL:
            from binascii import crc32

            with open(self._file, "rb") as f:
                block = f.read(256)
                while block:
                    check = crc32(block, check)
                    block = f.read(256)
        return (stat[6], stat[8], check)

    def lines(self):
        from tenner.schedule.items import file_lines

        return file_lines(self._file)

    # --- state

    def load_state(self):
        files.make_dirs(self._folder)
        return self._slots().load()

    def save_state(self, state):
        self._slots().save(state)

    def _slots(self):
        # Read anew each time: a wake and a turn beside it both write.
        from tenner.store.slots import TwoSlots

        return TwoSlots(self._folder + "/heartbeat")

    def load(self, name):
        """(value, None), or (None, name of the corrupt file put aside); (None, None) when absent."""
        path = "%s/%s.json" % (self._folder, name)
        if not files.exists(path):
            return None, None
        from tenner.store import jsontext

        try:
            return jsontext.loads(files.read_text(path)), None
        except ValueError:
            return None, files.set_aside(path)

    def save(self, name, pieces):
        """Replace the file by the text the pieces make, whole or not at all."""
        files.write_atomic("%s/%s.json" % (self._folder, name), pieces)

    # --- run log

    def _runs(self):
        if self._log is None:
            from tenner.store.appendlog import AppendLog

            self._log = AppendLog(self._folder + "/runs.jsonl", self.max_log)
        return self._log

    def append(self, lines):
        self._runs().append(lines)

    def tail(self, count):
        return self._runs().tail(count)
