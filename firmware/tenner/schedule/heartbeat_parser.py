# tenner schedule.heartbeat_parser: reads HEARTBEAT.md, line by line, into general text and tasks.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`read(lines)` is the parser: it takes numbered lines and yields what it finds, so that a file of
any length passes through a buffer of one task.

A task is a list item (`-`, `*`, `+` or `1.`), with an open box or none. Lines indented below it
belong to it, unless they are items with a box or clauses of their own. Items that are ticked
are left out, with all that is indented below them and has no box of its own. Clauses stand in
brackets at the start of an item: (every 1m; when room.temperature > 30).
"""

import re

from tenner.port.compat import const
from tenner.schedule.cronexpr import Cron
from tenner.store.hours import Hours, minute_of_day

# One task's text at most; a longer one is cut and the owner told. It all goes to the model.
_MAX_TEXT = const(2000)
_MAX_LINE = const(500)
_MAX_FRONT_LINES = const(40)
_MAX_S = const(366 * 86400)

GENERAL = 0  # (GENERAL, line, text, None)
TASK = 1  # (TASK, line, text, clauses)
PROBLEM = 2  # (PROBLEM, line, sentence, None)

_ITEM = r"([-*+]|[0-9]+[.)])([ \t]+|$)(\[[ xX]?\])?"


# --- lines


def file_lines(path):
    """Numbered lines of a file; an overlong line comes in pieces with the same number."""
    number = 1
    with open(path, "rb") as f:
        line = f.readline(_MAX_LINE)
        while line:
            whole = line.endswith(b"\n")
            rest = b""
            if not whole and len(line) >= _MAX_LINE:
                # Between two words, or at least not inside a character of UTF-8.
                cut = line.rfind(b" ", _MAX_LINE // 2, _MAX_LINE - 1) + 1 or _MAX_LINE - 4
                while line[cut] & 0xC0 == 0x80 and cut > _MAX_LINE // 2:
                    cut -= 1
                # Indented, so that it goes on with what it belongs to.
                line, rest = line[:cut], b"   " + line[cut:]
            try:
                yield number, line.decode()
            except UnicodeError:
                yield number, bytes(byte if byte < 128 else 63 for byte in line).decode()
            number += whole
            line = rest + f.readline(_MAX_LINE - len(rest))


def _without_comments(numbered_lines):
    """The lines less their HTML comments, each of which may span several."""
    opened = 0
    for number, line in numbered_lines:
        line = line.rstrip("\r\n")
        if number == 1 and line[:1] == "\ufeff":
            line = line[1:]
        kept = ""
        while True:
            text, mark, line = line.partition("-->" if opened else "<!--")
            kept += "" if opened else text
            if not mark:
                break
            opened = 0 if opened else number
        yield number, kept
    if opened:
        yield opened, ValueError("the comment opened here is never closed; expected -->")


def _without_front_matter(numbered_lines):
    """The lines less a `---` block of `key: value` at the very top."""
    lines = _without_comments(numbered_lines)
    held = []
    for number, line in lines:
        held.append((number, line))
        body = "" if isinstance(line, ValueError) else line.rstrip()
        if number == 1 and body == "---":
            continue
        if number > 1 and body in ("---", "..."):
            held = []
        # A list between two rules is no front matter.
        elif number > 2 or (number == 2 and ":" in body and body[:2] != "- "):
            if number < _MAX_FRONT_LINES:
                continue
        break
    yield from held
    yield from lines


# --- items


def read(numbered_lines):
    """Yield (GENERAL | TASK | PROBLEM, line number, text, clauses or None) in file order."""
    task = None  # [line, indent, ticked, text]
    for number, line in _without_front_matter(numbered_lines):
        if isinstance(line, ValueError):
            yield PROBLEM, number, str(line), None
            continue
        body = line.strip()
        line = line.replace("\t", "    ")
        indent = len(line) - len(line.lstrip())
        if _is_mark(body):
            if body[:1] == "#":
                yield from _finish(task)
                task = None
            continue
        text, box = _item(body)
        below = task and indent > task[1]
        if below and (
            text is None or not (box or parse_clauses(text)[0] or parse_clauses(text)[2])
        ):
            # Text goes on, a nested item keeps its mark and its line.
            if not task[2] and len(task[3]) <= _MAX_TEXT:
                task[3] += (" " if text is None else "\n") + body
            continue
        yield from _finish(task)
        task = None
        if text is None:
            yield GENERAL, number, body, None
        else:
            ticked = box in ("[x]", "[X]")
            task = [number, indent, ticked, "" if ticked else text]
    yield from _finish(task)


def _finish(task):
    text = task[3].strip() if task else ""
    if not text:
        return
    line = task[0]
    if len(text) > _MAX_TEXT:
        text = text[:_MAX_TEXT]
        yield PROBLEM, line, "the task is cut after %d characters; shorten it" % _MAX_TEXT, None
    clauses, text, problem = parse_clauses(text)
    if not text:
        problem = "nothing stands behind the brackets; expected a task"
    if problem:
        yield PROBLEM, line, problem, None
    if text:
        yield TASK, line, text, clauses


def _is_mark(body):
    """Blank lines, headings, rules and code fences say nothing by themselves."""
    if not body or body[:3] in ("```", "~~~"):
        return True
    if body[0] == "#":
        return body.lstrip("#")[:1] in ("", " ", "\t")
    marks = body.replace(" ", "")
    return len(marks) >= 3 and marks[0] in "-*_" and not marks.strip(marks[0])


def _item(body):
    """(text, box) of a list item; text None when it is none."""
    found = re.match(_ITEM, body)
    if not found:
        return None, ""
    text = body[len(found.group(0)) :]
    box = found.group(3) or ""
    if box and text[:1] not in ("", " ", "\t"):
        return box + text, ""
    return text.strip(), box


# --- clauses

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SIGNS = (">=", "<=", "==", "!=", ">", "<")
# What is expected, by clause.
_CLAUSES = {
    "every": "1s to 366d, such as every 10m",
    "daily": "HH:MM, such as daily 07:30",
    "cron": "",
    "when": "SENSOR.VALUE > NUMBER (or >=, <, <=, ==, !=, outside A..B, changes by N), "
    "then for DURATION, reset NUMBER on the other side",
    "hours": "",
    "model": "model and one name",
    "notify": "notify alone",
}


def parse_clauses(text):
    """Return (clauses, rest, problem) of one item's text. `problem` is a sentence or None."""
    if text[:1] != "(":
        return {}, text, None
    inner, bracket, rest = text[1:].partition(")")
    parts = [part.split() or [""] for part in inner.split(";")]
    if not any(words[0].lower() in _CLAUSES for words in parts):
        return {}, text, None
    clauses = {}
    problem = None if bracket else 'the bracket is never closed; expected ")"'
    for words in parts if bracket else ():
        name = words[0].lower()
        key = "every_s" if name == "every" else name
        try:
            if name not in _CLAUSES:
                problem = "is no clause; expected " + ", ".join(sorted(_CLAUSES))
            elif key in clauses:
                problem = "stands twice"
            else:
                clauses[key] = _clause(name, words[1:])
        except (ValueError, IndexError) as error:
            problem = "expected " + _CLAUSES[name] if _CLAUSES[name] else str(error)
        if problem:
            problem = '"%s": %s' % (" ".join(words), problem)
            break
    if ("every_s" in clauses) + ("daily" in clauses) + ("cron" in clauses) > 1:
        problem = problem or "expected one of every, daily and cron, not several"
    if "notify" in clauses and "model" in clauses:
        problem = problem or "notify asks no model; expected one of them, not both"
    return ({}, text, problem) if problem else (clauses, rest.strip(), None)


