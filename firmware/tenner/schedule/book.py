# tenner schedule.book: the records of a wake or a turn: run log, counters, what waits and what has run.
# MIT license; Copyright (c) 2026 the tenner authors
"""
One line in state/runs.jsonl for each occurrence that fell due:

    {"t":1790000000,"due":1789999980,"k":"1f3a9c","n":7,"r":"ran","tokens":812,"ms":2300,"sent":"yes"}
    {"t":1790000000,"due":1789999980,"k":"beat","r":"skipped","why":"quiet hours (22:00-07:00)"}

`k` is the task or "beat", `n` its line in HEARTBEAT.md, `job` stands there instead for a job; `old`:
a newer occurrence has overtaken this one; `up`: seconds since boot, where the clock was not set.
Lines of checks that opened no gate are gathered for up to a minute, which spares the flash.
"""

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import slots
from tenner.store import files

# A file this small is read through at every wake: an edit within a second of the last one
# changes neither size nor time stamp.
_SMALL = const(4096)
_MAX_LOG = const(32768)
_MAX_RETRY_S = const(30)
_GATHER_S = const(60)
_GATHER_LINES = const(12)
SENT = {"yes": "sent", "queued": "queued", "repeat": "said before", "no": "nothing to say"}


class Stores:
    """
    The file that is watched (read only), state/<area>.a and .b (counters, 128 bytes), JSON files
    in state/, and state/runs.jsonl.
    """

    def __init__(self, port, area, file):
        self._area = area
        self._file = file
        self._folder = port.path("state/")

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
        from tenner.schedule.items import file_lines

        return file_lines(self._file)

    def load_state(self):
        files.make_dirs(self._folder[:-1])
        return self._slots().load()

    def save_state(self, state):
        self._slots().save(state)

    def _slots(self):
        # Read anew each time: a wake and a turn beside it both write.
        from tenner.store.slots import TwoSlots

        return TwoSlots(self._folder + self._area)

    def load(self, name):
        """(value, None), or (None, name of the corrupt file put aside); (None, None) when absent."""
        path = self._folder + name + ".json"
        if not files.exists(path):
            return None, None
        from tenner.store import jsontext

        try:
            return jsontext.loads(files.read_text(path)), None
        except ValueError:
            return None, files.set_aside(path)

    def save(self, name, pieces):
        """Replace the file by the text the pieces make, whole or not at all."""
        files.write_atomic(self._folder + name + ".json", pieces)

    def _log(self):
        from tenner.store.appendlog import AppendLog

        return AppendLog(self._folder + "runs.jsonl", _MAX_LOG)

    def append(self, lines):
        self._log().append(lines)

    def tail(self, count):
        return self._log().tail(count)


