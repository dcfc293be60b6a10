# tenner schedule.prose: offers the owner a rule in place of a line in their own words.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Behind a beat that has asked the model about such lines, it is asked once more, for the rule of
one of them. state/prose.json has for each line that was asked about its rule, "" where there is
none to offer: {"key of its text": "(daily 07:30)"}. Before a rule stands ? until it is in the
outbox. Only the owner's answer writes HEARTBEAT.md.
"""

import json

from tenner import overlay
from tenner.log import log
from tenner.port.compat import const
from tenner.port.package import locate
from tenner.schedule import (
    alarm_texts,
    decide,
    heartbeat_parser,
    heartbeat_tasks,
    notices,
    schedule_files,
)
from tenner.schedule.clauses import key_of, parse_clauses
from tenner.schedule.saved_state import SENT
from tenner.schedule.task import Request, Task
from tenner.sensors import ring
from tenner.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.schedule.known_values import Known
    from tenner.schedule.types import Reading

# Of the task that stands for the offer, and its file; of its message.
_NAME = const("prose")
_MARK = const("pr:")
# Lines that are remembered; with so many in the file no further one is asked about.
_MOST = const(64)
_LONGEST = const(300)
_WEEK_S = const(7 * 86400)
_DAY_S = const(86400)
_GONE = const("HEARTBEAT.md has no such line with an offer any more; nothing was changed.")


# --- asks


def waits(heartbeat: "Reading", tasks: "Sequence[Task]") -> "list[Task]":
    """Return a task that stands for the offer of a rule, if `tasks` are those of a beat and a line
    waits for one; else []."""
    if heartbeat.app.config.get("heartbeat.prose") != "offer":
        return []
    if all(task.key for task in tasks) or not _open(heartbeat, _kept(heartbeat)):
        return []
    task = Task()
    task.key = _NAME
    return [task]


def request(heartbeat: "Reading") -> Request | None:
    """Return the Request about the next line, None when the budget is spent."""
    left = heartbeat.app.get("budget").left(heartbeat.area)
    if left is not None and left <= 0:
        return None
    found = Request([], None)
    found.mark = _MARK
    found.choose = True
    # For the items of a beat.
    found.others = (Task(),)
    found.model = heartbeat.app.config.get("heartbeat.model") or None
    return found


async def compose(heartbeat: "Reading", request: Request) -> None:
    """Ask about the first line that waits; one whose rule was found before a power cut is offered
    now."""
    await overlay.step("READ", heartbeat_tasks.know, heartbeat)
    kept = _kept(heartbeat)
    waiting = _open(heartbeat, kept)
    for line, text in request.items[1]:
        key = str(key_of(text))
        if key not in waiting:
            continue
        request.items = [], [(line, text)]
        request.mark = _MARK + key
        if key in kept:
            await _offer(heartbeat, request, kept[key][1:])
            break
        request.choose = question(heartbeat.known)
        request.text = text
        # Before the call: neither a reboot nor a power cut pays for another one.
        _keep(heartbeat, kept, key, "")
        break
    else:
        request.needs_model = request.choose = False
        request.text = ""
    # Not before: where memory is short this is called again.
    heartbeat.known = None


def question(known: "Known | None") -> str:
    """Return the system prompt: the grammar, and the names of the sensors."""
    names = []
    for name in sorted(known.sensors if known else ()):
        names += ["%s.%s" % (name, value) for value in known.sensors[name][0].split()]
    grammar = b"".join(files.blocks(*locate("schedule/grammar.md"))).decode()
    return grammar + "Sensors: " + (", ".join(names) or "none")


async def choose(heartbeat: "Reading", request: Request, reply: tuple[str, int]) -> None:
    """Offer the rule of a reply (text, tokens), if the parser takes it for one."""
    await overlay.step("READ", heartbeat_tasks.know, heartbeat)
    rule = rule_of(reply[0] or "", request.items[1][0][1], heartbeat)
    request.tokens = reply[1]
    if rule is None:
        log("heartbeat", "line %d stays prose: the reply is no rule" % request.items[1][0][0])
        request.text = ""
        request.needs_model = request.choose = False
    else:
        # First on flash, for a power cut may take the message.
        _keep(heartbeat, _kept(heartbeat), request.mark[len(_MARK) :], "?" + rule)
        await _offer(heartbeat, request, rule)
    heartbeat.known = None


def rule_of(reply: str, text: str, heartbeat: "Reading") -> str | None:
    """Return the bracket that a reply has for a line's text, None for any other reply."""
    rule = reply.strip().strip("`").strip()
    if rule[:1] + rule[-1:] != "()" or len(rule) > _LONGEST or "\n" in rule or "{" in rule:
        return None
    # Findings of other texts, and none for this one: only the grammar itself counts.
    clauses, rest, _ = _parsed(heartbeat, rule + " " + text)
    is_one = rest == text and rule.count("(") == 1
    return rule if is_one and (_is_timed(clauses) or "when" in clauses) else None