def _clause(name, words):
    """What a clause is worth; any ValueError or IndexError when it is wrong."""
    text = " ".join(words)
    if name == "when":
        return _condition(text)
    if name == "every":
        return _duration("".join(words))
    if name == "cron":
        Cron(text)
    elif name == "hours":
        Hours(text)
    elif name == "daily":
        if not 0 <= minute_of_day(text) < 1440:
            raise ValueError
    elif len(words) != (name == "model"):
        raise ValueError
    return text or True


def _duration(text):
    """Seconds of `10m`, `90s`, `1h`, `2d`."""
    # isdigit() of str takes foreign digits too, of bytes it does not.
    if len(text) > 9 or not text[:-1].encode().isdigit() or text[-1] not in _UNITS:
        raise ValueError
    seconds = int(text[:-1]) * _UNITS[text[-1]]
    if not 0 < seconds <= _MAX_S:
        raise ValueError
    return seconds


def _number(text):
    """int or float of a plain decimal number."""
    if text.strip("0123456789.+-"):
        raise ValueError
    return float(text) if "." in text else int(text)


def _condition(text):
    """SENSOR.VALUE op NUMBER [for D] [reset N] | outside A..B [for D] | changes by N"""
    # Spaces round the sign may be left out: room.temperature>30.
    for sign in _SIGNS:
        if sign in text:
            text = text.replace(sign, " %s " % sign)
            break
    name, op, *rest = text.split()
    sensor, _, value = name.rpartition(".")
    op = op.lower()
    number = rest.pop(0)
    found = {"sensor": sensor, "value": value, "op": op}
    if op == "outside":
        low, high = number.split("..")
        found["number"], found["number2"] = _number(low), _number(high)
        wrong = found["number"] > found["number2"]
    elif op == "changes" and number.lower() == "by":
        found["op"] = "changes by"
        found["number"] = _number(rest.pop(0))
        wrong = found["number"] <= 0 or rest
    else:
        found["number"] = _number(number)
        wrong = op not in _SIGNS
    while rest:
        word, argument, *rest = rest
        key = "for_s" if word.lower() == "for" else word.lower()
        wrong = wrong or key in found or key not in ("for_s", "reset")
        found[key] = _duration(argument) if key == "for_s" else _number(argument)
    if "reset" in found:
        beyond = found["reset"] - found["number"]
        wrong = wrong or op[0] not in "<>" or (beyond > 0 if op[0] == ">" else beyond < 0)
    if wrong or not sensor or not value:
        raise ValueError
    return found
