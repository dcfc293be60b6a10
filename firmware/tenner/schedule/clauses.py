# tenner schedule.clauses: the clauses in the brackets at the start of an item.
# MIT license; Copyright (c) 2026 the tenner authors
"""
    (every 10m) (hourly) (daily 07:30) (weekdays 9:00) (mondays at 7pm)
    (cron 0 9 * * 1-5) (cron @daily)
    (when CONDITION) (hours 08:00-20:00) (model NAME) (notify) (urgent) (resolve) (repeat 1h)
    (chart 6h) (escalate 15m to NAME)

`;` separates several. An item with an unknown clause never runs: its sentence names the word and
the nearest spelling.
"""

from binascii import crc32

from tenner.port.compat import const
from tenner.schedule import known_values, line_rule
from tenner.schedule.due import Cron, five_fields
from tenner.schedule.line_words import duration, is_digits, time_of_day
from tenner.store.hours import Hours, minute_of_day
from tenner.store.suggest import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenner.schedule.known_values import Known

# The expected form of each clause, for errors.
_CLAUSES = {
    "every": "1s to 366d, such as every 10m",
    "hourly": "hourly alone",
    "daily": "HH:MM, such as daily 07:30",
    "weekdays": "HH:MM, such as weekdays 07:30",
    "weekends": "HH:MM, such as weekends 09:00",
    "once": "once and a time, such as once tomorrow 08:00",
    "cron": "",
    "when": "",
    "hours": "",
    "model": "model and one name",
    "notify": "notify alone",
    "urgent": "urgent alone",
    "resolve": "resolve alone",
    "repeat": "1s to 366d, such as repeat 1h",
    "escalate": "a time and to whom, such as escalate 15m to anna",
    "chart": "chart alone, or 5m to 366d, such as chart 6h",
}
#: In the rules of `parse_clauses`: no text could be read for want of memory.
UNREAD = const(-1)
_UNREAD = const(
    "the board has too little memory to read this line; write its rule in brackets, as "
    "`tenner heartbeat --check` shows it"
)
# Their values are seconds.
_SPANS = ("every", "repeat", "chart")
_DAYS = "sun mon tue wed thu fri sat"
_LONG_DAYS = "sunday monday tuesday wednesday thursday friday saturday"


def parse_clauses(
    text: str, known: "Known | None" = None, is_item: bool = True, rules: "dict | None" = None
) -> tuple[dict, str, str | None]:
    """
    Return (clauses, rest, problem) of one item's text, or of other text. `problem` is a sentence
    or None; with one there are no clauses, and the text is all of it. `known`: the sensors whose
    names are right; None leaves names unchecked. `rules`: the findings of line_rule so far by the
    texts' check sums; an unknown text has none, and joins the list `rules[0]`, if there is one.
    """
    clauses, rest, problem = _written(text, known)
    if clauses:
        return clauses, rest, None
    if rules is None:
        found, rest, other = line_rule.read(text, known, is_item)
    else:
        key = key_of(text, is_item)
        if key not in rules and 0 in rules:
            rules[0].append((key, text, is_item))
        found, rest, other = rules.get(key) or (None, text, None)
        if UNREAD in rules and is_item and any(48 <= byte < 58 for byte in text.encode()):
            other = _UNREAD
    if found is None:
        return {}, text, problem or other
    clauses, problem = _parts(found, known)
    return ({}, text, problem) if problem else (clauses, rest, None)


def key_of(text: str, is_item: bool = True) -> int:
    """Return the key of a text in the rules of `parse_clauses`."""
    return crc32(text.encode()) * 2 + is_item + 1


def _written(text, known):
    """Parse clauses of the grammar, in round brackets."""
    if text[:1] != "(":
        return {}, text, None
    inner, bracket, rest = text[1:].partition(")")
    parts = _split(inner)
    if not any(_is_meant(part) for part in parts):
        return {}, text, None
    if not bracket:
        return {}, text, 'the bracket is never closed; expected ")"'
    more, closing, others = rest.lstrip()[1:].partition(")")
    if rest.lstrip()[:1] == "(" and closing and any(_is_meant(part) for part in _split(more)):
        return _written("(%s;%s)%s" % (inner, more, others), known)
    clauses, problem = _parts(parts, known)
    if ")" in rest and not problem and line_rule.is_cut(rest.encode()):
        problem = "a bracket is closed twice"
    return ({}, text, problem) if problem else (clauses, rest.strip(), None)


