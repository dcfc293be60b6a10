# tenner schedule.book: what has run, what waits and what is due, of the heartbeat or of the jobs.
# MIT license; Copyright (c) 2026 the tenner authors
"""
One line in state/runs.jsonl for each occurrence that fell due:

    {"t":1790000000,"due":1789999980,"k":"1f3a9c","n":7,"r":"ran","tokens":812,"ms":2300,"sent":"yes"}
    {"t":1790000000,"due":1789999980,"k":"beat","r":"skipped","why":"quiet hours (22:00-07:00)"}

`k` is the task or "beat", `n` its line in HEARTBEAT.md, `job` stands there instead for a job; `up`:
seconds since boot, where the clock was not set. Checks that opened no gate are gathered for up to a minute.

state/heartbeat.json and state/cron.json have what must outlive a reboot: counters by "" and by task

    [last run, the run under way: [due, start, whether due again], what waits: [due, why, tries, tokens], ...]

and behind that what a gate or a job needs. A run is noted there before it begins, an occurrence when it
begins to wait. Of what is noted, what has no line in the log at the next boot was cut short, or waits still.
"""

import json

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import slots

_MAX_RETRY_S = const(30)
_GATHER_S = const(60)
_GATHER_LINES = const(12)
SENT = {"yes": "sent", "queued": "queued", "repeat": "said before", "no": "nothing to say"}


