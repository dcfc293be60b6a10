# tenner schedule.rules: finds the rules in lines of HEARTBEAT.md that are not written as clauses.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The code that reads such lines and that of the parser do not fit into a small heap together. So the
lines are read before, a few at a time, and the parser looks their rules up.
"""

from binascii import crc32

from tenner import overlay
from tenner.log import log
from tenner.port.compat import const
from tenner.schedule import (
    heartbeat_parser,
    heartbeat_tasks,
    known_values,
    line_reading,
    line_rule,
    schedule_files,
)
from tenner.schedule.clauses import UNREAD
from tenner.schedule.line_words import Head
from tenner.schedule.natural import Sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tenner.schedule.known_values import Known
    from tenner.schedule.task import Request
    from tenner.schedule.types import Reading

_OFF = const(
    'it is prose, and heartbeat.prose is off; write a rule before it, such as "(every 1h)"'
)
_NAMES = (
    "num", "sign", "dot", "name", "every", "daily", "hourly", "weekly", "monthly", "yearly",
    "weekdays", "weekends", "sunset", "sunrise", "tomorrow",
)  # fmt: skip
_ASKED = const(8)  # texts at a time
#: Of Python's own heap, for the code that answers: measured by the 32-bit interpreter.
_ROOM = const(46 * 1024)


async def find(heartbeat: "Reading") -> None:
    """Set `rules`, `parsed` and `ruled` of the heartbeat for the file as it is now."""
    signature = _know(heartbeat)
    while await overlay.step("SCAN", _ask, heartbeat):
        if not _has_room(heartbeat.app.port):
            raise MemoryError
        await overlay.step("RULES", answer, heartbeat.known, heartbeat.rules)
        prose = heartbeat.app.config.get("heartbeat.prose")
        if prose != "ask":
            # Without the code that reads rules.
            await overlay.step("RULES", mark, heartbeat.known, heartbeat.rules, prose == "off")
    heartbeat.rules = settled(heartbeat.rules)
    _parse(heartbeat)
    heartbeat.ruled = signature


async def do_without(heartbeat: "Reading") -> None:
    """Set them where memory is too short for `find`: a text that may be a rule is off then."""
    signature = await overlay.step("SCAN", _know, heartbeat)
    heartbeat.rules = {UNREAD: ()}
    _parse(heartbeat)
    heartbeat.ruled = signature
    log("heartbeat", "memory is short: lines that are not written as clauses stay unread")


async def read_items(heartbeat: "Reading", request: "Request") -> None:
    """Read the items of a request."""
    heartbeat_tasks.know(heartbeat)
    await overlay.step("READ", heartbeat_tasks.read_items, heartbeat, request)


async def marks(heartbeat: "Reading") -> list[int]:
    """Return a number for each line of the file, for `understood`."""
    return [mark for _, mark in _marked(heartbeat)]


async def understood(heartbeat: "Reading", before: list[int]) -> str:
    """Return how the lines are understood whose numbers are not in `before`."""
    await find(heartbeat)
    # They wait in memory for a beat only while there is no turn.
    heartbeat.parsed = heartbeat.ruled = None
    new = [line for line, mark in _marked(heartbeat) if mark not in before]
    return await overlay.step("READ", line_reading.changed, heartbeat, new)


async def renew(heartbeat: "Reading") -> None:
    """`find` if the file has changed since."""
    signature = schedule_files.of(heartbeat).signature()
    if signature is not None and signature != heartbeat.ruled:
        await find(heartbeat)


def _marked(heartbeat):
    files = schedule_files.of(heartbeat)
    if files.signature() is None:
        return
    for number, line in files.lines():
        yield number, crc32(line.strip().encode()) & 0x3FFFFFFF


# Separate functions: a stack with that code would keep it.


def _know(heartbeat):
    signature = schedule_files.of(heartbeat).signature()
    heartbeat.known = known_values.load(heartbeat.app.workspace)
    heartbeat.rules = {}
    return signature


def _has_room(port):
    """Return whether that code fits without memory of Wi-Fi and TLS, which a heap that has grown
    never gives back."""
    return not port.shares_memory or port.memory()[0] >= _ROOM


def _ask(heartbeat):
    return ask(schedule_files.of(heartbeat).lines(), heartbeat.known, heartbeat.rules)


def ask(lines: "Iterable[tuple[int, str]]", known: "Known | None", rules: dict) -> bool:
    """Put the next texts of numbered lines that `rules` does not know into it; return whether
    there are any."""
    rules[0] = []
    for _ in heartbeat_parser.read(lines, known, rules):
        if len(rules[0]) >= _ASKED:
            break
    return bool(rules[0])


def answer(known: "Known | None", rules: dict) -> None:
    """Read the texts that `ask` has put into `rules`."""
    for key, text, is_item in rules[0]:
        found = line_rule.read(text, known, is_item)
        rules[key] = found if found[0] or found[2] else None


def mark(known: "Known | None", rules: dict, is_off: bool) -> None:
    """Give those of the texts that are prose like a rule a finding without clauses, and a problem
    if they are off."""
    for key, text, is_item in rules[0]:
        if is_item and not rules[key] and names_something(text, known):
            rules[key] = None, "", _OFF if is_off else None


def names_something(text: str, known: "Known | None") -> bool:
    """Return whether prose names a sensor, a time or a number."""
    for kind, _, _, _ in Sentence(Head(text), known).tokens:
        if kind in _NAMES or kind[:2] in ("v:", "d:", "u:") or kind[:5] in ("time:", "part:"):
            return True
    return False


def settled(rules: dict) -> dict:
    """Return the rules of the texts that are rules, and those of texts that are off."""
    return {key: found for key, found in rules.items() if key and found}


def _parse(heartbeat):
    """Set `parsed`; of text without clauses it matters only that there is some."""
    heartbeat.parsed = parsed = []
    lines = schedule_files.of(heartbeat).lines()
    for item in heartbeat_parser.read(lines, heartbeat.known, heartbeat.rules):
        kind, line, text, clauses = item
        if kind in (heartbeat_parser.GENERAL, heartbeat_parser.TASK) and not clauses:
            item = kind, 0, "", None
        if item not in parsed:
            parsed.append(item)
    # An alarm tells of it itself.
    if not heartbeat.known and not [1 for one in parsed if one[3] and "when" in one[3]]:
        text = known_values.mistake(heartbeat.app.workspace)
        if text:
            parsed.append((heartbeat_parser.PROBLEM, 0, text, None))
    heartbeat.known = None