def _parts(parts, known):
    """Return (clauses, problem) of the parts of a bracket."""
    clauses = {}
    for part in parts:
        problem = None
        try:
            name, value = _clause(part, known)
            key = name + "_s" if name in _SPANS else name
            if key in clauses:
                problem = "stands twice"
            clauses[key] = value
        except ValueError as error:
            problem = str(error)
        if problem:
            return {}, '"%s": %s' % (" ".join(part.split()), problem)
    problem = _contradiction(clauses)
    return ({}, problem) if problem else (clauses, None)


def named_time(text: str) -> str | None:
    """Return the `18:00` of a text that says "at 18:00", None where it names no time."""
    words = text.lower().split()
    for index in range(1, len(words)):
        word = words[index].rstrip(".,;:!?")
        if words[index - 1] == "at" and (":" in word or word[-2:] in ("am", "pm")):
            try:
                return time_of_day(word)
            except ValueError:
                pass  # "at 3:2" is something else
    return None


def unknown_names(text: str, known: "Known") -> "Iterator[str]":
    """Yield a sentence for each `{sensor.value}` of a text that no sensor gives."""
    for piece in text.split("{")[1:]:
        name, closing, _ = piece.partition("}")
        sensor, dot, value = name.partition(":")[0].rpartition(".")
        if closing and dot and " " not in name:
            problem = known.problem(sensor, value)
            if problem:
                yield '"{%s}": %s' % (name, problem)


def _contradiction(clauses):
    times = [name for name in ("every_s", "daily", "cron", "once") if name in clauses]
    if len(times) > 1:
        return "expected one of every, daily, cron and once, not several"
    if "once" in clauses and "when" in clauses:
        return "it has one time only; expected every beside when, or when alone"
    if "notify" in clauses and "model" in clauses:
        return "notify asks no model; expected one of them, not both"
    for name in ("resolve", "repeat_s", "chart_s", "escalate"):
        if name in clauses and "when" not in clauses:
            return "%s is for alarms; expected a when beside it" % name.split("_")[0]
    return None


def _split(inner):
    """Return the parts between `;`, and between commas where a clause begins behind one."""
    parts = []
    for part in inner.split(";"):
        first, *others = part.split(", ")
        parts.append(first)
        for other in others:
            if _first(other) in _CLAUSES:
                parts.append(other)
            else:
                parts[-1] += ", " + other
    return parts


def _first(part):
    return (part.split() or [""])[0].lower()


def _day(word):
    """Return the number of a day of the week, 0 is Sunday; None when it is none."""
    word = word.lower().rstrip(".")
    for names in (_DAYS, _LONG_DAYS):
        for index, name in enumerate(names.split()):
            if word in (name, name + "s"):
                return index
    return None


def _is_meant(part):
    """Return whether it looks like a clause, right or wrong; other brackets are ordinary text."""
    word = _first(part)
    rest = part.strip()[len(word) :]
    has_digit = any(is_digits(letter) for letter in part)
    if word in _CLAUSES or word in ("if", "whenever") or (_day(word) is not None and has_digit):
        return True
    if has_digit and any(sign in part for sign in "<>=\u2265\u2264"):
        return True
    if "." in word and _first(rest) in (
        "is",
        "above",
        "below",
        "over",
        "under",
        "outside",
        "changes",
    ):
        return True
    if word in ("at", "@") and has_digit:
        return True
    if _is_time(part.strip()):
        return True
    return _near(word, has_digit) is not None


def _is_time(text):
    try:
        return ":" in text and bool(time_of_day(text))
    except ValueError:
        return False


def _near(word, has_digit):
    """Return the clause that was probably meant by a word, None when it is another word."""
    near = nearest(word, list(_CLAUSES)) if len(word) > 2 else None
    if near is None or word[0] != near[0]:
        return None
    # Two letters wrong are another word, such as never, unless it is a long one and an amount
    # follows.
    return near if _one_off(word, near) or (has_digit and len(word) > 4) else None


def _one_off(word, near):
    if abs(len(word) - len(near)) > 1:
        return False
    start = 0
    while start < min(len(word), len(near)) and word[start] == near[start]:
        start += 1
    tails = word[start:], near[start:]
    return tails[0][1:] in (tails[1], tails[1][1:]) or tails[0] == tails[1][1:]


