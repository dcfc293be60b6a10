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
from tenner.schedule.clauses import named_time, parse_clauses, unknown_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tenner.schedule.known_values import Known

# One task's text at most; a longer one is cut and the owner told. It all goes to the model.
_MAX_TEXT = const(2000)
_MAX_LINE = const(500)
_MAX_FRONT_LINES = const(40)
#: More would keep the agent from all else while it reads.
MAX_FILE = const(32768)

GENERAL = 0  # (GENERAL, line, text, None)
TASK = 1  # (TASK, line, text, clauses)
PROBLEM = 2  # (PROBLEM, line, sentence, None)
OFF = 3  # (OFF, line, text, None): behind its PROBLEM; it is not run
DONE = 4  # (DONE, line, text, None)

OFF_NOTE = const(" (the line is off until it is put right)")
_NAMES_TIME = const(
    "it names %s but is asked at every beat, which costs a model call each; write (daily %s) "
    "before it, or ask me for a reminder"
)
# Not raw: MicroPython's re takes `\t` for the letter t.
_ITEM = "([-*+]|[0-9]+[.)])([ \t]+|$)(\\[[ xX]?\\])?"
# Other marks before an item.
_NUMBER = "(\\(?[0-9]?[0-9a-z][.)]|[0-9][0-9]?:|#[0-9]+)( +|\\()"
_BULLETS = (
    "\u2022\u2023\u2043\u25e6\u25cf\u25cb\u25a0\u25a1\u25aa\u25ab\u25c6\u25c7\u25b6\u25b8\u25ba\u30fb\u00b7"
    "\u2010\u2011\u2012\u2013\u2014\u2212\u2192\u21d2\u27a4\u27a2\u2794\u00bb\u203a\u203b\u2605\u2606\u2726\uff0d\uff0a\u25e6"
)
_OPENING = "([{\uff08\u3010\u300c\uff3b\u3014\uff5b"
_DONE = ("x]", "X]", "\u2713]", "\u2714]", "\u2611", "\u2713", "\u2714")
_NO_TEXT = const("from here on it is not UTF-8 text; save the file as UTF-8")
_TABLE = "a table runs nothing; write each rule as an item, such as - (daily 07:30) Report."


# --- lines


def file_lines(path: str) -> "Iterator[tuple[int, str]]":
    """Yield the numbered lines of a file, up to MAX_FILE; an overlong line comes in pieces with
    the same number."""
    number = 1
    left = MAX_FILE
    rest = b""
    with open(path, "rb") as f:
        while True:
            more = b"" if rest[-1:] == b"\n" else f.readline(_MAX_LINE - len(rest))
            left -= len(more)
            line = rest + more
            if left < 0 or not line:
                return
            whole = line.endswith(b"\n")
            rest = b""
            cut = line.find(b"\r") + 1
            if cut and line[cut : cut + 1] not in b"\n":
                # A line of an old Mac's.
                whole = True
                line, rest = line[:cut], line[cut:]
            elif not whole and len(line) >= _MAX_LINE:
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


def _without_comments(numbered_lines):
    """Yield the lines without HTML comments, each of which may span several."""
    opened = 0
    is_text = True
    for number, line in numbered_lines:
        if "\0" in line:
            # UTF-16, of all of the file or of lines that another program has added.
            if is_text:
                yield number, ValueError(_NO_TEXT)
            is_text = False
            continue
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
    known: "Known | None" = None,
    rules: "dict | None" = None,
) -> "Iterator[tuple[int, int, str, dict | None]]":
    """
    Yield (GENERAL | TASK | PROBLEM | OFF | DONE, line number, text, clauses or None) in file
    order. `known`, `rules`: as in clauses.parse_clauses.
    """
    task = None  # [line, indent, ticked, text]
    table = False
    running = False  # the line before is text that goes on in this one
    for number, line in _without_front_matter(numbered_lines):
        if isinstance(line, ValueError):
            yield PROBLEM, number, str(line), None
            if str(line) == _NO_TEXT:
                yield OFF, number, "", None
            continue
        body = line.strip()
        line = line.replace("\t", "    ")
        indent = len(line) - len(line.lstrip())
        was_running, running = running, False
        if _is_mark(body):
            # A heading that is a rule is one that somebody wanted.
            title = body.lstrip("#").strip() if body[:1] == "#" else ""
            if not title or title[0] not in _OPENING or not _is_rule(title, known, rules):
                if body[:1] == "#":
                    yield from _finish(task, known, rules)
                    task = None
                continue
            body = "- " + title
        if body[:1] == "|":
            yield from _finish(task, known, rules)
            task = None
            if not table and [
                1 for cell in body.split("|") if _is_rule(cell.strip(), known, rules)
            ]:
                table = True
                yield PROBLEM, number, _TABLE, None
            yield GENERAL, number, body, None
            continue
        table = False
        text, box = item(body)
        below = task and indent > task[1]
        if below and (text is None or not (box or _is_rule(text, known, rules))):
            if text is not None or not _is_bracket(body) or not _is_rule(body, known, rules):
                # Text continues the task; a nested item keeps its mark and its line.
                if not task[2] and len(task[3]) <= _MAX_TEXT:
                    task[3] += (" " if text is None else "\n") + body
                continue
        yield from _finish(task, known, rules)
        task = None
        if text is None:
            if was_running and not _is_bracket(body):
                clauses, problem = {}, None
            else:
                clauses, _, problem = parse_clauses(body, known, False, rules)
            if not clauses and not problem:
                running = body[-1:] not in ".!?:"
                yield GENERAL, number, body, None
                continue
            text = body
            indent += 1
        ticked = box in _DONE or (text[:2] == "~~" and text[-2:] == "~~")
        if ticked and text:
            yield DONE, number, text, None
        task = [number, indent, ticked, "" if ticked else text]
    yield from _finish(task, known, rules)


