# tenner schedule.line_reading: how each line of HEARTBEAT.md is understood, in the owner's words.
# MIT license; Copyright (c) 2026 the tenner authors
"""
A reading is {"line", "kind", "text", "calls_per_day", "problem", "suggestion"}. The kinds are
alarm, timed, beat, job, background, done and off.
"""

from tenner.port.compat import const
from tenner.schedule import heartbeat_parser, heartbeat_tasks, known_values, schedule_files
from tenner.sensors import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tenner.schedule.known_values import Known
    from tenner.schedule.types import Reading

# Of an answer to a model, and of a report to a person.
_MOST_LETTERS = const(900)
_MOST_ROWS = const(64)
_GOES_ON = "goes on with line "
_DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_BEYOND = {
    ">": "above %s",
    "<": "below %s",
    ">=": "at %s or more",
    "<=": "at %s or less",
    "==": "at %s",
    "!=": "at anything but %s",
    "changes by": "when it has changed by %s",
    "drops by": "when it has fallen by %s",
    "rises by": "when it has risen by %s",
}


def readings(
    lines: "Callable[[], Iterable[tuple[int, str]]]",
    known: "Known | None",
    every_s: int,
    rules: "dict | None" = None,
    suggest: "Callable[[str, str], str] | None" = None,
    heartbeat: "Reading | None" = None,
    is_placed: bool = False,
) -> "Iterator[dict]":
    """
    Yield a reading of each line that is neither empty nor a heading; `lines` gives the numbered
    ones, `every_s` is the time between beats, `rules` as in clauses.parse_clauses;
    `suggest(text, problem)` gives the right line, `heartbeat` knows whom `escalate` may name;
    `is_placed`: the board knows where it is.
    """
    is_task = True
    for kind, _, _, _ in heartbeat_parser.read(lines(), known, rules):
        if kind in (heartbeat_parser.TASK, heartbeat_parser.OFF):
            is_task = False
            break
    # (number, is it indented) of the lines so far without a reading.
    open_lines: list[tuple[int, bool]] = []
    problem = None
    last = None
    for kind, line, text, clauses in heartbeat_parser.read(
        _noted(lines(), open_lines), known, rules
    ):
        if kind == heartbeat_parser.PROBLEM:
            problem = (line, text)
            continue
        while open_lines and open_lines[0][0] < line:
            yield _rest(open_lines.pop(0), last)
        if open_lines and open_lines[0][0] == line:
            open_lines.pop(0)
        said = problem[1] if problem and problem[0] == line else None
        if heartbeat and clauses and "escalate" in clauses:
            said = heartbeat_tasks.unknown(heartbeat, clauses) or said
        if clauses and clauses.get("cron", "")[:3] == "sun" and not is_placed:
            kind, said = heartbeat_parser.OFF, heartbeat_tasks.NO_PLACE
        last = _reading(kind, line, text, clauses, said, every_s, is_task, known)
        if suggest and last["problem"] and said != heartbeat_tasks.NO_PLACE:
            last["suggestion"] = suggest(text, last["problem"])
        problem = None
        yield last
    for one in open_lines:
        row = _rest(one, last)
        if problem and problem[0] == one[0]:
            row["problem"] = problem[1]
        yield row


def brief(row: dict) -> dict:
    """Return of a reading the part that a page shows; without calls where there are none."""
    names = ("line", "kind", "text") + (("calls_per_day",) if row["calls_per_day"] else ())
    return {name: row[name] for name in names}


def _of(heartbeat):
    known = known_values.load(heartbeat.app.workspace)
    if known:
        known.imperial = heartbeat.app.config.get("units") == "imperial"
    files = schedule_files.of(heartbeat)
    lines = files.lines if files.signature() else lambda: ()
    return readings(
        lines,
        known,
        heartbeat.every_s or 0,
        heartbeat.rules,
        None,
        heartbeat,
        heartbeat_tasks.is_placed(heartbeat.app),
    )


def changed(heartbeat: "Reading", new: "list[int]") -> str:
    """Return how the board understands the `new` lines of its file and those with a mistake, for
    the model that has just written them."""
    item = None
    said = ""
    more = 0
    for row in _of(heartbeat):
        goes_on = row["text"][: len(_GOES_ON)] == _GOES_ON
        if not goes_on:
            item = row
        if not (row["line"] in new or row["problem"]) or item is None:
            continue
        piece = "\nline %d: %s" % (item["line"], sentence(item))
        if len(said) + len(piece) > _MOST_LETTERS:
            more += 1
        else:
            said += piece
        item = None
    if not said:
        return ""
    said = "\nThe board reads it so; tell the owner:" + said
    return said + ("\n... and %d more; /heartbeat shows them" % more if more else "")


