# tenner schedule.status: what the heartbeat tells people about itself.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.schedule import faults, heartbeat_tasks
from tenner.schedule.decide import chain
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.reload import reload
from tenner.schedule.run_log import SENT


def status(heartbeat):
    """Yield the chain of gates, line by line."""
    occurrences = _look(heartbeat)
    yield "heartbeat every %d s, %d timed tasks%s" % (
        heartbeat.every_s,
        len(heartbeat.tasks or ()),
        "" if occurrences.moment.trusted else ", clock not set",
    )
    question = occurrences.question(heartbeat.tasks, False, True, True)
    for index, (name, reason) in enumerate(chain(question)):
        yield "%d %s: %s" % (index + 1, name, reason or "ok")
    if heartbeat.failures:
        yield "failed %d times in a row" % heartbeat.failures
    silent = faults.silent(heartbeat)
    if silent:
        yield "no answer from %s" % ", ".join(silent)


def why(heartbeat, count=10):
    """Yield the last decisions, oldest first, and what is next."""
    occurrences = _look(heartbeat)
    for entry in occurrences.log.tail(count):
        yield _describe(entry, occurrences.zone)
    wake_at_s = occurrences.next_wake()
    if wake_at_s is None:
        yield "next: nothing"
    else:
        yield "next: in %d s" % (wake_at_s - occurrences.moment.mono_s)


def _look(heartbeat):
    occurrences = Occurrences(heartbeat)
    reload(occurrences, heartbeat_tasks.scan)
    return occurrences


def _describe(entry, zone):
    """An entry of the log as a person reads it."""
    name = entry.get("job") or entry.get("k", "?")
    if "n" in entry:
        name = "line %d" % entry["n"]
    text = "%s %s: %s" % (zone.short(entry.get("t", 0)), name, entry.get("r", "?"))
    if "why" in entry:
        text += ", %s" % entry["why"]
    if entry.get("tokens"):
        text += ", %s%d tokens" % ("about " if entry.get("est") else "", entry["tokens"])
    if "ms" in entry:
        text += ", %d ms" % entry["ms"]
    if "sent" in entry:
        text += ", " + SENT.get(entry["sent"], "?")
    return text
