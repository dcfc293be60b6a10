# tenner schedule.ledger: last runs, counters and latches of the heartbeat, kept over reboots.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Two places. The counters and the beat's own last run fit the two slots of 128 bytes:

    l last run of the beat     r starts of the runs under way     b boots too short for a beat
    f failures in a row        n 1: the owner was told of them    p checksum of reported problems

state/tasks.json has [last run, fired, reference] by task, and the sensors reported as silent. A
run is noted before it starts, and its line in the run log has that same time, so that a power
cut leaves either a line, or a note without one: that run is then logged as interrupted.
"""

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule.runs import name_of
from tenner.schedule.tasks import set_last

_MAX_BOOTS = const(9)
# More lines than one wake writes: the newest tell of runs that the files know nothing about yet.
_TAIL = const(24)


class Ledger:
    """
    Works on what `box` keeps from one wake to the next: `saved`, the counters; `known`, what was
    read at boot until the tasks have taken it over; `failed`, the sensors reported as silent.
    """

    def __init__(self, stores, box):
        self._stores = stores
        self._box = box
        self.state = box.saved

    def boot(self):
        """Read all; return (boots too short in a row, sentences for the owner, lines to log)."""
        self.state.update(self._stores.load_state())
        notices = []
        saved, bad = self._stores.load("tasks")
        if bad:
            notices.append(
                "The last runs of the tasks could not be read (put aside as %s); they count "
                "from now." % bad
            )
        saved = saved if isinstance(saved, dict) else {}
        self._box.known = saved.get("t", {})
        self._box.failed.extend(saved.get("s", []))
        tail = self._stores.tail(_TAIL)
        for line in tail:
            self._learn(line)
        lines = []
        for start in self.state.get("r", ()):
            lines.extend(_interrupted(start, self._lasts(), tail))
        boots = self.state.get("b", 0)
        self.state["b"] = min(boots + 1, _MAX_BOOTS)
        return boots, notices, lines

    def booted(self):
        """The lines boot() returned are in the log: forget the runs they stand for."""
        self.state["r"] = []
        self.save()

    def _known(self):
        return self._box.known or {}

    def _lasts(self):
        yield "beat", self.state.get("l", 0)
        for key in self._known():
            yield key, self._known()[key][0]

    def _learn(self, line):
        """Take a last run from a line of the log that came after the last save."""
        if not isinstance(line, dict) or "up" in line or line.get("r") == "interrupted":
            return
        key = line.get("k")
        when = line.get("due" if "old" in line else "t", 0)
        if key == "beat":
            self.state["l"] = max(self.state.get("l", 0), when)
        elif key:
            entry = self._known().get(key)
            if entry is None:
                self._box.known[key] = [when, 0, None]
            else:
                entry[0] = max(entry[0], when)

    def adopt(self, task):
        """Give a task its state back; False when nothing is known of it."""
        if task.key == 0:
            set_last(task, self.state.get("l", 0))
            return task.last > 0
        entry = self._known().get(name_of(task.key))
        if entry is None:
            return False
        set_last(task, entry[0])
        if task.gate:
            task.gate.fired = bool(entry[1])
            task.gate.reference = entry[2]
        return True

    def adopted(self):
        self._box.known = None

    def save(self):
        self._stores.save_state(self.state)

    def save_tasks(self, tasks):
        """Keep the tasks' last runs, and with them the beat's."""
        others = False
        for task in tasks or ():
            if task.key == 0:
                self.state["l"] = task.last
            else:
                others = True
        self.save()
        if others:
            self._stores.save("tasks", self._pieces(tasks))

    def _pieces(self, tasks):
        import json

        comma = '{"t":{'
        for task in tasks:
            if task.key:
                gate = task.gate
                entry = (
                    [task.last, int(gate.fired), gate.reference] if gate else [task.last, 0, None]
                )
                yield '%s"%s":%s' % (comma, name_of(task.key), json.dumps(entry))
                comma = ","
        yield '},"s":%s}\n' % json.dumps(self._box.failed)

    def begin(self, start, tasks):
        """A run starts: noted first, then counted as run."""
        self.state.setdefault("r", []).append(start)
        self.save_tasks(tasks)

    def end(self, start):
        """The run's lines are written."""
        if start in self.state.get("r", ()):
            self.state["r"].remove(start)
        self.save()


def _interrupted(start, lasts, tail):
    """Lines for the tasks whose run began at `start` and has no line."""
    for key, last in lasts:
        if last != start:
            continue
        if any(_closes(line, key, start) for line in tail):
            continue
        log("heartbeat", "a run of %s was cut short by a restart" % key)
        yield {"t": start, "due": start, "k": key, "r": "interrupted", "why": "restart"}


def _closes(line, key, start):
    """Whether a line is that of the run that began at `start`, not of an older occurrence."""
    return line.get("k") == key and line.get("t") == start and "old" not in line
