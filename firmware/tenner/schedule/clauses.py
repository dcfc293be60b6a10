# tenner schedule.clauses: reads the brackets before a task: (every 1m; when room.temp > 30).
# MIT license; Copyright (c) 2026 the tenner authors

_WORDS = ("every", "daily", "cron", "when", "hours", "model", "notify")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_MAX_S = 366 * 86400
_DURATION = "a number and a unit (s, m, h, d) such as 10m"


def split(text):
    """(clauses, rest, problem) of one item's text. `problem` is a sentence or None."""
    if text[:1] != "(":
        return {}, text, None
    inner, bracket, rest = text[1:].partition(")")
    parts = [part.split() for part in inner.split(";")]
    if not any(words and words[0].lower() in _WORDS for words in parts):
        return {}, text, None
    try:
        if not bracket:
            raise ValueError('the bracket is never closed; expected ")"')
        clauses = {}
        for words in parts:
            _clause(clauses, words)
        _check(clauses)
    except ValueError as error:
        return {}, text, str(error)
    return clauses, rest.strip(), None


def _clause(clauses, words):
    name = words[0].lower() if words else ""
    if name not in _WORDS:
        raise ValueError(
            '"%s" is no clause; expected one of %s' % (" ".join(words), ", ".join(_WORDS))
        )
    key = "every_s" if name == "every" else name
    if key in clauses:
        raise ValueError('"%s" stands twice; expected it once' % name)
    value = words[1:]
    if name == "every":
        clauses[key] = duration("".join(value))
    elif name == "daily":
        from tenner.schedule.hours import minute_of_day

        if len(value) != 1 or not 0 <= minute_of_day(value[0]) < 1440:
            raise ValueError('"%s": expected daily HH:MM such as 07:30' % " ".join(words))
        clauses[key] = value[0]
    elif name == "cron":
        from tenner.schedule.cronexpr import Cron

        Cron(" ".join(value))
        clauses[key] = " ".join(value)
    elif name == "hours":
        from tenner.schedule.hours import Hours

        clauses[key] = "".join(value)
        Hours(clauses[key])
    elif name == "model":
        if len(value) != 1:
            raise ValueError('"%s": expected model and one name' % " ".join(words))
        clauses[key] = value[0]
    elif name == "notify":
        if value:
            raise ValueError('"%s": expected notify alone' % " ".join(words))
        clauses[key] = True
    else:
        clauses[key] = _gate(value)


def _check(clauses):
    if ("every_s" in clauses) + ("daily" in clauses) + ("cron" in clauses) > 1:
        raise ValueError("expected one of every, daily and cron, not several")
    if "notify" in clauses and "model" in clauses:
        raise ValueError("notify asks no model; expected notify or model, not both")


def duration(text):
    """Seconds of `10m`, `90s`, `1h`, `2d`."""
    number = text[:-1]
    # isdigit() of str takes foreign digits too, of bytes it does not.
    if len(number) > 8 or not number.encode().isdigit() or text[-1:] not in _UNITS:
        raise ValueError('"%s": expected %s' % (text, _DURATION))
    seconds = int(number) * _UNITS[text[-1]]
    if not 0 < seconds <= _MAX_S:
        raise ValueError('"%s": expected 1s to 366d' % text)
    return seconds


def number(text):
    """int or float of a plain decimal number."""
    try:
        if text and all(char in "0123456789.+-" for char in text):
            return float(text) if "." in text else int(text)
    except ValueError:
        pass  # the sentence below says what was expected
    raise ValueError('"%s": expected a number such as 30 or -2.5' % text)


def _gate(words):
    """SENSOR.VALUE op NUMBER [for D] [reset N] | outside A..B [for D] | changes by N"""
    # Spaces round the sign may be left out: room.temperature>30.
    text = " ".join(words)
    for sign in (">=", "<=", "==", "!=", ">", "<"):
        if sign in text:
            text = text.replace(sign, " %s " % sign)
            words = text.split()
            break
    sensor, dot, value = (words[0] if words else "").rpartition(".")
    if not sensor or not value:
        raise ValueError(
            '"%s": expected when SENSOR.VALUE such as when room.temperature > 30' % text.strip()
        )
    gate = {"sensor": sensor, "value": value}
    op = words[1].lower() if len(words) > 1 else ""
    at = 3
    if op in (">", ">=", "<", "<=", "==", "!="):
        gate["op"] = op
        gate["number"] = number(words[2] if len(words) > 2 else "")
    elif op == "outside":
        gate["op"] = op
        low, dots, high = (words[2] if len(words) > 2 else "").partition("..")
        if not dots:
            raise ValueError('"%s": expected outside A..B such as 18..25' % text)
        gate["number"], gate["number2"] = number(low), number(high)
        if gate["number"] > gate["number2"]:
            raise ValueError('"%s": expected the smaller number first' % text)
    elif op == "changes" and [word.lower() for word in words[2:3]] == ["by"]:
        gate["op"] = "changes by"
        gate["number"] = number(words[3] if len(words) > 3 else "")
        if gate["number"] <= 0:
            raise ValueError('"%s": expected changes by a number above 0' % text)
        at = 4
    else:
        raise ValueError(
            '"%s": expected >, >=, <, <=, ==, !=, outside A..B or changes by N' % text.strip()
        )
    while at < len(words):
        word = words[at].lower()
        argument = words[at + 1] if at + 1 < len(words) else ""
        if word == "for" and op != "changes" and "for_s" not in gate:
            gate["for_s"] = duration(argument)
        elif word == "reset" and "reset" not in gate:
            gate["reset"] = _reset(op, gate["number"], number(argument))
        else:
            raise ValueError('"%s": expected for DURATION or reset NUMBER, once' % words[at])
        at += 2
    return gate


def _reset(op, mark, reset):
    if op[0] not in "<>":
        raise ValueError("reset goes with >, >=, < and <= only")
    if (reset > mark) if op[0] == ">" else (reset < mark):
        raise ValueError(
            "reset %s: expected a number %s %s"
            % (reset, "below" if op[0] == ">" else "above", mark)
        )
    return reset
