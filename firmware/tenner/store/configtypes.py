# tenner store.configtypes: what a setting may look like, and what becomes of it.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The types of the table's second column:

    str  id  bool  hours  policy  list  object  objects  int(1..100)  choice(a|b)  duration(m,60..)

`id` takes a number or text and gives text. `duration(m,60..)` takes "30m", "1h30m", "off" or a bare
number of minutes (`m`), gives seconds, and is either 0 or at least 60. `int` and `duration` may leave
out either end. `policy` is allow, ask, deny or a list of what is allowed.
"""

from tenner.store import jsontext

_SECONDS = (("s", 1), ("m", 60), ("h", 3600), ("d", 86400))


def kind(type_text):
    """`int` of `int(1..100)`."""
    return type_text.split("(")[0]


def from_text(type_text, text):
    """Convert the text of a default or of an environment variable; ValueError says what is allowed."""
    name = kind(type_text)
    if name in ("list", "policy") and not text.startswith("["):
        if name == "list" or "," in text:
            return [part.strip() for part in text.split(",") if part.strip()]
        return convert(type_text, text)
    if name in ("list", "object", "objects", "policy"):
        return convert(type_text, jsontext.loads(text or "{}"))
    if name == "int":
        try:
            return convert(type_text, int(text))
        except ValueError:
            return convert(type_text, None)
    if name == "bool":
        word = text.lower()
        if word in ("true", "1", "on", "yes"):
            return True
        return convert(type_text, False if word in ("false", "0", "off", "no") else None)
    return convert(type_text, text)


def convert(type_text, value):
    """Check a JSON value against a type and return it ready for use; ValueError says what is allowed."""
    name = kind(type_text)
    limits = type_text[len(name) + 1 : -1]
    plain_number = isinstance(value, int) and not isinstance(value, bool)
    if name == "str" and isinstance(value, str):
        return value
    if name == "id" and (plain_number or isinstance(value, str)):
        return str(value).strip()
    if name == "bool" and isinstance(value, bool):
        return value
    if name == "int" and plain_number and _inside(limits, value):
        return value
    if name == "choice" and value in limits.split("|"):
        return value
    if name == "duration":
        unit, span = limits.split(",")
        seconds = _seconds(value, unit)
        if seconds == 0 or seconds is not None and _inside(span, seconds):
            return seconds
    if name == "hours" and (value == "" or _hours(value)):
        return value
    if name == "policy" and value in ("allow", "ask", "deny"):
        return value
    if name in ("list", "policy") and isinstance(value, list):
        return [convert("id", item) for item in value]
    if name in ("object", "objects") and isinstance(value, list if name == "objects" else dict):
        return value
    raise ValueError(_allowed(name, limits))


def _inside(span, number):
    low, high = span.split("..")
    return (not low or number >= int(low)) and (not high or number <= int(high))


def _seconds(value, unit):
    """Seconds in 45, "45", "30m", "1h30m" or "off"; None when it is no duration."""
    if value is False or value == "off":
        return 0
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value:
        return None
    if value.isdigit():
        value += unit
    total = 0
    digits = ""
    for letter in value.lower():
        if letter.isdigit():
            digits += letter
            continue
        for name, seconds in _SECONDS:
            if name == letter and digits:
                total += int(digits) * seconds
                digits = ""
                break
        else:
            return None
    return None if digits else total


def _hours(value):
    """Is it a window HH:MM-HH:MM with two different ends?"""
    ends = value.split("-") if isinstance(value, str) else ()
    if len(ends) != 2 or ends[0] == ends[1]:
        return False
    for end in ends:
        if len(end) != 5 or end[2] != ":" or not (end[:2] + end[3:]).isdigit():
            return False
        if int(end[:2]) * 60 + int(end[3:]) > 1440 or int(end[3:]) > 59:
            return False
    return ends[0] != "24:00"


def _allowed(name, limits):
    if name == "int":
        low, high = limits.split("..")
        if low and high:
            return "a whole number from %s to %s, for example %s" % (low, high, low)
        return "a whole number" + (" of at least %s, for example %s" % (low, low) if low else "")
    if name == "choice":
        return "one of %s" % ", ".join(['"%s"' % word for word in limits.split("|")])
    if name == "duration":
        unit, span = limits.split(",")
        low, high = span.split("..")
        text = 'a duration such as "30s", "30m" or "2h"'
        text += (
            ' (a bare number is %s; 0 or "off" switches it off)'
            % ({"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}[unit])
        )
        if low:
            text += ", at least %s s" % low
        return text + (", at most %s s" % high if high else "")
    return {
        "str": 'text in double quotes, for example "abc"',
        "id": 'a number or text, for example 123456789 or "123456789"',
        "bool": "true or false",
        "hours": 'a window "HH:MM-HH:MM" with two different ends, for example "08:00-22:00"',
        "policy": '"allow", "ask", "deny" or a list of what is allowed, for example ["read"]',
        "list": 'a list, for example ["a", "b"]',
        "object": 'an object, for example {"name": "value"}',
        "objects": 'a list of objects, for example [{"model": "name"}]',
    }[name]
