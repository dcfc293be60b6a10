# tenner schedule.items: reads HEARTBEAT.md, line by line, into general text and tasks.
# MIT license; Copyright (c) 2026 the tenner authors
"""
`read(lines)` is the parser: it takes numbered lines and yields what it finds, so that a file of
any length passes through a buffer of one task. `parse(text)` collects that for tests and tools.

A task is a list item (`-`, `*`, `+` or `1.`), with an open box or none. Lines indented below it
belong to it, unless they are items with a box or clauses of their own. Items that are ticked
are left out, with all that is indented below them and has no box of its own.
"""

from tenner.port.compat import const
from tenner.schedule import clauses

# One task's text at most; a longer one is cut and the owner told. It all goes to the model.
_MAX_TEXT = const(2000)
_MAX_LINE = const(500)
_MAX_FRONT_LINES = const(40)

GENERAL = 0  # (GENERAL, line, text, None)
TASK = 1  # (TASK, line, text, clauses)
PROBLEM = 2  # (PROBLEM, line, sentence, None)


class Heartbeat:
    """A whole parsed file."""

    def __init__(self):
        self.general = ""
        self.items = []
        self.problems = []


def parse(text):
    """`Heartbeat` of a text that is in memory anyway."""
    heartbeat = Heartbeat()
    general = []
    for kind, line, what, found in read(enumerate(text.split("\n"), 1)):
        if kind == GENERAL:
            general.append(what)
        elif kind == TASK:
            found["text"] = what
            found["line"] = line
            heartbeat.items.append(found)
        else:
            heartbeat.problems.append((line, what))
    heartbeat.general = "\n".join(general)
    return heartbeat


def is_empty(text):
    """Whether the text gives the heartbeat nothing to do."""
    for found in read(enumerate(text.split("\n"), 1)):
        if found[0] != PROBLEM:
            return False
    return True


def file_lines(path):
    """Numbered lines of a file; an overlong line comes in pieces with the same number."""
    number = 1
    held = b""
    with open(path, "rb") as f:
        while True:
            block = f.read(256)
            held += block
            while True:
                end = held.find(b"\n")
                if end < 0:
                    break
                yield number, _decode(held[:end])
                held = held[end + 1 :]
                number += 1
            if not block:
                break
            if len(held) > _MAX_LINE:
                cut = held.rfind(b" ") + 1
                if cut < _MAX_LINE // 2:
                    cut = _MAX_LINE
                    # Not inside a character of UTF-8.
                    while held[cut] & 0xC0 == 0x80:
                        cut -= 1
                yield number, _decode(held[:cut])
                # Indented, so that it goes on with what it belongs to.
                held = b"   " + held[cut:]
    if held:
        yield number, _decode(held)


def _decode(line):
    try:
        return line.decode()
    except UnicodeError:
        return bytes(byte if byte < 128 else 63 for byte in line).decode()


def read(numbered_lines):
    """Yield (GENERAL | TASK | PROBLEM, line number, text, clauses or None) in file order."""
    task = None  # [line, indent, ticked, text pieces, length]
    for number, line in _without_front_matter(numbered_lines):
        if isinstance(line, ValueError):
            yield PROBLEM, number, str(line), None
            continue
        body = line.strip()
        indent = _indent(line)
        if _is_mark(body):
            if task and body and body[0] == "#":
                for found in _finish(task):
                    yield found
                task = None
            continue
        rest, box = _item(body)
        if rest is None or (indent and task and indent > task[1] and not _own(rest, box)):
            if task and indent > task[1]:
                # Text goes on, a nested item keeps its mark and its line.
                _add(task, body, " " if rest is None else "\n")
                continue
            if rest is None:
                if task:
                    for found in _finish(task):
                        yield found
                    task = None
                yield GENERAL, number, body, None
                continue
        if task:
            for found in _finish(task):
                yield found
        task = [number, indent, box == "x", [], 0]
        _add(task, rest, "")
    if task:
        for found in _finish(task):
            yield found