class Book:
    """Lives for one wake or one turn; all that lasts longer is in the service `box`, or on flash."""

    def __init__(self, box):
        self.box = box
        self.stores = box.stores()
        self.zone = box.app.part("zone")
        #: The moment that is judged: unix time, whether that is known, and the monotonic clock.
        clock = box.app.clock
        self.now, self.trusted, self.mono_s = clock.now(), clock.trusted, clock.mono_s()
        self.word = "job" if box.area == "cron" else "k"

    # --- what is written

    def say(self, action, reason):
        """Log a decision when it is another one than the last."""
        box = self.box
        kind = reason.split("(")[0]
        # That nothing is due is news only after something was.
        if kind != box.said and (action != "wait" or box.said in (None, "run")):
            box.said = kind
            log(box.area, reason)
        return action, reason

    def write(self, task, due, line, start=None, trusted=True, can_wait=False):
        """Put the line of an occurrence into the run log."""
        entry = {"t": self.now if start is None else start, "due": due, self.word: name_of(task)}
        if task.line:
            entry["n"] = task.line
        entry.update(line)
        if not (trusted and self.trusted):
            entry["up"] = self.mono_s
        self.add(entry, can_wait)

    def add(self, entry, can_wait=False):
        """Keep a line of the run log until the next write."""
        box = self.box
        # As text, which takes a third of the memory.
        box.held.append(json.dumps(entry, separators=(",", ":")))
        if not can_wait or box.written_s is None or len(box.held) >= _GATHER_LINES:
            box.written_s = self.mono_s - _GATHER_S

    def flush(self, at_once=False):
        """Write the lines that are held, if they cannot wait or have waited for a minute."""
        box = self.box
        if box.held and (at_once or self.mono_s - box.written_s >= _GATHER_S):
            self.stores.append(box.held)
            # Not before the append: a full disk must not lose them.
            box.held = []
            box.written_s = self.mono_s

    def tail(self, count):
        return (self.stores.tail(count) + [json.loads(line) for line in self.box.held])[-count:]

    def save(self):
        """Write the state, after the lines that tell how it came about."""
        self.flush()
        self.stores.save(self.box.area, self._pieces())
        self.box.stale = False

    def _pieces(self):
        box = self.box
        yield '{"":%s' % json.dumps(box.saved)
        names = []
        for task in box.tasks or ():
            name = name_of(task)
            names.append(name)
            yield ",\n%s:%s" % (json.dumps(name), json.dumps(self.entry(task)))
        for name in box.known:
            if name not in names:
                yield ",\n%s:%s" % (json.dumps(name), json.dumps(box.known[name]))
        yield "}\n"

    def close(self):
        """The wake is over: write what cannot wait."""
        self.box.wake_at_s = self.next_wake()
        if self.box.stale:
            self.save()
        else:
            self.flush()

    def entry(self, task):
        """What of a task is kept."""
        known = self.box.known.get(name_of(task))
        if known:
            # The clock these belong to is not in force yet.
            last, run, waiting = known[:3]
        else:
            last, run, waiting = task.last, None, task.pending if self.box.was_trusted else None
        more = [getattr(task.gate or task, name) for name in more_of(task)]
        return [last, task.run or run, waiting] + more

    # --- what is due

    def due(self, forced=False):
        """The tasks whose occurrence has come; an older one that still waited ends here."""
        found = []
        for task in self.box.tasks or ():
            at = self.due_at(task)
            task.asked = at is None or at > self.now
            if not task.asked:
                task.due = slots.newest(task, at, self.now, self.trusted, self.zone)
                if task.pending and task.due > task.pending[0]:
                    self.overtake(task, task.pending)
                elif task.pending:
                    task.due = task.pending[0]
            elif forced:
                task.due = self.now
            else:
                continue
            found.append(task)
        return found

    def due_at(self, task):
        return slots.due_at(task, self.now, self.mono_s, self.trusted, self.zone)

    def next_wake(self):
        """Monotonic second at which something is due, None when nothing ever is."""
        waits = []
        for task in self.box.tasks or () if self.box.every_s != 0 else ():
            at = self.due_at(task)
            if at is None:
                continue
            left = at - self.now
            if left <= 0:
                left = self.wait_of(task)
                if self.trusted:
                    coming = (slots.after(task, self.now, self.zone) or self.now + left) - self.now
                else:
                    coming = task.every_s - (self.now - at) % task.every_s
                left = min(left, coming)
            waits.append(max(left, 0))
        return self.mono_s + min(waits) if waits else None

    def wait_of(self, task):
        """Seconds until a task that is due may be tried."""
        box = self.box
        until_s = max(box.retry_at_s[task.notify], task.not_before_s)
        if not task.notify:
            until_s = max(until_s, box.not_before_s)
        return max(until_s - self.mono_s, 0)

    def question(self, group, forced=False, model=True, late=False):
        """What `decide` is asked; without `late` only of the gates before budget and lane."""
        box = self.box
        app = box.app
        state = {"work": box.work, "model": model, "forced": forced}
        config = {"enabled": box.every_s != 0, "hours": None, "zone": self.zone}
        busy = left = None
        online = True
        if box.window:
            from tenner.store.hours import Hours

            config["hours"] = Hours(box.window)
        if late:
            lane = app.agent.lane
            busy = lane.busy()
            if not busy and box.put_backs >= 3 and lane.idle_s() < 60:
                busy = "conversation"
            online = app.online()
            budget = app.part("budget")
            left = budget.left(box.area)
            config["tokens_per_day"] = budget.per_day
            if box.running_s is not None and model:
                state["running_s"] = self.mono_s - box.running_s
        return (
            self.now, self.mono_s * 1000, self.trusted, group, state, config, busy, online, left
        )  # fmt: skip

    def decide(self, *args):
        from tenner.schedule.decide import decide

        return decide(*self.question(*args))

    # --- what waits

    def hold(self, tasks, reason):
        """The occurrences wait; what has failed is the reason after what made it wait since."""
        for task in tasks:
            if task.pending and not task.pending[2]:
                task.pending[1] = reason
            elif not task.pending and not task.asked:
                task.pending = [task.due, reason, 0, 0]
                self.box.stale = True

    def retry(self, tasks, reason):
        """Nothing was run: try again after 1 s, then later and later, 30 s at most. (action, reason)"""
        box = self.box
        alerts = tasks[0].notify
        self.hold(tasks, reason)
        wait_s = min(box.retry_s[alerts] * 2, _MAX_RETRY_S) or 1
        box.retry_s[alerts] = wait_s
        box.retry_at_s[alerts] = self.mono_s + wait_s
        box.waits[alerts] = reason
        return self.say("retry", reason)

    def overtake(self, task, waiting, trusted=True):
        """An occurrence that waited is not tried again: its line says why."""
        due, reason, tries, tokens = waiting
        if tries:
            reason = "failed %d times: %s" % (tries, reason)
        # While a task waits, what is on flash says so.
        can_wait = task.gate and not task.pending
        line = {"r": "skipped", "why": reason}
        if tokens:
            line["tokens"] = tokens
        self.write(task, due, line, None, trusted, can_wait)
        if task.pending:
            self.box.stale = True
            if task.pending is waiting:
                task.pending = None

    def skip(self, task, reason):
        """The occurrence at hand ends without a run."""
        tokens = task.pending[3] if task.pending else 0
        self.overtake(task, [task.due, reason, 0, tokens])
        slots.begin(task, self.now, self.mono_s, self.trusted)

    # --- what runs

    def begin(self, tasks):
        """Note the run, and count the occurrences as run."""
        for task in tasks:
            again = self.trusted and not task.skip if self.box.area == "cron" else None
            task.run = [task.due, self.now, again]
            before = (task.pending, self.trusted)
            task.before = before + slots.begin(task, self.now, self.mono_s, self.trusted)
        self.save()

    def end(self, tasks, line):
        """The occurrences are over; the first line carries the cost, the others say with whom."""
        box = self.box
        alerts = tasks[0].notify
        if line["r"] == "ran":
            box.said = "run"
            box.put_backs = box.retry_s[alerts] = box.retry_at_s[alerts] = 0
        for task in tasks:
            if line["r"] == "ran":
                task.failures = 0
            if task.opened is not None:
                from tenner.schedule.gates import fire

                fire(task.gate, task.opened)
                task.opened = None
            waited, trusted = task.before[:2]
            entry = dict(line)
            if task is not tasks[0]:
                entry = {"r": line["r"], "sent": line["sent"], "with": name_of(tasks[0])}
            elif waited:
                entry["tokens"] += waited[3]
            self.write(task, task.run[0], entry, task.run[1], trusted)
            task.run = task.before = None
        self.save()

    def take_back(self, tasks, reason, failed=0, tokens=0):
        """Nothing came of it: the occurrences wait, unless newer ones have come meanwhile."""
        for task in tasks:
            waited, trusted, *before = task.before
            tries, spent = waited[2:] if waited else (0, 0)
            waiting = [task.run[0], reason, tries + failed, spent + tokens]
            tokens = 0
            task.run = task.before = None
            if task.pending or task.asked:
                self.overtake(task, waiting, trusted)
            else:
                task.last, task.base_s, task.ran, task.next = before
                task.pending = waiting
        self.save()


def name_of(task):
    """How a task is called in the log: a job by its id."""
    key = task.key
    if isinstance(key, str):
        return key
    return "%06x" % key if key else "beat"


def more_of(task):
    """What else of a task outlives a reboot: of its gate, or of a job."""
    if task.gate:
        return ("fired", "reference", "silent")
    return ("failures", "off", "why") if isinstance(task.key, str) else ()
