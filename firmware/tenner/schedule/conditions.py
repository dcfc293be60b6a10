# tenner schedule.conditions: whether readings meet a condition: `when room.temperature > 30`.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.sensors import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.schedule.task import Condition

#: Operators of events, which are over at once; all others last.
EVENTS = ("changes", "changes by")
#: Operators of moves, which last as long as their time window; nobody wants to hear of their end.
MOVES = ("drops by", "rises by")
# Percent of the number, for a condition without `reset`; of the width, for `outside`.
_MARGIN_PERCENT = const(1)
_WIDTH_PERCENT = const(5)
# Readings that are kept for `drops by` and `rises by`.
_PAST = const(24)


def terms(condition: "Condition") -> "tuple[Condition, ...]":
    """Return the conditions that `and` or `or` joins, the first one first."""
    return (condition,) + tuple(condition.also)


def number(condition: "Condition", readings: dict) -> float | str:
    """Return the number that a condition is about, or a sentence (str) that says why it has
    none."""
    found = readings.get(condition.sensor, "it was not asked")
    if isinstance(found, str):
        return found
    value = found.get(condition.value)
    # A NaN is the one number that differs from itself.
    if isinstance(value, (bool, int, float)) and value == value:
        return +value
    return "it gives no number %s; it gives %s" % (
        condition.value,
        ", ".join(sorted(found)) or "nothing",
    )


def is_met(
    condition: "Condition", readings: dict, mono_s: int, is_on: bool = False
) -> bool | None:
    """
    Return whether the condition is met, None when a sensor that matters does not answer. `is_on`:
    its alarm is, so the values must pass `reset`. Call it at every look, or it misses changes.
    """
    unknown = False
    found = []
    for term in terms(condition):
        value = number(term, readings)
        if isinstance(value, str):
            unknown = True
        else:
            found.append(_holds(term, value, mono_s, is_on))
    if condition.either:
        return True if True in found else None if unknown else False
    return False if False in found else None if unknown else True


def has_reset(condition: "Condition") -> bool:
    """Return whether every part of it says where it ends."""
    return all(term.reset is not None for term in terms(condition))


def _holds(term, value, mono_s, is_on):
    op = term.op
    if op in EVENTS:
        if term.reference is None:
            term.reference = value
        return abs(value - term.reference) >= (term.number or 1e-9)
    if op in MOVES:
        return _moved(term, value, mono_s)
    low = high = term.number
    if op == "outside":
        high = term.number2
        margin = (high - low) * _WIDTH_PERCENT / 100 if is_on else 0
        return not low + margin <= value <= high - margin
    if op == "==":
        return value == low
    if op == "!=":
        return value != low
    if value == low:
        holds = op in (">=", "<=")
    else:
        holds = op[0] == (">" if value > low else "<")
    if holds or not is_on:
        return holds
    end = term.reset
    if end is None:
        margin = abs(low) * _MARGIN_PERCENT / 100
        end = low + margin if op[0] == "<" else low - margin
    return value > end if op[0] == ">" else value < end


def _moved(term, value, mono_s):
    """Return whether the value has gone down, or up, by so much within the time."""
    falls = term.op == "drops by"
    # Only a reading that is higher, or lower, than all later ones can still matter.
    past = term.past = [
        one
        for one in term.past
        if 0 <= mono_s - one[0] <= term.within_s and (one[1] > value if falls else one[1] < value)
    ]
    values = [one[1] for one in past] + [value]
    by = max(values) - value if falls else value - min(values)
    if not past or (mono_s - past[-1][0]) * _PAST >= term.within_s:
        past.append((mono_s, value))
    return by >= term.number


def shown(term: "Condition", value: float, is_difference: bool = False) -> str:
    """Return a number of a condition in the owner's unit."""
    if term.imperial:
        value = units.imperial(value, units.unit(term.value), is_difference)[0]
    return units.show(value)


def describe(condition: "Condition", value: float | None = None) -> str:
    """Return `room.temperature 31.5 > 30 for 180 s`; without `value` as in the file."""
    texts = [_describe(term, value if term is condition else None) for term in terms(condition)]
    text = (" or " if condition.either else " and ").join(texts)
    return text + (" for %d s" % condition.for_s if condition.for_s else "")


def _describe(term, value):
    text = term.name()
    if value is not None:
        text += " " + shown(term, value)
    text += " " + term.op
    if term.op != "changes":
        text += " " + shown(term, term.number, term.op in EVENTS + MOVES)
    if term.number2 is not None:
        text += "..%s" % shown(term, term.number2)
    return text + (" within %d s" % term.within_s if term.within_s else "")
