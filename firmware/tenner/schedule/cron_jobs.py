# tenner schedule.cron_jobs: reads, lists, checks and changes the jobs of CRON.json, one at a time.
# MIT license; Copyright (c) 2026 the tenner authors
"""
    {"jobs": [{"id": "daily", "name": "Daily check", "enabled": true,
               "schedule": {"kind": "cron", "expr": "0 9 * * *", "tz": "UTC0"},
               "payload": {"kind": "agent_turn", "message": "Summarise the day."},
               "missed": "once"}]}

schedule: {"kind": "at", "at": ISO time}, {"kind": "every", "every_seconds": N, "anchor"?: ISO
time} or {"kind": "cron", "expr": five fields}, each with "tz"?, a rule or a place of zones.tsv.
payload: "agent_turn" (with "model"?) or "message", both with "channel"? and "chat"? for someone
else than the owner.
"""

import json

from tenner.port.compat import const
from tenner.schedule import due
from tenner.schedule.due import Cron, five_fields
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.reload import complain, prune, reload
from tenner.schedule.saved_state import current
from tenner.schedule.task import Moment, Task
from tenner.store import files, json_strict
from tenner.store.posix_tz import Zone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from tenner.schedule.types import Look, Service

_MAX_ENTRY = const(6000)
_MAX_ID = const(40)
_MAX_FILE = const(65536)
_SHOWN = const(3)  # times of a job that the owner is asked about
#: Jobs kept in memory, about 200 bytes each on a board.
_MAX_JOBS = const(64)

#: The sentence about a file with a mistake outside of its entries.
BROKEN = const("CRON.json cannot be read to its end: %s")

# Kinds of a piece of the file.
_OTHER = const(0)
_ENTRY = const(1)
_COMMA = const(2)
_END = const(3)


def _cut(path):
    """
    Yield (bytes, kind) for the entire file. An entry lies between two commas of the list "jobs": a
    mistake in one spoils no other.
    """
    if files.size(path) > _MAX_FILE:
        raise ValueError("it is over 64 KB: make it shorter")
    held = bytearray()
    depth = 0
    name = b""  # the text before a bracket
    text = escaped = inside = found = False
    with open(path, "rb") as f:
        block = f.read(256)
        if 0 in block[:4]:
            raise ValueError("it is not UTF-8 text: save it as UTF-8")
        while block:
            for byte in block:
                if text:
                    text = escaped or byte != 34
                    escaped = byte == 92 and not escaped
                    if not text and depth == 1:
                        name = held[held.rfind(b'"') :]
                elif byte == 34:
                    text = True
                elif byte in b"[{":
                    depth += 1
                elif byte in b"]}":
                    depth -= 1
                    if inside and depth == 1:
                        yield held, _ENTRY
                        yield b"]", _END
                        held = bytearray()
                        inside = False
                        continue
                elif byte == 44 and inside and depth == 2:
                    yield held, _ENTRY
                    yield b",", _COMMA
                    held = bytearray()
                    continue
                held.append(byte)
                if byte == 91 and depth == 2 and name == b'"jobs' and not text:
                    found = inside = True
                if len(held) > _MAX_ENTRY or byte == 91 and inside and depth == 2 and not text:
                    if inside and byte != 91:
                        raise ValueError("an entry has over %d bytes" % _MAX_ENTRY)
                    yield held, _OTHER
                    held = bytearray()
            block = f.read(256)
    yield held, _OTHER
    if depth or text:
        raise ValueError("it ends too early")
    if not found:
        raise ValueError('there is no list "jobs" in it')


def read(path: str) -> "Iterator[tuple[int, Any]]":
    """
    Yield (index, value) of each entry. ValueError where the file cannot be read any more, after
    the entries before that.
    """
    index = 0
    if files.exists(path):
        for piece, what in _cut(path):
            if what == _ENTRY and piece.strip():
                yield index, _value(piece)
                index += 1


def _value(piece):
    """Return an entry, or the sentence about its first mistake in JSON."""
    try:
        return json_strict.loads(bytes(piece))
    except ValueError as error:
        return str(error)


def _id_of(entry):
    return entry.get("id") if isinstance(entry, dict) else None


def keys(path: str) -> list[str]:
    """Return the ids of the file's jobs."""
    return [key for key in (_id_of(entry) for _, entry in read(path)) if isinstance(key, str)]


def find(path: str, key: str) -> dict | None:
    """Return the entry of a job, or None."""
    for _, entry in read(path):
        if _id_of(entry) == key:
            return entry
    return None


