# tenner schedule.heartbeat_parser: reads HEARTBEAT.md, line by line, into general text and tasks.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`read(lines)` is the parser: it takes numbered lines and yields one item at a time, so that a file
of any length passes through a buffer of one task.

A task is a list item (`-`, `*`, `+` or `1.`), with an open box or none. Lines indented below it
belong to it, unless they are items with a box or clauses of their own. The parser drops ticked
items, with all lines indented below them that have no box of their own. Clauses stand in brackets
at the start of an item: (every 1m; when room.temperature > 30).
"""

import re

from tenner.port.compat import const
from tenner.schedule.clauses import named_time, parse_clauses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# One task's text at most; a longer one is cut and the owner told. It all goes to the model.
_MAX_TEXT = const(2000)
_MAX_LINE = const(500)
_MAX_FRONT_LINES = const(40)

GENERAL = 0  # (GENERAL, line, text, None)
TASK = 1  # (TASK, line, text, clauses)
PROBLEM = 2  # (PROBLEM, line, sentence, None)
OFF = 3  # (OFF, line, text, None): behind its PROBLEM; it is not run

_OFF = const(" (the line is off until it is put right)")
_NAMES_TIME = const(
    "it names %s but is asked at every beat, which costs a model call each; write (daily %s) "
    "before it, or ask me for a reminder"
)
# Not raw: MicroPython's re takes `\t` for the letter t.
_ITEM = "([-*+]|[0-9]+[.)])([ \t]+|$)(\\[[ xX]?\\])?"


# --- lines


def file_lines(path: str) -> "Iterator[tuple[int, str]]":
    """Yield the numbered lines of a file; an overlong line comes in pieces with the same
    number."""
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
                # Indented, so that it continues the same item.
                line, rest = line[:cut], b"   " + line[cut:]
            try:
                yield number, line.decode()
            except UnicodeError:
                yield number, bytes(byte if byte < 128 else 63 for byte in line).decode()
            number += whole
            line = rest + f.readline(_MAX_LINE - len(rest))


def _without_comments(numbered_lines):
    """Yield the lines without HTML comments, each of which may span several."""
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
    """Yield the lines without a `---` block of `key: value` at the very top."""
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


def read(
    numbered_lines: "Iterable[tuple[int, str]]",
) -> "Iterator[tuple[int, int, str, dict | None]]":
    """Yield (GENERAL | TASK | PROBLEM | OFF, line number, text, clauses or None) in file order."""
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
            # Text continues the task; a nested item keeps its mark and its line.
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
    if problem:
        yield PROBLEM, line, problem + _OFF, None
        yield OFF, line, text, None
    elif text:
        time = None if clauses else named_time(text)
        if time:
            yield PROBLEM, line, _NAMES_TIME % (time, time), None
        yield TASK, line, text, clauses
    else:
        yield PROBLEM, line, "nothing stands behind the brackets; expected a task", None


def _is_mark(body):
    """Return whether a line has no text: a blank line, a heading, a rule or a code fence."""
    if not body or body[:3] in ("```", "~~~"):
        return True
    if body[0] == "#":
        return body.lstrip("#")[:1] in ("", " ", "\t")
    marks = body.replace(" ", "")
    return len(marks) >= 3 and marks[0] in "-*_" and not marks.strip(marks[0])


def _item(body):
    """Return (text, box) of a list item; text is None for other lines."""
    found = re.compile(_ITEM).match(body)
    if not found:
        return None, ""
    text = body[len(found.group(0)) :]
    box = found.group(3) or ""
    if box and text[:1] not in ("", " ", "\t") and (text[0] in "([:" or box == "[]"):
        # A link, for example.
        return box + text, ""
    return text.strip(), box