def _is_timed(clauses):
    return any(name in clauses for name in ("every_s", "daily", "cron", "once"))


def _parsed(heartbeat, text):
    return parse_clauses(text, heartbeat.known, True, {})


def failed(service: "Reading", request: Request) -> tuple[str, str]:
    """Settle a request without a reply. (action, reason)"""
    if request.wait:
        # It was not asked, or a person's message came in between.
        kept = _kept(service)
        kept.pop(request.mark[len(_MARK) :], None)
        _write(service, kept)
        return "retry", request.wait
    log("heartbeat", "a line stays prose: %s" % request.error)
    return "run", str(request.error)


def settle(service: "Reading", request: Request) -> tuple[str, str]:
    """Note that an offer is in the outbox. (action, reason)"""
    if request.error:
        # The next beat tries again.
        return "retry", request.error
    if request.sent == "yes":
        notices.confirm(service, request.mark)
    kept = _kept(service)
    key = request.mark[len(_MARK) :]
    if kept.get(key, "")[:1] == "?":
        _keep(service, kept, key, kept[key][1:])
    return "run", SENT[request.sent or "no"]


# --- offers


async def _offer(heartbeat, request, rule):
    line, text = request.items[1][0]
    # The code of the parser makes room for that of the readings.
    clauses = (await overlay.step("READ", _parsed, heartbeat, rule + " " + text))[0]
    told = await overlay.step("READ", _replay, heartbeat, clauses)
    calls = heartbeat.every_s and _DAY_S // heartbeat.every_s
    request.text = (
        "%sLine %d, '%s', as: `%s`. %sUntil you answer it asks the model at each beat: %d calls a "
        "day. The same as a command: /heartbeat use %d, /heartbeat ask %d, /heartbeat off %d"
    ) % (
        alarm_texts.board(heartbeat),
        line,
        alarm_texts.shown(text),
        rule,
        told,
        calls,
        line,
        line,
        line,
    )
    request.needs_model = request.choose = False


async def _replay(heartbeat, clauses):
    """Return a sentence about the readings of the last week, "" where nothing can be said."""
    app = heartbeat.app
    when = clauses.get("when")
    if when is None or _is_timed(clauses) or not app.clock.trusted:
        return ""
    condition = heartbeat_tasks.condition_of(when)
    if condition.also or condition.op in decide.EVENTS:
        return ""
    now = app.clock.now()
    # Times it was told; is it on; since when the values meet it; the first reading.
    seen: list = [0, False, None, 0]

    def take(time, value):
        seen[3] = seen[3] or time
        readings = {condition.sensor: {condition.value: value}}
        if not decide.is_met(condition, readings, time, seen[1]):
            seen[1:3] = False, None
        elif not seen[1]:
            seen[2] = time if seen[2] is None else seen[2]
            if time - seen[2] >= condition.for_s:
                seen[1] = True
                seen[0] += 1

    kept = ring.of(app.state, app.config)
    await kept.visit(condition.name(), now - _WEEK_S, now, take)
    count, _, _, first = seen
    if not first:
        return ""
    often = "%d times" % count if count > 2 else ("never", "once", "twice")[count]
    age_s = now - first
    span = "Last week"
    if age_s < _WEEK_S - _DAY_S:
        span = "In the last " + (alarm_texts.span(age_s) or "minute")
    return "%s it would have told you %s. " % (span, often)