def rewrite(path: str, key: int | str, entry: dict | None) -> None:
    """
    Put `entry` in the place of the job's, or behind all others; None removes it. The rest of the
    file stays unchanged.
    """
    files.write_atomic(path, _pieces(path, key, entry), files.WORKSPACE_TEMP)


def _pieces(path, key, entry):
    text = entry and b"\n" + json.dumps(entry).encode()
    comma = b""
    if not files.exists(path):
        yield b'{"jobs": [' + text + b"\n]}\n"
        return
    for piece, what in _cut(path):
        if what == _ENTRY and piece.strip():
            if _id_of(_value(piece)) == key:
                piece, text = text, None
                if piece is None:
                    continue
            yield comma + bytes(piece)
            comma = b","
        elif what == _END and text:
            yield comma + text + b"\n]"
        elif what != _COMMA:
            yield bytes(piece)


def scan(occurrences: "Look", old: "Sequence[Task]") -> tuple[list[Task] | None, list[str]]:
    """Return (jobs, sentences for the owner) of the file; those of `old` go on where they are
    unchanged."""
    cron = occurrences.service
    found = []
    keys = []
    problems = []
    try:
        for index, entry in read(cron.file):
            try:
                job = job_of(entry, occurrences.zone)
                if job.key in keys:
                    raise ValueError('the id "%s" stands twice' % job.key)
                check_room(len(found))
            except (ValueError, OverflowError) as error:
                complain(problems, "CRON.json entry %d: %s." % (index + 1, error))
                continue
            keys.append(job.key)
            for same in old:
                if is_same(same, job):
                    same.skip_missed, same.notify = job.skip_missed, job.notify
                    job = same
            found.append(job)
    except ValueError as error:
        # The later jobs may return when the owner repairs the file; they must not run again then.
        for job in old:
            if job.key not in keys:
                cron.saved[job.key] = current(cron, job)
        text = BROKEN + ". The %d jobs before that run."
        complain(problems, text % (error, len(found)))
    else:
        prune(occurrences, found)
    return found, problems


def check_room(count: int) -> None:
    """Raise ValueError when so many jobs are as many as there may be."""
    if count >= _MAX_JOBS:
        raise ValueError("there are %d jobs already; remove one first" % _MAX_JOBS)


def is_same(one: Task, other: Task) -> bool:
    """Return whether two jobs have the same id and times."""
    return _timing(one) == _timing(other)


def _timing(job):
    return job.key, job.every_s, job.free or job.phase_s, job.cron, job.at, job.tz, job.enabled


def job_of(entry: "Any", zone: Zone) -> Task:
    """Return the job (a Task) of an entry; ValueError names the mistake."""
    if not isinstance(entry, dict):
        raise ValueError("it is no object (%s)" % entry)
    job = Task()
    job.key = entry.get("id")
    if not isinstance(job.key, str) or not 2 < len(json.dumps(job.key)) <= _MAX_ID + 2:
        raise ValueError('it needs an "id" of at most %d plain letters' % _MAX_ID)
    schedule = entry.get("schedule")
    payload = entry.get("payload")
    if not isinstance(schedule, dict) or not isinstance(payload, dict):
        raise ValueError('it needs a "schedule" and a "payload"')
    text = payload.get("message")
    if not isinstance(text, str) or not text.strip():
        raise ValueError('its payload needs a "message"')
    kind = _one_of(payload, "kind", ("agent_turn", "message"))
    job.notify = kind == "message"
    job.enabled = _one_of(entry, "enabled", (True, False))
    job.skip_missed = _one_of(entry, "missed", ("once", "skip")) == "skip"
    own = Zone(str(schedule.get("tz") or zone.text))
    if own.text != zone.text:
        zone = own
        job.tz = own.text
    kind = _one_of(schedule, "kind", ("cron", "every", "at"))
    if kind == "at":
        job.at = _time(schedule.get("at"), zone)
    elif kind == "every":
        every_s = schedule.get("every_seconds")
        if not isinstance(every_s, int) or not 1 <= every_s <= 366 * 86400:
            raise ValueError('"every_seconds" is a number from 1 to 31622400')
        job.every_s = every_s
        job.free = "anchor" not in schedule
        if not job.free:
            job.phase_s = _time(schedule["anchor"], zone) % every_s
    else:
        job.cron = five_fields(str(schedule.get("expr")))
        Cron(job.cron)
    return job