def _clause(part, known=None):
    """Return (name, value) of a clause; ValueError with a sentence when it is wrong."""
    words = part.split()
    name = _first(part)
    text = " ".join(words[1:])
    if name in ("if", "whenever"):
        name = "when"
    if _day(name) is not None:
        return "cron", _at(text, str(_day(name)), name)
    if name not in _CLAUSES:
        return _other(part.strip(), name, known)
    try:
        return _value(name, text, words[1:], known)
    except ValueError as error:
        raise ValueError(str(error) or "expected " + _CLAUSES[name])


def _other(part, name, known):
    """Return (name, value) of a part that begins with no clause's name: a condition, or a
    mistake."""
    if "." in name and not is_digits(name[:1]):
        return "when", known_values.parse_condition(part, known)
    near = _near(name, True)
    if not near and any(sign in part for sign in "<>=\u2265\u2264"):
        return "when", known_values.parse_condition(part, known)
    if near:
        right = (near + part[len(name) :]).strip()
        try:
            _clause(right)
        except ValueError:
            right = near
        raise ValueError('is no clause; did you mean "%s"?' % right)
    if name == "at" or _is_time(part):
        time = part[2:].strip() if name == "at" else part
        raise ValueError('expected "daily %s"; for one time ask me for a reminder' % time)
    raise ValueError("is no clause; expected " + ", ".join(sorted(_CLAUSES)))


def _value(name, text, words, known):
    if name == "when":
        return name, known_values.parse_condition(text, known)
    if name == "hourly":
        if words:
            raise ValueError
        return "every", 3600
    if name == "every":
        return _every(text, words)
    if name == "repeat":
        return name, duration(text[6:] if text.lower().startswith("every ") else text)
    if name == "escalate":
        span, to, who = text.partition(" to ")
        if len(who.split()) != 1 or "." in who:
            raise ValueError
        return name, [duration(span), who.strip()]
    if name == "chart":
        seconds = duration(text or "24h")
        if seconds < 300:
            raise ValueError
        return name, seconds
    if name == "once":
        if words[:1] == ["in"]:
            return name, duration(" ".join(words[1:]))
        if words[:1] == ["tomorrow"]:
            return name, "+" + _time(" ".join(words[1:]))
        return name, _time(text)
    if name == "cron" and text[:3] == "sun":
        int(text.lstrip("sunetri") or 0)
        return name, text
    if name == "cron":
        expr = five_fields(text)
        Cron(expr)
        return name, expr
    if name == "hours":
        return name, _hours(text)
    if name == "daily":
        return name, _time(text)
    if name == "weekdays":
        return "cron", _at(text, "1-5", name)
    if name == "weekends":
        return "cron", _at(text, "0,6", name)
    if len(words) != (name == "model"):
        raise ValueError
    return name, text.strip("=.,:|/[]{}\u2026\uff1b") or True


def _every(text, words):
    """Return the clause of `every 10m`, `every hour`, and also `every day at 7:30`,
    `every monday 9:00`."""
    day = _day(words[0]) if words else None
    behind = " ".join(words[1:])
    if day is not None:
        return "cron", _at(behind, str(day), words[0])
    if len(words) > 1:
        if words[0].lower() == "day":
            return "daily", _time(behind)
        if words[0].lower() in ("weekday", "weekend"):
            return "cron", _at(behind, "1-5" if words[0].lower() == "weekday" else "0,6", words[0])
    if is_digits(text):
        raise ValueError('it has no unit; expected "every %sm" for minutes' % text)
    return "every", duration(text)


def _time(text):
    if text.lower().startswith("at "):
        text = text[3:]
    time = time_of_day(text)
    if minute_of_day(time) >= 1440:
        raise ValueError
    return time


def _at(text, days, name):
    try:
        time = _time(text)
    except ValueError:
        raise ValueError('expected HH:MM, such as "%s 07:30"' % name)
    return "%d %d * * %s" % (int(time[3:]), int(time[:2]), days)


def _hours(text):
    plain = text.lower().replace(" to ", "-").replace("\u2013", "-")
    start, dash, end = plain.partition("-")
    try:
        text = time_of_day(start) + "-" + time_of_day(end)
    except ValueError:
        pass  # the sentence is that of Hours
    Hours(text)
    return text
