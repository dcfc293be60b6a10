# tenner schedule.runs: the run log, one line for each occurrence that fell due.
# MIT license; Copyright (c) 2026 the tenner authors
"""
    {"t":1790000000,"due":1789999980,"k":"1f3a9c","n":7,"r":"ran","tokens":812,"ms":2300,"sent":"yes"}
    {"t":1790000000,"due":1789999980,"k":"beat","r":"skipped","why":"quiet hours (22:00-07:00)"}

`n` is the task's line in HEARTBEAT.md; `old`: a newer occurrence has overtaken this one; `up`:
seconds since boot, where the clock was not set. Lines of checks that opened no gate are gathered
for up to a minute, which spares the flash; all others are written at once, with those before them.
"""

from tenner.port.compat import const

_GATHER_S = const(60)
_GATHER_LINES = const(12)


class Runs:
    """The log of `stores`; `box` keeps what is held from one wake to the next (held, written_s)."""

    def __init__(self, stores, box):
        self._stores = stores
        self._box = box

    def add(self, line, mono_s, at_once=True):
        """Write a line; one that can wait is held until the next write."""
        box = self._box
        box.held.append(line)
        if at_once or box.written_s is None or len(box.held) >= _GATHER_LINES:
            self.flush(mono_s)
        else:
            self.flush_old(mono_s)

    def flush_old(self, mono_s):
        """Write what has been held for a minute."""
        if self._box.held and mono_s - self._box.written_s >= _GATHER_S:
            self.flush(mono_s)

    def flush(self, mono_s):
        if self._box.held:
            self._stores.append(self._box.held)
            # Not before the append: a full disk must not lose them.
            self._box.held = []
            self._box.written_s = mono_s

    def tail(self, count):
        return (self._stores.tail(count) + self._box.held)[-count:]


def name_of(key):
    """How a task is called in the log."""
    return "%06x" % key if key else "beat"


def describe(line, zone):
    """One line of the log as a person reads it."""
    local = zone.local(line.get("t", 0))
    text = "%04d-%02d-%02d %02d:%02d " % local[:5]
    if "job" in line:
        text += "job %s" % line["job"]
    elif line.get("k") == "beat":
        text += "beat"
    else:
        text += "line %s" % line.get("n", "?")
    text += ": %s" % line.get("r", "?")
    if "why" in line:
        text += ", %s" % line["why"]
    if line.get("tokens"):
        text += ", %s%d tokens" % ("about " if line.get("est") else "", line["tokens"])
    if "ms" in line:
        text += ", %d ms" % line["ms"]
    sent = {"yes": "sent", "queued": "queued", "repeat": "said before", "no": "nothing to say"}
    if "sent" in line:
        text += ", " + sent.get(line["sent"], line["sent"])
    return text