async def rows(heartbeat: "Reading") -> list[list]:
    """Return [first line, last line, kind, sentence] of the lines; equal neighbors are one."""
    found: list[list] = []
    for row in _of(heartbeat):
        said = sentence(row)
        if found and said == found[-1][3] and row["kind"] in ("beat", "background", "done"):
            found[-1][1] = row["line"]
        elif said[: len(_GOES_ON)] != _GOES_ON and len(found) < _MOST_ROWS:
            found.append([row["line"], row["line"], row["kind"], said])
    return found


def sentence(row: dict) -> str:
    """Return the sentence of a reading, and its mistake, unless that is in it."""
    said, problem = row["text"], row["problem"]
    return said if not problem or problem in said else "%s But: %s." % (said, problem)


def _noted(numbered_lines, numbers):
    """Yield the lines; keep the numbers of those with text."""
    for number, line in numbered_lines:
        body = line.strip()
        is_heading = body[:1] == "#" and body.lstrip("#")[:1] in ("", " ", "\t")
        if body and not is_heading and (not numbers or numbers[-1][0] != number):
            numbers.append((number, line[:1] in " \t"))
        yield number, line


def _row(line, kind, text, calls, problem=None):
    return {
        "line": line,
        "kind": kind,
        "text": text,
        "calls_per_day": calls,
        "problem": problem,
        "suggestion": None,
    }


def _rest(one, last):
    """Return the reading of a line without one of its own: the rest of an item, a comment."""
    line, is_indented = one
    if last and is_indented and last["kind"] != "background":
        return _row(line, last["kind"], _GOES_ON + "%d." % last["line"], 0)
    return _row(line, "background", "background, runs nothing.", 0)


def _reading(kind, line, text, clauses, problem, every_s, is_task, known):
    if kind == heartbeat_parser.DONE:
        return _row(line, "done", "done: costs nothing.", 0)
    if kind == heartbeat_parser.OFF:
        problem = (problem or "not understood").replace(heartbeat_parser.OFF_NOTE, "")
        return _row(line, "off", "off: %s" % problem, 0, problem)
    if kind == heartbeat_parser.GENERAL and not is_task:
        return _row(line, "background", "background, runs nothing.", 0, problem)
    if not clauses:
        calls = _per_day(every_s)
        said = "asks the model at every beat: %s a day, for all such lines together." % _calls(
            calls
        )
        return _row(line, "beat", said, calls, problem)
    if "once" in clauses:
        return _job(line, clauses, problem)
    if "when" in clauses and not ("daily" in clauses or "cron" in clauses):
        return _row(line, "alarm", _alarm(clauses, known), 0, problem)
    return _timed(line, clauses, problem, every_s, known)


def _per_day(every_s):
    calls = 86400 / every_s if every_s else 0
    return int(calls) if calls == int(calls) else round(calls * 100) / 100


def _calls(calls):
    return "1 call" if calls == 1 else "%s calls" % units.show(calls)


def _amount(term, known, number, has_unit=True):
    """Return a number of a condition with its unit."""
    op, sensor, value = term["op"], term["sensor"], term["value"]
    sign = known.unit(sensor, value) if known else units.unit(value)
    if known and known.imperial:
        number, sign = units.imperial(number, sign, " by" in op)
    return units.show(number) + (" " + sign if sign and has_unit else "")


def _term(term, known):
    op = term["op"]
    if op == "changes":
        return "when it changes"
    if op == "outside":
        low = _amount(term, known, term["number"], False)
        return "outside %s..%s" % (low, _amount(term, known, term["number2"]))
    text = _BEYOND[op] % _amount(term, known, term["number"])
    return text + (" within %s" % span(term["within_s"]) if "within_s" in term else "")


def _end(term, known):
    """Return when an alarm of one term is over, "" where it has no end to tell."""
    op, low = term["op"], term["number"]
    if op not in (">", "<", ">=", "<="):
        return ""
    margin = abs(low) / 100
    end = term.get("reset", low + margin if op[0] == "<" else low - margin)
    side = "below" if op[0] == ">" else "above"
    return " and when it is %s %s again" % (side, _amount(term, known, end))


def _condition(when, known):
    """Return (sensors, limits, end) of a condition in words."""
    terms = when.get("all") or when.get("any") or [when]
    joint = " or " if "any" in when else " and "
    names = []
    for term in terms:
        name = "%s.%s" % (term["sensor"], term["value"])
        if name not in names:
            names.append(name)
    said = []
    for term in terms:
        text = _term(term, known)
        said.append(
            text if len(names) == 1 else "%s.%s %s" % (term["sensor"], term["value"], text)
        )
    text = joint.join(said)
    if "for_s" in when:
        text += " for %s" % span(when["for_s"])
    return " and ".join(names), text, _end(terms[0], known) if len(terms) == 1 else ""


