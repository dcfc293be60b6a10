# tenner schedule.tell: what the heartbeat tells people about itself.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.schedule.book import SENT, Book
from tenner.schedule.watch import look


def status(heartbeat):
    """Yield the chain of gates, line by line."""
    from tenner.schedule.decide import chain
    from tenner.schedule.gates import silent

    book = Book(heartbeat)
    look(book)
    yield "heartbeat every %d s, %d timed tasks%s" % (
        heartbeat.every_s,
        len(heartbeat.tasks or ()),
        "" if book.trusted else ", clock not set",
    )
    question = book.question(heartbeat.tasks, False, True, True)
    for index, (name, reason) in enumerate(chain(*question)):
        yield "%d %s: %s" % (index + 1, name, reason or "ok")
    if heartbeat.saved.get("f"):
        yield "failed %d times in a row" % heartbeat.saved["f"]
    if silent(heartbeat):
        yield "no answer from %s" % ", ".join(silent(heartbeat))


def why(heartbeat, count=10):
    """Yield the last decisions, oldest first, and what is next."""
    book = Book(heartbeat)
    look(book)
    for line in book.tail(count):
        yield _describe(line, book.zone)
    wake_at_s = book.next_wake()
    yield "next: nothing" if wake_at_s is None else "next: in %d s" % (wake_at_s - book.mono_s)


def _describe(line, zone):
    """One line of the log as a person reads it."""
    name = line.get("job") or line.get("k", "?")
    if "n" in line:
        name = "line %d" % line["n"]
    text = "%s %s: %s" % (zone.short(line.get("t", 0)), name, line.get("r", "?"))
    if "why" in line:
        text += ", %s" % line["why"]
    if line.get("tokens"):
        text += ", %s%d tokens" % ("about " if line.get("est") else "", line["tokens"])
    if "ms" in line:
        text += ", %d ms" % line["ms"]
    if "sent" in line:
        text += ", " + SENT.get(line["sent"], "?")
    return text