def _own(rest, box):
    """Whether a nested item is a task by itself."""
    if box:
        return True
    found, _, problem = clauses.split(rest)
    return bool(found or problem)


def _add(task, text, joint):
    if task[3]:
        text = joint + text
    if text and not task[2] and task[4] <= _MAX_TEXT:
        task[3].append(text)
        task[4] += len(text)


def _finish(task):
    line, _, ticked, pieces, length = task
    text = "".join(pieces).strip()
    if ticked or not text:
        return
    if length > _MAX_TEXT:
        text = text[:_MAX_TEXT]
        yield PROBLEM, line, "the task is cut after %d characters; shorten it" % _MAX_TEXT, None
    found, text, problem = clauses.split(text)
    if problem:
        yield PROBLEM, line, problem, None
    if text:
        yield TASK, line, text, found
    else:
        yield PROBLEM, line, "nothing stands behind the brackets; expected a task", None


def _indent(line):
    count = 0
    for char in line:
        if char == " ":
            count += 1
        elif char == "\t":
            count += 4
        else:
            break
    return count


def _is_mark(body):
    """Blank lines, headings, rules and code fences say nothing by themselves."""
    if not body or body[:3] in ("```", "~~~"):
        return True
    if body[0] == "#":
        title = body.lstrip("#")
        return not title or (title[0] in " \t" and len(body) - len(title) <= 6)
    marks = body.replace(" ", "")
    return len(marks) >= 3 and marks[0] in "-*_" and not marks.strip(marks[0])


def _item(body):
    """(text, box) of a list item: box is "", "o" (open) or "x"; text None when it is none."""
    if body[0] in "-*+":
        rest = body[1:]
    else:
        digits = 0
        while digits < len(body) and digits < 9 and "0" <= body[digits] <= "9":
            digits += 1
        if not digits or body[digits : digits + 1] not in (".", ")"):
            return None, ""
        rest = body[digits + 1 :]
    if rest and rest[0] not in " \t":
        return None, ""
    rest = rest.strip()
    mark = rest[:3].lower()
    if mark in ("[ ]", "[x]") and (len(rest) == 3 or rest[3] in " \t"):
        return rest[3:].strip(), "x" if mark == "[x]" else "o"
    if rest[:2] == "[]" and (len(rest) == 2 or rest[2] in " \t"):
        return rest[2:].strip(), "o"
    return rest, ""


def _without_comments(numbered_lines):
    """The lines less their HTML comments, each of which may span several."""
    opened = 0
    for number, line in numbered_lines:
        if line.endswith("\r"):
            line = line[:-1]
        if number == 1 and line[:1] == "\ufeff":
            line = line[1:]
        at = 0
        while True:
            if opened:
                end = line.find("-->", at)
                if end < 0:
                    line = line[:at]
                    break
                line = line[:at] + line[end + 3 :]
                opened = 0
            at = line.find("<!--", at)
            if at < 0:
                break
            line = line[:at] + line[at + 4 :]
            opened = number
        yield number, line
    if opened:
        yield opened, ValueError("the comment opened here is never closed; expected -->")


def _without_front_matter(numbered_lines):
    """The lines less a `---` block of `key: value` at the very top."""
    lines = _without_comments(numbered_lines)
    held = []
    key = ""
    for number, line in lines:
        body = line.rstrip() if isinstance(line, str) else ""
        if not held:
            if number > 1 or body != "---":
                yield number, line
                break
        elif body in ("---", "..."):
            held = []
            break
        elif len(held) > _MAX_FRONT_LINES or not _is_front(body, key):
            held.append((number, line))
            break
        held.append((number, line))
        key = key if body[:2] == "- " else body
    for pair in held:
        yield pair
    for pair in lines:
        yield pair


def _is_front(body, key):
    """Whether a line can stand in front matter; prose or a list without a key cannot."""
    if body[:2] == "- ":
        return key[-1:] == ":"
    return not body or body[0] in " \t#" or ": " in body or body[-1] == ":"