def _alarm(clauses, known):
    names, said, end = _condition(clauses["when"], known)
    every_s = clauses.get("every_s", 60)
    often = "every minute" if every_s == 60 else "every " + span(every_s)
    text = "alarm. Looks at %s %s%s; " % (names, often, _hours(clauses))
    if clauses.get("notify"):
        text += "tells you %s%s" % (said, end)
    else:
        text += "asks the model once %s%s" % (said, end if clauses.get("resolve") else "")
    if "repeat_s" in clauses:
        text += ", and every %s meanwhile" % span(clauses["repeat_s"])
    if clauses.get("urgent"):
        text += ", in quiet hours too"
    return text + (". Free." if clauses.get("notify") else ": 1 call an alarm.")


def _hours(clauses):
    return " from %s to %s" % tuple(clauses["hours"].split("-")) if "hours" in clauses else ""


def _job(line, clauses, problem):
    at = clauses["once"]
    if isinstance(at, int):
        said = "in " + span(at)
    else:
        said = ("tomorrow at " if at[0] == "+" else "at the next ") + at[-5:]
    how = ", sends its text. Free." if clauses.get("notify") else ", asks the model: 1 call."
    return _row(line, "job", "once, %s%s" % (said, how), 0, problem)


def _timed(line, clauses, problem, every_s, known):
    if "daily" in clauses:
        when, calls = "daily at " + clauses["daily"], 1
    elif "cron" in clauses:
        when, calls = _cron(clauses["cron"])
    else:
        every_s = clauses.get("every_s", every_s)
        when, calls = "every " + span(every_s), 86400 / every_s if every_s else 0
        if "hours" in clauses:
            start, end = [int(one[:2]) * 60 + int(one[3:]) for one in clauses["hours"].split("-")]
            calls = calls * ((end - start) % 1440 or 1440) / 1440
    when += _hours(clauses)
    if "when" in clauses:
        names, said, _ = _condition(clauses["when"], known)
        when += ", if %s is %s" % (names, said)
    calls = round(calls * 100) / 100
    calls = int(calls) if calls == int(calls) else calls
    if clauses.get("notify"):
        return _row(line, "timed", when + ", sends its text. Free.", 0, problem)
    most = "at most " if "when" in clauses else ""
    text = "%s, asks the model: %s%s a day." % (when, most, _calls(calls))
    return _row(line, "timed", text, calls, problem)


def _cron(expr):
    """Return (the times in words, runs a day on average) of a cron expression."""
    if expr[:3] == "sun":
        event, minus, minutes = expr.replace("+", "-").partition("-")
        if not minus:
            return "daily at " + event, 1
        side = "after" if "+" in expr else "before"
        return "daily %s %s %s" % (span(int(minutes) * 60), side, event), 1
    minute, hour, day, month, weekday = expr.split()
    number = _count(minute, 60) * _count(hour, 24)
    if month != "*":
        number = number * _count(month, 12) / 12
    if day != "*" or weekday != "*":
        number = number * min((_count(day, 31) / 30 if day != "*" else 0)
                              + (_count(weekday, 7) / 7 if weekday != "*" else 0), 1)  # fmt: skip
    if month != "*" or not (minute + hour).isdigit():
        return "at the times of cron %s" % expr, number
    at = " at %02d:%02d" % (int(hour), int(minute))
    if day == weekday == "*":
        return "daily" + at, number
    if weekday == "*" and day.isdigit():
        return "monthly on day %s%s" % (day, at), number
    if day != "*" or not weekday.replace(",", "").replace("-", "").isdigit():
        return "at the times of cron %s" % expr, number
    names = _DAYS.split()
    days = weekday.replace("-", ",").split(",")
    return "on %s%s" % (
        (" to " if "-" in weekday else ", ").join([names[int(one) % 7] for one in days]),
        at,
    ), number


def _count(field, most):
    """Return how many of `most` values a field of a cron expression has."""
    number = 0
    for part in field.split(","):
        span_text, _, step = part.partition("/")
        first, dash, last = span_text.partition("-")
        width = most if span_text == "*" else 1
        if dash:
            width = (int(last) - int(first) if (first + last).isdigit() else 4) + 1
        elif step and span_text != "*":
            width = most - (int(first) if first.isdigit() else 0)
        number += -(-width // int(step or 1))
    return min(number, most)


def span(seconds: int) -> str:
    """Return `10 min`, `1 h 30 min`, `2 d`."""
    text = ""
    for size, name in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if seconds >= size:
            text += " %d %s" % (seconds // size, name)
            seconds %= size
    return text[1:] or "0 s"