def _is_rule(text, known, rules):
    """Return whether a text begins with clauses, right or wrong."""
    clauses, _, problem = parse_clauses(text, known, True, rules)
    return bool(clauses or problem)


def _is_bracket(body):
    """Return whether a line begins with a bracket, or with decoration before one."""
    head = body.lstrip("*_`~> ")
    return head != "" and (head[0] in _OPENING or ord(head[0]) > 0x2000)


def _finish(task, known, rules):
    text = task[3].strip() if task else ""
    if not text:
        return
    line = task[0]
    if len(text) > _MAX_TEXT:
        text = text[:_MAX_TEXT]
        yield PROBLEM, line, "the task is cut after %d characters; shorten it" % _MAX_TEXT, None
    clauses, text, problem = parse_clauses(text, known, True, rules)
    if problem:
        yield PROBLEM, line, problem + OFF_NOTE, None
        yield OFF, line, text, None
    elif text:
        time = None if clauses else named_time(text)
        if time:
            yield PROBLEM, line, _NAMES_TIME % (time, time), None
        for problem in unknown_names(text, known) if known else ():
            yield PROBLEM, line, problem, None
        yield TASK, line, text, clauses
    else:
        yield PROBLEM, line, "nothing stands behind the brackets; expected a task", None
        yield OFF, line, task[3].strip(), None


def _is_mark(body):
    """Return whether a line has no text: a blank line, a heading, a rule or a code fence."""
    if not body or body[:3] in ("```", "~~~"):
        return True
    if body[0] == "#":
        return body.lstrip("#")[:1] in ("", " ", "\t")
    marks = body.replace(" ", "")
    return len(marks) >= 3 and marks[0] in "-*_" and not marks.strip(marks[0])


def item(body: str) -> tuple[str | None, str]:
    """Return (text, box) of a list item; text is None for other lines."""
    while body[:1] == ">" and len(body) > 1 and _is_bracket(body):
        body = body[1:].lstrip()
    found = re.compile(_ITEM).match(body)
    if not found:
        return _other_item(body)
    text = body[len(found.group(0)) :]
    box = (found.group(3) or "")[1:]
    if box and text[:1] not in ("", " ", "\t") and (text[0] in "([:" or box == "]"):
        # A link, for example.
        return "[" + box + text, ""
    text = text.strip()
    if not box and text[:1] in ("\u2610", "\u2611", "\u2713", "\u2714"):
        return text[1:].strip(), text[0]
    if not box and text[:3] in ("[\u2713]", "[\u2714]"):
        return text[3:].strip(), text[1:3]
    return text, box


def _other_item(body):
    """Read an item behind a bullet unknown to Markdown."""
    first = body[:1]
    if first in _BULLETS:
        return body[1:].strip(), ""
    if first in ("\u2610", "\u2611", "\u2713", "\u2714"):
        return body[1:].strip(), first
    if first in "-*+" and _is_bracket(body[1:]):
        return body[1:].lstrip(), ""
    if first == "[" and body[1:2].isdigit() and body[2:4] == "] ":
        return body[4:].strip(), ""
    if body[:3] in ("[ ]", "[x]", "[X]"):
        return body[3:].strip(), body[1:3]
    code = ord(first) if first else 0
    if 0x2460 <= code < 0x249C or 0x2776 <= code < 0x2794:
        # Numbers in circles.
        return body[1:].strip(), ""
    # Folded letters have the places of ASCII only where all are ASCII.
    head = body[:12].lower()
    found = re.compile(_NUMBER).match(head)
    if found:
        return body[len(found.group(1)) :].strip(), ""
    return None, ""