def _one_of(place, name, values):
    """Return the value of that name, else the first of `values`; only "kind" must be given."""
    value = place.get(name, None if name == "kind" else values[0])
    if value not in values:
        raise ValueError(
            'its "%s" must be one of %s' % (name, ", ".join([str(v) for v in values]))
        )
    return value


def _time(value, zone):
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    return zone.parse(str(value))


def lines(cron: "Service") -> "Iterator[str]":
    """Yield one line for each job of the file: its id, its time, its next run."""
    zone = cron.app.get("zone")
    moment = Moment(cron.app.clock)
    keys = []
    try:
        for _, entry in read(cron.file):
            try:
                job = job_of(entry, zone)
            except (ValueError, OverflowError):
                continue  # the owner is told when the service reads it
            if job.key not in keys:
                keys.append(job.key)
                yield _line(cron, entry, job, moment, zone)
    except ValueError as error:
        yield BROKEN % error


def _line(cron, entry, job, moment, zone):
    due.start_timer(job, moment)
    for known in cron.tasks or ():
        if is_same(known, job):
            job.off_since, job.why, job.failures = known.off_since, known.why, known.failures
            if cron.was_trusted == moment.trusted:
                job = known
    due_s = due.due_at(job, moment, zone)
    if due_s is not None:
        text = "next " + zone.short(due_s)
    elif job.off_since or 0 < job.at <= job.last:
        text = "off: " + (job.why or "done")
    else:
        text = "waits for the clock to be set" if job.enabled else "disabled"
    if job.failures:
        text += ", failed %d times in a row" % job.failures
    when = "every %d s" % job.every_s
    if job.cron or job.at:
        when = "cron " + job.cron if job.cron else "at " + zone.short(job.at)
    if job.cron and job.tz:
        when += " in %s" % entry["schedule"]["tz"]
    return "%s (%s): %s" % (job.key, when, text)


def add(cron: "Service", entry: dict) -> str:
    """
    Add an entry, in the place of one with the same id, and return `times` of it; ValueError names
    the mistake. The service reads a new job when the memory is free.
    """
    app = cron.app
    job = job_of(entry, app.get("zone"))
    if job.at and app.clock.trusted and job.at <= app.clock.now():
        raise ValueError(
            "that time is over; it is %s now" % app.get("zone").short(app.clock.now())
        )
    known = keys(cron.file)
    if job.key not in known:
        check_room(len(known))
    rewrite(cron.file, job.key, entry)
    if job.key in cron.saved or any(job.key == other.key for other in cron.tasks or ()):
        _restart(cron, job.key)
    cron.poke()
    return _when(cron, job)


def times(cron: "Service", entry: dict) -> str:
    """Return in words when the job of an entry would run, with the next three times; ValueError if
    it is wrong."""
    return _when(cron, job_of(entry, cron.app.get("zone")))


def _when(cron, job):
    zone = cron.app.get("zone")
    clock = cron.app.clock
    if job.at:
        return "once, at " + zone.short(job.at)
    if job.every_s:
        return "every %d s" % job.every_s
    text = "cron " + job.cron
    if not clock.trusted:
        return text + ", once the clock is set"
    at = clock.now()
    found = []
    for _ in range(_SHOWN):
        at = Cron(job.cron).next_after(at, zone)
        found.append(zone.short(at))
    return text + ", next " + ", ".join(found)


def remove(cron: "Service", key: str) -> None:
    """Remove a job; ValueError for an unknown id."""
    _check(cron, key)
    rewrite(cron.file, key, None)
    cron.poke()


def enable(cron: "Service", key: str, enabled: bool) -> None:
    """Switch a job on, also after failures, or off; ValueError for an unknown id."""
    _check(cron, key)
    entry = find(cron.file, key)
    entry["enabled"] = enabled
    rewrite(cron.file, key, entry)
    _restart(cron, key)
    cron.poke()


def _check(cron, key):
    known = keys(cron.file)
    if key not in known:
        raise ValueError('there is no job "%s"; jobs: %s' % (key, ", ".join(known) or "none"))


def _restart(cron, key):
    """Forget why a job was off, and count from now."""
    occurrences = Occurrences(cron)
    if key in cron.saved or all(key != job.key for job in cron.tasks or ()):
        reload(occurrences)
    for job in cron.tasks or ():
        if job.key == key:
            job.failures = job.off_since = job.not_before_s = 0
            job.why = ""
            if occurrences.moment.trusted:
                due.start_timer(job, occurrences.moment)
    occurrences.save()
