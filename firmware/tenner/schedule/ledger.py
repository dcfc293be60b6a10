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
from tenner.schedule.book import Book, name_of
from tenner.schedule.slots import set_last

_MAX_BOOTS = const(9)
_SHORT_BOOTS = const(3)
# More lines than one wake writes: the newest tell of runs that the files know nothing about yet.
_TAIL = const(24)


class Ledger(Book):
    """The heartbeat's own book."""

    def boot(self):
        """Read all that outlived the reboot."""
        box = self.box
        state = box.saved
        state.update(self.stores.load_state())
        saved, bad = self.stores.load("tasks")
        if bad:
            box.notify(
                "The last runs of the tasks could not be read (put aside as %s); they count "
                "from now." % bad
            )
        saved = saved if isinstance(saved, dict) else {}
        box.known = saved.get("t", {})
        box.failed.extend(saved.get("s", ()))
        tail = self.stores.tail(_TAIL)
        lasts = {"beat": state.get("l", 0)}
        _learn(tail, lasts, box.known)
        state["l"] = lasts["beat"]
        for key in box.known:
            lasts[key] = box.known[key][0]
        for start in state.get("r", ()):
            for key in lasts:
                if lasts[key] == start and not any(_closes(line, key, start) for line in tail):
                    log("heartbeat", "a run of %s was cut short by a restart" % key)
                    line = {"t": start, "due": start, "k": key, "r": "interrupted"}
                    line["why"] = "restart"
                    self.add(line)
        box.early = state.get("b", 0) >= _SHORT_BOOTS
        state["b"] = min(state.get("b", 0) + 1, _MAX_BOOTS)
        state["r"] = []
        self.save()

    def adopt(self, task):
        """Give a task its state back; False when nothing is known of it."""
        if task.key == 0:
            set_last(task, self.box.saved.get("l", 0))
            return task.last > 0
        entry = (self.box.known or {}).get(name_of(task.key))
        if entry is None:
            return False
        set_last(task, entry[0])
        if task.gate:
            task.gate.fired = bool(entry[1])
            task.gate.reference = entry[2]
        return True

    def adopted(self):
        self.box.known = None

    def save_tasks(self):
        """Keep the tasks' last runs, and with them the beat's."""
        tasks = self.box.tasks or ()
        for task in tasks:
            if task.key == 0:
                self.box.saved["l"] = task.last
        self.save()
        if any(task.key for task in tasks):
            self.stores.save("tasks", self._pieces(tasks))

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
        yield '},"s":%s}\n' % json.dumps(self.box.failed)

    def note(self, start, trusted, tasks):
        """A run starts; the caller has counted it as run already."""
        if trusted:
            self.box.saved.setdefault("r", []).append(start)
            self.save_tasks()

    def noted(self, start, trusted, changed):
        """The run's lines are written; `changed`: more than what was saved when it began."""
        if trusted:
            if start in self.box.saved.get("r", ()):
                self.box.saved["r"].remove(start)
            self.save_tasks() if changed else self.save()

    def scan(self, old):
        """(tasks, sentences for the owner) of HEARTBEAT.md."""
        from tenner.schedule import slots
        from tenner.schedule.index import scan

        heartbeat = self.box
        if not heartbeat.every_s:
            return None, []
        seed = slots.seed(heartbeat.port.device_id())
        tasks, heartbeat.work, problems = scan(self.stores.lines(), heartbeat.every_s, seed, old)
        return tasks, problems


def _learn(tail, lasts, known):
    """Take last runs from lines of the log that came after the last save."""
    for line in tail:
        if not isinstance(line, dict) or "up" in line or line.get("r") == "interrupted":
            continue
        key = line.get("k")
        when = line.get("due" if "old" in line else "t", 0)
        if key == "beat":
            lasts[key] = max(lasts[key], when)
        elif key:
            entry = known.setdefault(key, [0, 0, None])
            entry[0] = max(entry[0], when)


def _closes(line, key, start):
    """Whether a line is that of the run that began at `start`, not of an older occurrence."""
    return line.get("k") == key and line.get("t") == start and "old" not in line
