# tenner schedule.book: what a wake and a turn both do to the heartbeat's records.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.port.compat import const
from tenner.schedule.ledger import Ledger
from tenner.schedule.runs import Runs, name_of

_MAX_RETRY_S = const(30)


class Book:
    """Lives for one wake or one turn; all that lasts is in the `heartbeat` it works for."""

    def __init__(self, heartbeat):
        self.heartbeat = heartbeat
        self.stores = heartbeat.stores()
        self.zone = heartbeat.part("zone")
        self.runs = Runs(self.stores, heartbeat)
        self.ledger = Ledger(self.stores, heartbeat)

    def time(self):
        """(unix time, seconds of the monotonic clock, whether the first can be trusted)."""
        clock = self.heartbeat.clock
        return clock.now(), clock.mono_ms() // 1000, clock.trusted

    def say(self, action, reason):
        """Log a decision when it is another one than the last."""
        heartbeat = self.heartbeat
        kind = reason.split("(")[0]
        # That nothing is due is news only after something was.
        if kind != heartbeat.said and (action != "wait" or heartbeat.said in (None, "run")):
            heartbeat.said = kind
            log("heartbeat", reason)
        return action, reason

    # --- occurrences that wait

    def hold(self, tasks, reason):
        """The occurrences wait; what made them wait first stays the reason after a failure."""
        for task in tasks:
            if task.pending is None:
                task.pending = [task.due, reason, 0, 0]
            elif not task.pending[2]:
                task.pending[1] = reason

    def hold_off(self, reason, alerts=False):
        """Nothing was run: try again after 1 s, then later and later, 30 s at most."""
        heartbeat = self.heartbeat
        wait_s = heartbeat.retry_s[alerts]
        wait_s = min(wait_s * 2, _MAX_RETRY_S) if wait_s else 1
        heartbeat.retry_s[alerts] = wait_s
        heartbeat.retry_at_s[alerts] = self.time()[1] + wait_s
        heartbeat.waits[alerts] = reason

    def has_run(self, alerts=False):
        """Something was run to its end."""
        heartbeat = self.heartbeat
        heartbeat.said = "run"
        heartbeat.retry_s[alerts] = heartbeat.retry_at_s[alerts] = 0
        if not alerts:
            heartbeat.put_backs = 0

    # --- occurrences that end

    def close(self, task, waiting, now, trusted):
        """An occurrence that waited has been overtaken, or is not tried again: its line says why."""
        due, reason, tries, tokens = waiting
        # Not the newest of its task: `ledger` must not take it for that.
        line = {"r": "skipped", "why": reason, "old": 1}
        if tries:
            line["why"] = "failed %d times: %s" % (tries, reason)
        if tokens:
            line["tokens"] = tokens
        self.write(task, due, line, now, trusted)
        if task.pending is waiting:
            task.pending = None

    def write(self, task, due, line, now, trusted):
        """Put the line of an occurrence into the run log."""
        mono_s = self.time()[1]
        entry = {"t": now, "due": due, "k": name_of(task.key)}
        if task.key:
            entry["n"] = task.line
        entry.update(line)
        if not trusted:
            entry["up"] = mono_s
        self.runs.add(entry, mono_s, entry["r"] != "skipped" or task.gate is None)
