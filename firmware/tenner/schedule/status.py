# tenner schedule.status: the heartbeat's reports on itself to people.
# MIT license; Copyright (c) 2026 the tenner authors
"""The reports are made of dicts. With `json` behind a command they are its answer, a line each,
for programs."""

import json

from tenner import overlay
from tenner.port.compat import const
from tenner.schedule import (
    alarm_texts,
    decide,
    line_reading,
    notices,
    prose,
    rules,
    schedule_files,
)
from tenner.schedule.decide import chain
from tenner.schedule.occurrences import Occurrences
from tenner.schedule.reload import reload
from tenner.schedule.saved_state import SENT
from tenner.schedule.task import Moment
from tenner.sensors import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tenner.schedule.task import Task
    from tenner.schedule.types import Service

# Lines of the run log that a report reads, and groups of equal ones that it shows.
_ENTRIES = const(40)
_GROUPS = const(10)


async def heartbeat(service: "Service", args: str = "") -> str:
    """Return for each line how it is understood, and of a task its text, values, state,
    next look and last message."""
    try:
        await overlay.step("SCAN", rules.renew, service)
    except overlay.OutOfMemory:
        await overlay.step("SCAN", rules.do_without, service)
    await overlay.step("COMMAND", reread, service)
    rows = []
    if args != "json":
        try:
            rows = await overlay.step("READ", line_reading.rows, service)
        except overlay.OutOfMemory:
            pass  # the tasks alone are shown
    next_s = await overlay.step("COMMAND", times, service)
    lines = await overlay.step("COMMAND", _lines, service, next_s, rows, args == "json")
    if args == "json":
        return "\n".join(lines) or "[]"
    now = await overlay.step("COMMAND", _now, service)
    return "\n".join(await overlay.step("COMMAND", _around, service, lines, now))


async def answer(service: "Service", words: "Sequence[str]") -> str:
    """Return the answer to `use|ask|off LINE`, about the offer of a rule."""
    try:
        return await overlay.step("READ", prose.answer, service, words)
    except overlay.OutOfMemory:
        service.known = None
        return "Too little memory for that now. Write the rule into HEARTBEAT.md yourself."


async def reread(service: "Service") -> None:
    """Apply changes of the file and the clock, and have the service do so at once."""
    reload(Occurrences(service))
    service.parsed = None
    service.poke()


async def times(service: "Service") -> "list[int | None]":
    """Return for each task of HEARTBEAT.md the seconds until its next look, None when it waits for
    the clock."""
    occurrences = Occurrences(service)
    now = occurrences.moment.now
    found = [occurrences.due_at(task) for task in service.tasks or ()]
    return [None if due_s is None else max(due_s - now, 0) for due_s in found]


async def wake_s(service: "Service") -> int | None:
    """Return the seconds until the next look at anything, None when none is due."""
    occurrences = Occurrences(service)
    wake_at_s = occurrences.next_wake()
    return None if wake_at_s is None else wake_at_s - occurrences.moment.mono_s


async def _now(service):
    """Return why no task runs now, or that one is due."""
    question = Occurrences(service).question(service.tasks, False, True, True)
    stops = [reason for _, reason in chain(question) if reason]
    return stops[0] if stops else "due"


async def _lines(service, next_s, rows, is_json):
    if is_json:
        return [json.dumps(one) for one in tasks(service, next_s, True)]
    lines = []
    for one in tasks(service, next_s):
        while rows and rows[0][0] < one["line"]:
            lines.append(_row_line(rows.pop(0)))
        if rows and rows[0][0] == one["line"]:
            lines.append(_row_line(rows.pop(0)))
            lines.append("  " + _task_line(one))
        else:
            lines.append(("line %d: " % one["line"] if one["line"] else "") + _task_line(one))
    return lines + [_row_line(row) for row in rows]


def _row_line(row):
    first, last, _, sentence = row
    return ("line %d: %s" if first == last else "lines %d to %d: %s") % (
        (first, sentence) if first == last else (first, last, sentence)
    )


async def _around(service, lines, now):
    first = "heartbeat every %s" % (alarm_texts.span(service.every_s) or "never")
    first += zone_note(service) or ", clock not set"
    lines = [first] + lines + ["now: " + now]
    if service.failures:
        lines.append("failed %d times in a row" % service.failures)
    silent = notices.silent(service)
    if silent:
        lines.append("no answer from %s" % ", ".join(silent))
    return lines


def tasks(
    service: "Service", next_s: "Sequence[int | None] | None", is_json: bool = False
) -> "Iterator[dict]":
    """Yield a dict for each task of HEARTBEAT.md; `next_s` is as of `times`, or None. `is_json`:
    times have their zone."""
    moment = Moment(service.app.clock)
    zone = service.app.get("zone")
    shown = zone.iso if is_json else zone.short
    found = service.tasks or ()
    files = schedule_files.of(service)
    # Without a look before, the file may be gone.
    lines = files.lines() if found and files.signature() else iter(())
    for place, task in enumerate(found):
        one: dict = {"line": task.line}
        one["text"] = (
            _text(lines, task.line) if task.key else "the tasks without a time of their own"
        )
        one["next_s"] = next_s[place] if next_s else None
        one["last_run"] = shown(task.last) if moment.trusted and task.last > 0 else None
        if task.at and task.last >= task.at and moment.trusted:
            one["done"] = True
        if task.pending:
            one["waits"] = task.pending.reason
        condition = task.condition
        if condition:
            one["condition"] = decide.describe(condition)
            one["value"] = condition.seen
            one["unit"] = units.unit(condition.value)
            if condition.imperial:
                value, one["unit"] = units.imperial(condition.seen or 0, one["unit"])
                if condition.seen is not None:
                    one["value"] = value
            fault = service.faults.get(condition.sensor)
            if fault and fault[notices.COUNT]:
                # The value seen last is of a time before that.
                one["old_s"] = moment.now - fault[notices.SINCE]
            one["state"] = alarm_texts.state(task, moment, zone)
            if one["state"] == "clear" and ("old_s" in one or condition.seen is None):
                one["state"] = "cannot be read" if "old_s" in one else "not read yet"
            one["alarm"] = condition.alarm[0] if isinstance(condition.alarm, list) else None
            one["told"] = shown(condition.told) if condition.told else None
        yield one