class Book:
    """
    Lives for one wake or one turn; all that lasts is in the service `box` it works for. What is
    special to a service comes with a class of its own: note(), noted() and save_tasks(), and for
    `watch` boot(), adopt(), adopted() and scan().
    """

    def __init__(self, box, begun=None):
        self.box = box
        self.stores = box.stores()
        self.zone = box.part("zone")
        #: (start, whether the clock was trusted, what takes each task back) of the run under way.
        self.begun = begun

    def time(self):
        """(unix time, seconds of the monotonic clock, whether the first can be trusted)."""
        clock = self.box.clock
        return clock.now(), clock.mono_ms() // 1000, clock.trusted

    def save(self):
        self.stores.save_state(self.box.saved)

    # --- the logs

    def say(self, action, reason):
        """Log a decision when it is another one than the last."""
        box = self.box
        kind = reason.split("(")[0]
        # That nothing is due is news only after something was.
        if kind != box.said and (action != "wait" or box.said in (None, "run")):
            box.said = kind
            log(box.area, reason)
        return action, reason

    def write(self, task, due, line, now, trusted):
        """Put the line of an occurrence into the run log."""
        mono_s = self.time()[1]
        name = name_of(task.key)
        entry = {"t": now, "due": due, "k" if name != task.key else "job": name}
        if task.line:
            entry["n"] = task.line
        entry.update(line)
        if not trusted:
            entry["up"] = mono_s
        self.add(entry, line["r"] != "skipped" or not task.gate)

    def add(self, entry, at_once=True):
        """Write a line; one that can wait is held until the next write."""
        box = self.box
        box.held.append(entry)
        self.flush(at_once or box.written_s is None or len(box.held) >= _GATHER_LINES)

    def flush(self, at_once=False):
        """Write what is held, if it has been for a minute."""
        box = self.box
        mono_s = self.time()[1]
        if box.held and (at_once or mono_s - box.written_s >= _GATHER_S):
            self.stores.append(box.held)
            # Not before the append: a full disk must not lose them.
            box.held = []
            box.written_s = mono_s

    def tail(self, count):
        return (self.stores.tail(count) + self.box.held)[-count:]

    # --- what is due

    def due(self, forced=False):
        """The tasks whose occurrence has come; an older one that still waited ends here."""
        now, mono_s, trusted = self.time()
        found = []
        for task in self.box.tasks or ():
            at = slots.due_at(task, now, mono_s, trusted, self.zone)
            come = at is not None and at <= now
            if come and task.pending:
                at = slots.newer(task, at, now, trusted, self.zone)
                if at is None:
                    at = task.pending[0]
                else:
                    self.close(task, task.pending, now, trusted)
            if come or forced:
                task.asked = not come
                task.due = at if come else now
                found.append(task)
        return found

    def next_wake(self):
        """Monotonic second at which something is due, None when nothing ever is."""
        now, mono_s, trusted = self.time()
        waits = []
        for task in self.box.tasks or ():
            at = slots.due_at(task, now, mono_s, trusted, self.zone)
            if at is None:
                continue
            left = at - now
            if left <= 0:
                left = self.wait_of(task)
                coming = slots.following(task, at, now, trusted, self.zone)
                if coming is not None:
                    left = min(left, coming - now)
            waits.append(max(left, 0))
        return mono_s + min(waits) if waits else None

    def wait_of(self, task):
        """Seconds until a task that is due may be tried."""
        box = self.box
        until_s = max(box.retry_at_s[task.notify], task.not_before_s)
        if not task.notify:
            until_s = max(until_s, box.not_before_s)
        return max(until_s - self.time()[1], 0)

    # --- what waits

    def hold(self, tasks, reason):
        """The occurrences wait; what made them wait first stays the reason after a failure."""
        for task in tasks:
            if task.pending is None:
                task.pending = [task.due, reason, 0, 0]
            elif not task.pending[2]:
                task.pending[1] = reason

    def hold_off(self, reason, alerts=False):
        """Nothing was run: try again after 1 s, then later and later, 30 s at most."""
        box = self.box
        wait_s = min(box.retry_s[alerts] * 2, _MAX_RETRY_S) or 1
        box.retry_s[alerts] = wait_s
        box.retry_at_s[alerts] = self.time()[1] + wait_s
        box.waits[alerts] = reason

    def close(self, task, waiting, now, trusted):
        """An occurrence that waited has been overtaken, or is not tried again: its line says why."""
        due, reason, tries, tokens = waiting
        # Not the newest of its task: a restart must not take it for that.
        line = {"r": "skipped", "why": reason, "old": 1}
        if tries:
            line["why"] = "failed %d times: %s" % (tries, reason)
        if tokens:
            line["tokens"] = tokens
        self.write(task, due, line, now, trusted)
        if task.pending is waiting:
            task.pending = None

    def skip(self, task, reason):
        """The occurrence at hand ends without a run."""
        now, mono_s, trusted = self.time()
        line = {"r": "skipped", "why": reason}
        if task.pending and task.pending[3]:
            line["tokens"] = task.pending[3]
        self.write(task, task.due, line, now, trusted)
        slots.begin(task, now, mono_s, trusted)

    # --- what runs

    def begin(self, tasks):
        """Note the run, then count the occurrences as run."""
        now, mono_s, trusted = self.time()
        self.begun = (now, trusted, [slots.begin(task, now, mono_s, trusted) for task in tasks])
        self.note(now, trusted, tasks)
        return self.begun

    def end(self, line):
        """The occurrences are over; the first line carries the cost, the others say with whom."""
        start, trusted, begun = self.begun
        first = None
        gates = False
        for task, due, pending, *_ in begun:
            if task.opened is not None:
                from tenner.schedule.gates import fire

                fire(task.gate, task.opened)
                task.opened = None
            gates = gates or task.gate
            if first is None:
                first = task
                entry = dict(line)
                if pending and pending[3]:
                    entry["tokens"] = entry.get("tokens", 0) + pending[3]
            else:
                entry = {"r": line["r"], "with": name_of(first.key)}
                if "sent" in line:
                    entry["sent"] = line["sent"]
            self.write(task, due, entry, start, trusted)
        self.noted(start, trusted, gates)

    def has_run(self, alerts=False):
        """Something was run to its end."""
        box = self.box
        box.said = "run"
        box.retry_s[alerts] = box.retry_at_s[alerts] = 0

    def take_back(self, reason, failed=0, tokens=0):
        """Nothing came of it: the occurrences wait, unless newer ones have come meanwhile."""
        start, trusted, begun = self.begun
        for before in begun:
            task, due, pending = before[:3]
            tries, spent = pending[2:] if pending else (0, 0)
            waiting = [due, reason, tries + failed, spent + tokens]
            tokens = 0
            if task.pending or task.asked:
                self.close(task, waiting, start, trusted)
            else:
                slots.take_back(task, before)
                task.pending = waiting
        self.noted(start, trusted, True)


def name_of(key):
    """How a task is called in the log: a job by its id."""
    if isinstance(key, str):
        return key
    return "%06x" % key if key else "beat"


def ran(result):
    """The beginnings of a run's line, from what a turn came to."""
    line = {"r": "ran", "tokens": result.tokens(), "ms": result.ms}
    if result.estimated:
        line["est"] = True
    if result.interrupted == "stop":
        line["why"] = "stopped by the owner"
        line["sent"] = "no"
    return line
