# tenner schedule.amounts: numbers, durations and times of day, as people write them.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

_MAX_S = const(366 * 86400)

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_WORDS = {
    "sec": 1, "secs": 1, "second": 1, "seconds": 1,
    "min": 60, "mins": 60, "minute": 60, "minutes": 60,
    "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600,
    "day": 86400, "days": 86400, "week": 604800, "weeks": 604800,
}  # fmt: skip
#: Words that stand for a number.
_STATES = {
    "on": 1, "open": 1, "true": 1, "yes": 1, "wet": 1, "high": 1,
    "off": 0, "closed": 0, "false": 0, "no": 0, "dry": 0, "low": 0,
}  # fmt: skip


def is_digits(text: str) -> bool:
    """Return whether the text is of the digits 0 to 9 only: isdigit() of str takes foreign ones
    too, of bytes not."""
    return text.encode().isdigit()


def _cut(text):
    """Return (leading number, the rest) of a text such as `11.8V`."""
    end = 0
    while end < len(text) and (
        text[end] in "0123456789.," or (end == 0 and text[end] in "+-\u2212")
    ):
        end += 1
    return text[:end], text[end:]


def with_unit(text: str) -> tuple[float, str]:
    """Return the number and the unit of `35`, `-15,5`, `11.8V`, `10 %`, `open`; ValueError when it
    is none, with a sentence for one that can be read in two ways."""
    text = text.strip()
    if text.lower() in _STATES:
        return _STATES[text.lower()], ""
    digits, unit = _cut(text)
    digits = digits.replace("\u2212", "-")
    whole, _, part = digits.lstrip("+-").partition(".")
    if len(part) == 3 and is_digits(part) and 0 < len(whole) < 4 and whole[0] != "0":
        raise ValueError(
            'a thousand or a fraction? expected "%s" or "%s0"' % (whole + part, whole + "." + part)
        )
    if digits.lstrip("+-")[:1] in (".", ","):
        raise ValueError('expected "0.%s"' % digits.lstrip("+-.,"))
    # A comma before one or two digits is a decimal one; before three it may mean thousands.
    if "," in digits:
        whole, _, part = digits.partition(",")
        if "." in part or "," in part or not 0 < len(part) < 3 or "." in whole:
            raise ValueError
        digits = whole + "." + part
    if not is_digits(digits.lstrip("+-").replace(".", "", 1)):
        raise ValueError
    unit = unit.strip()
    if " " in unit or len(unit) > 6 or any(sign in unit for sign in "0123456789<>=;()"):
        raise ValueError
    return (float(digits) if "." in digits else int(digits)), unit


def duration(text: str) -> int:
    """Return the seconds of `10m`, `1h30m`, `5 minutes`, `hour`; ValueError when it is none, or
    too long."""
    words = text.split()
    if len(words) == 1 and words[0].lower() in _WORDS:
        return _WORDS[words[0].lower()]
    for index in range(1, len(words)):
        if is_digits(words[index - 1][-1:]) and is_digits(words[index][:1]):
            raise ValueError
    text = "".join(words)
    seconds = 0
    before = _MAX_S
    if not text or len(text) > 24:
        raise ValueError
    while text:
        digits, text = _cut(text)
        end = 0
        while end < len(text) and text[end] not in "0123456789":
            end += 1
        unit, text = text[:end], text[end:]
        size = _UNITS.get(unit) or _WORDS.get(unit.lower())
        if not is_digits(digits) or size is None or len(digits) > 8 or size >= before:
            raise ValueError
        before = size
        seconds += int(digits) * size
    if not 0 < seconds <= _MAX_S:
        raise ValueError
    return seconds


def time_of_day(text: str, bare: bool = False) -> str:
    """Return `07:30` of `7:30`, `7.30pm`, `7 pm`, `noon`; ValueError when it is none."""
    text = "".join(text.lower().split())
    text = {"noon": "12:00", "midnight": "00:00"}.get(text, text)
    half = text[-2:] if text[-2:] in ("am", "pm") else ""
    hour, colon, minute = text[: len(text) - len(half)].replace(".", ":").partition(":")
    if not colon and (half or bare):
        minute = "00"
    if not is_digits(hour) or len(hour) > 2 or len(minute) != 2 or not is_digits(minute):
        raise ValueError
    hour, minute = int(hour), int(minute)
    if half:
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour * 60 + minute > 1440 or minute > 59:
        raise ValueError
    return "%02d:%02d" % (hour, minute)