# --- is answered


async def answer(heartbeat: "Reading", words: "Sequence[str]") -> str:
    """Return the answer to `use|ask|off, LINE` about an open offer; a button has the key of its
    text in place of the line. `known` of the heartbeat are the sensors."""
    await overlay.step("READ", heartbeat_tasks.know, heartbeat)
    said = _answer(heartbeat, words)
    heartbeat.known = None
    return said


def _answer(heartbeat, words):
    action, name = words[0], "".join(words[1:2])
    kept = _kept(heartbeat)
    source = schedule_files.of(heartbeat)
    known = heartbeat.known
    for kind, line, text, clauses in heartbeat_parser.read(
        source.lines() if source.signature() else (), known, heartbeat.rules
    ):
        if kind != heartbeat_parser.TASK or clauses or name not in (str(line), str(key_of(text))):
            continue
        rule = kept.get(str(key_of(text)))
        if not rule:
            continue
        if action == "ask":
            _keep(heartbeat, kept, str(key_of(text)), "")
            return "Line %d asks the model at each beat; I will not offer a rule again." % line
        rule = rule.lstrip("?")
        said = "Line %d is a rule now: %s %s" % (line, rule, alarm_texts.shown(text))
        if action == "off":
            rule = ""
            said = "Line %d is off: its box is ticked. Remove the x to have it back." % line
        heartbeat.poke()
        try:
            # Last: where memory is short all of this is called again.
            if _rewrite(heartbeat.file, line, text, rule, known):
                return said
        except OSError as error:
            return "HEARTBEAT.md is unchanged; it could not be written: %s" % error
        break
    return _GONE


def _rewrite(path, line, text, rule, known):
    """Put a rule before the words of a line, or tick its box without one; return False, and write
    nothing, where the line cannot be changed so."""
    with open(path, "rb") as file:
        for _ in range(line - 1):
            file.readline()
        start = file.tell()
        old = file.readline()
    end = start + len(old)
    old = old.decode()
    words, box = heartbeat_parser.item(old.strip())
    # A comment in the line hides a part of it.
    if not words or text[: len(words)] != words:
        return False
    at = old.rfind(words)
    if rule:
        made = (old[:at] + rule + " " + old[at:],)
    else:
        mark = old[:at].rstrip()
        if mark[-1:] == "]" and box:
            mark = mark[: mark.rfind("[")].rstrip()
        indent = old[: len(old) - len(old.lstrip())]
        made = (mark + " [x] " + old[at:], indent + "- [x] " + old[at:])
    wanted = heartbeat_parser.TASK if rule else heartbeat_parser.DONE
    for new in made:
        found = list(heartbeat_parser.read([(1, new)], known, {}))
        if len(found) == 1 and found[0][0] == wanted and (found[0][3] or not rule):
            files.write_atomic(path, _pieces(path, start, new, end), files.WORKSPACE_TEMP)
            return True
    return False


def _pieces(path, start, new, end):
    yield from files.blocks(path, 0, start)
    yield new
    yield from files.blocks(path, end)


# --- remembers


def _kept(heartbeat):
    found = schedule_files.of(heartbeat).load(_NAME)[0]
    return found if isinstance(found, dict) else {}


def _open(heartbeat, kept):
    """Return the keys of the lines that wait for a rule, or whose rule waits to be offered."""
    missing = "?" if len(kept) < _MOST else ""
    return [
        str(key)
        for key, found in (heartbeat.rules or {}).items()
        # Of those without clauses or a mistake only prose is there.
        if found and not (found[0] or found[2]) and kept.get(str(key), missing)[:1] == "?"
    ]


def _keep(heartbeat, kept, key, rule):
    if len(kept) >= _MOST // 2:
        # Lines that have left the file make room.
        here = [str(one) for one in heartbeat.rules or ()]
        kept = {one: kept[one] for one in kept if one in here}
    kept[key] = rule
    _write(heartbeat, kept)


def _write(heartbeat, kept):
    schedule_files.of(heartbeat).save(_NAME, (json.dumps(kept), "\n"))