def text_of(service: "Service", task: "Task") -> str:
    """Return the text of an item behind its brackets."""
    return _text(schedule_files.of(service).lines(), task.line)


def _text(lines, wanted):
    """Return the text behind the brackets of this line, which none of the iterator `lines` comes
    before; without the parser, which is large."""
    for number, line in lines:
        if number == wanted:
            text = line.strip().lstrip("-*+0123456789.) ")
            if text[:3] in ("[ ]", "[] "):
                text = text[3:].strip()
            return text[text.find(")") + 1 :].strip() if text[:1] == "(" else text
    return ""


def _task_line(one):
    pieces = [alarm_texts.shown(one["text"])]
    if "condition" in one:
        pieces.append("%s%s: %s" % (one["condition"], seen(one), one["state"]))
    if "waits" in one:
        pieces.append("waits: " + one["waits"])
    next_s = one["next_s"]
    if one.get("done"):
        return "; ".join(pieces + ["done at " + one["last_run"]])
    pieces.append(
        "next in %s" % alarm_texts.span(next_s) if next_s is not None else "waits for the clock"
    )
    if one.get("told"):
        pieces.append("last told " + one["told"])
    return "; ".join(pieces)


def seen(one: dict, unit: str = "") -> str:
    """Return ` (now 28.5)`, or ` (28.5, old: 24 min)` of a silent sensor; "" without a value."""
    if one["value"] is None:
        return ""
    text = units.show(one["value"]) + unit
    if "old_s" not in one:
        return " (now %s)" % text
    return " (%s, old: %s)" % (text, alarm_texts.span(one["old_s"]) or "?")


async def why(service: "Service", args: str = "") -> str:
    """Return the last decisions, equal ones together, and the time of the next."""
    await overlay.step("COMMAND", reread, service)
    next_s = await overlay.step("COMMAND", wake_s, service)
    lines = await overlay.step("COMMAND", _groups, service, args == "json")
    if args == "json":
        lines.append(json.dumps({"next_s": next_s}))
    else:
        lines.append(await overlay.step("COMMAND", _next, service, next_s))
    return "\n".join(lines)


async def _next(service, next_s):
    text = "next: nothing" if next_s is None else "next: in %d s" % next_s
    return text + zone_note(service)


def zone_note(service: "Service") -> str:
    """Return `; times are UTC+01:00` for a report with times; "" while the clock is not set."""
    clock = service.app.clock
    if not clock.trusted:
        return ""
    return "; times are " + service.app.get("zone").name(clock.now())


async def _groups(service, is_json):
    make = json.dumps if is_json else _group_line
    return [make(one) for one in decisions(service, is_json)]


def decisions(service: "Service", is_json: bool = False) -> list[dict]:
    """Return the last decisions, oldest first, equal ones of a task together. `is_json`: times
    have their zone."""
    groups: list = []
    zone = service.app.get("zone")
    for entry in recent(service, _ENTRIES):
        _gather(groups, entry, zone.iso if is_json else zone.short)
    return groups[-_GROUPS:]


def recent(service: "Service", count: int) -> "Iterator[dict]":
    """Yield about the last `count` entries of the run log, oldest first, one at a time."""
    files = schedule_files.of(service)
    held = list(service.held)
    skip = sum([1 for _ in files.runs()]) + len(held) - count
    for lines in (files.runs(), held):
        for line in lines:
            skip -= 1
            entry = _entry(line) if skip < 0 else None
            if entry is not None:
                yield entry


def _entry(line):
    """Return the entry of a line, None for a torn one: MicroPython's reader accepts some of
    those."""
    if isinstance(line, str):
        line = line.encode()
    try:
        return json.loads(line.decode()) if line[:1] + line[-1:] == b"{}" else None
    except ValueError:
        return None


def _gather(groups, entry, shown):
    """Merge an entry of the log with the equal ones of its task, as the newest group."""
    name = entry.get("job") or entry.get("k", "?")
    if "n" in entry:
        name = "line %d" % entry["n"]
    at = shown(entry.get("t", 0))
    one = {"task": name, "at": at, "result": entry.get("r", "?"), "times": 1, "since": at}
    for key in ("why", "tokens", "ms", "sent", "est"):
        if key in entry:
            one[key] = entry[key]
    if one["result"] != "ran":
        for other in groups:
            if (other["task"], other["result"], other.get("why")) == (
                name,
                one["result"],
                one.get("why"),
            ):
                one["times"] = other["times"] + 1
                one["since"] = other["since"]
                groups.remove(other)
                break
    groups.append(one)


def _group_line(one):
    text = "%s %s: %s" % (one["at"], one["task"], one["result"])
    if "why" in one:
        text += ", %s" % one["why"]
    if one.get("tokens"):
        text += ", %s%d tokens" % ("about " if one.get("est") else "", one["tokens"])
    if "ms" in one:
        text += ", %d ms" % one["ms"]
    if "sent" in one:
        text += ", " + SENT.get(one["sent"], "?")
    if one["times"] > 1:
        text += " (\u00d7%d since %s)" % (one["times"], one["since"][11:])
    return text
