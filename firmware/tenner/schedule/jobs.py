# tenner schedule.jobs: reads, checks and rewrites CRON.json, one job at a time.
# MIT license; Copyright (c) 2026 the tenner authors
"""
    {"jobs": [{"id": "daily", "name": "Daily check", "enabled": true,
               "schedule": {"kind": "cron", "expr": "0 9 * * *", "tz": "UTC0"},
               "payload": {"kind": "agent_turn", "message": "Summarise the day."},
               "missed": "once"}]}

schedule: {"kind": "at", "at": ISO time}, {"kind": "every", "every_seconds": N, "anchor"?: ISO
time} or {"kind": "cron", "expr": five fields}, each with "tz"?. payload: "agent_turn" (with
"model"?) or "message", both with "channel"? and "chat"? for someone else than the owner.
"""

import json

from tenner.net.jsonin import Scanner
from tenner.port.compat import const
from tenner.store import files

_BLOCK = const(256)
_MAX_STRING = const(4000)
_MAX_ID = const(40)


class _Collector:
    """Builds the entries of `jobs`, one after the other, from the scanner's events."""

    def __init__(self):
        self.index = -1
        self.job = None
        self.done = []
        # Other plain values at the top, and whether there is more than can be written again.
        self.others = {}
        self.odd = False
        self._pieces = []
        self._length = 0

    def sink(self, path, value, more):
        if isinstance(value, str):
            self._length += len(value)
            if self._length <= _MAX_STRING:
                self._pieces.append(value)
            if more:
                return
            value = "".join(self._pieces)
            length = self._length
            self._pieces = []
            self._length = 0
            if length > _MAX_STRING:
                self._wrong(path, "a text of %d characters is too long" % length)
        if path[:1] != ["jobs"]:
            if len(path) == 1:
                self.others[path[0]] = value
            else:
                self.odd = True
            return
        if len(path) < 2:
            self.odd = True
            return
        if path[1] != self.index:
            self.flush()
            self.index = path[1]
            self.job = {}
        place = self.job
        for part in path[2:]:
            if isinstance(part, int):
                self._wrong(path, "a job has no lists")
                return
        if len(path) == 2:
            self._wrong(path, "an entry is an object in curly brackets")
            return
        for part in path[2:-1]:
            if not isinstance(place.get(part), dict):
                place[part] = {}
            place = place[part]
        place[path[-1]] = value

    def _wrong(self, path, sentence):
        """What the entry has that it cannot be written again with."""
        if path[:1] == ["jobs"] and len(path) > 1:
            if path[1] != self.index:
                self.flush()
                self.index = path[1]
                self.job = {}
            self.job[""] = sentence
        else:
            self.odd = True

    def flush(self):
        if self.job is not None:
            self.done.append((self.index, self.job))
            self.job = None


def read(path, collector=None):
    """
    Yield (index, entry) of each entry, a dict as it stands in the file. ValueError where the file
    is no JSON any more: what stood before has been yielded by then.
    """
    if not files.exists(path):
        return
    if collector is None:
        collector = _Collector()
    scanner = Scanner(collector.sink)
    lines = 1
    try:
        with open(path, "rb") as f:
            block = f.read(_BLOCK)
            while block:
                scanner.feed(block)
                while collector.done:
                    yield collector.done.pop(0)
                lines += block.count(b"\n")
                block = f.read(_BLOCK)
        scanner.end()
    except ValueError as error:
        # The entry at hand is cut short; those before it are whole.
        raise ValueError("near line %d: %s" % (lines, error))
    collector.flush()
    while collector.done:
        yield collector.done.pop(0)


def check(entry, zone):
    """None, or a sentence that says what is wrong with an entry."""
    if "" in entry:
        return entry[""]
    job_id = entry.get("id")
    if not isinstance(job_id, str) or not job_id or len(job_id) > _MAX_ID:
        return 'it needs an "id" of at most %d characters' % _MAX_ID
    schedule = entry.get("schedule")
    payload = entry.get("payload")
    if not isinstance(schedule, dict):
        return 'it needs a "schedule" such as {"kind": "cron", "expr": "0 9 * * *"}'
    if not isinstance(payload, dict) or payload.get("kind") not in ("agent_turn", "message"):
        return 'it needs a "payload" of the kind agent_turn or message'
    if not isinstance(payload.get("message"), str) or not payload["message"].strip():
        return 'its payload needs a "message"'
    if entry.get("enabled", True) not in (True, False):
        return '"enabled" must be true or false'
    if entry.get("missed", "once") not in ("once", "skip"):
        return '"missed" must be once or skip'
    try:
        timing(entry, zone)
    except (ValueError, OverflowError) as error:
        return str(error)
    return None


def timing(entry, zone):
    """(kind, at or interval or expression, anchor, zone) of an entry; ValueError says what is wrong."""
    schedule = entry["schedule"]
    if "tz" in schedule:
        if not isinstance(schedule["tz"], str):
            raise ValueError('"tz" must be a POSIX time zone such as CET-1CEST,M3.5.0,M10.5.0/3')
        if schedule["tz"] != zone.text:
            from tenner.schedule.zone import Zone

            zone = Zone(schedule["tz"])
    kind = schedule.get("kind")
    if kind == "at":
        return kind, _time(schedule.get("at"), zone), 0, zone
    if kind == "every":
        seconds = schedule.get("every_seconds")
        if not isinstance(seconds, int) or not 1 <= seconds <= 366 * 86400:
            raise ValueError('"every_seconds" must be a whole number from 1 to 31622400')
        anchor = schedule.get("anchor")
        return kind, seconds, None if anchor is None else _time(anchor, zone), zone
    if kind == "cron":
        expr = schedule.get("expr")
        if not isinstance(expr, str):
            raise ValueError('"expr" must be five fields such as "0 9 * * 1-5"')
        from tenner.schedule.cronexpr import Cron

        Cron(expr)
        return kind, expr, 0, zone
    raise ValueError('the schedule\'s "kind" must be at, every or cron')


def _time(value, zone):
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if not isinstance(value, str):
        raise ValueError("a time is missing; write it as 2026-11-21T08:30")
    return zone.parse(value)


def rewrite(path, change, added=None):
    """
    Replace the file with `change(entry)` of every entry (None leaves it out) and `added` behind
    them. ValueError, and the file as it was, when it has what would be lost.
    """
    files.write_atomic(path, _pieces(path, change, added))


def _pieces(path, change, added):
    collector = _Collector()
    between = '{"jobs": ['
    for index, entry in read(path, collector):
        if "" in entry:
            raise ValueError("entry %d must be put right first: %s" % (index + 1, entry[""]))
        entry = change(entry)
        if entry is not None:
            yield between + "\n" + json.dumps(entry)
            between = ","
    if added is not None:
        yield between + "\n" + json.dumps(added)
        between = ","
    if collector.odd:
        raise ValueError("it has more than a list of jobs; it must be put right first")
    yield between + "]" if between != "," else "\n]"
    for name in sorted(collector.others):
        yield ", %s: %s" % (json.dumps(name), json.dumps(collector.others[name]))
    yield "}\n"
