# tenner schedule.iso: dates and times as people and models write them.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.schedule.civil import month_days

_SHAPE = "dddd-dd-ddTdd:dd:dd"


def parse(text, zone):
    """UTC seconds of `2026-11-21T08:30[:00][Z|+01:00]`; without a zone it is the owner's."""
    body = text.strip().replace(" ", "T", 1)
    fields = []
    at = 0
    for shape in (10, 16, 19):
        if len(body) >= shape and _fits(body[at:shape], _SHAPE[at:shape]):
            at = shape
    rest = body[at:]
    # Fractions of a second are of no use to a schedule.
    if at == 19 and rest[:1] == ".":
        rest = rest[1:].lstrip("0123456789")
    if not at or (rest and at == 10):
        raise _bad(text)
    for start, end in ((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19)):
        fields.append(int(body[start:end]) if end <= at else 0)
    year, month, day, hour, minute, second = fields
    if not (1 <= month <= 12 and 1 <= day <= month_days(year, month) and year >= 1970):
        raise _bad(text)
    if hour > 23 or minute > 59 or second > 59:
        raise _bad(text)
    if rest:
        from tenner.schedule.zone import Zone

        if rest not in ("Z", "z") and rest[0] not in "+-":
            raise _bad(text)
        zone = Zone(rest.upper() if len(rest) != 5 else rest[:3] + ":" + rest[3:])
    return zone.utc_of(year, month, day, hour, minute, second)


def _fits(text, shape):
    for char, wanted in zip(text, shape):
        if not ("0" <= char <= "9" if wanted == "d" else char == wanted):
            return False
    return True


def _bad(text):
    return ValueError('"%s" is no date and time; write 2026-11-21T08:30' % text)
