# tenner schedule.known_values: the values of SENSORS.json's sensors, and conditions on them.
# MIT license; Copyright (c) 2026 the tenner authors
"""
    TERM [and TERM ...] | TERM [or TERM ...]       each with `reset N`; `for DURATION` is that of
                                                   all

A term: SENSOR.VALUE, then > >= < <= = != N, `is on`, `outside A..B`, `changes [by N]`,
`drops by N within T`, `rises by N within T`. It becomes a dict of the attributes of
task.Condition; several are {"all": [...]} or {"any": [...]}.
"""

from tenner.port.compat import const
from tenner.port.package import locate
from tenner.schedule.line_words import converted, dimensions, duration, fold, is_digits, with_unit
from tenner.sensors import reading, units
from tenner.sensors.errors import SensorError
from tenner.store import files
from tenner.store.suggest import nearest

# Values that are words of states too: "the door is open".
_STATES = ("open", "closed", "wet", "dry", "on", "off", "high", "low")

_MAX_TERMS = const(4)

SIGNS = (">=", "<=", "==", "!=", ">", "<", "=")
_SAME = (("\u2265", ">="), ("\u2264", "<="), ("\u2260", "!="), ("=>", ">="), ("=<", "<="))
_WORDS = (
    ("is not", "!="), ("isn't", "!="), ("is above", ">"), ("is over", ">"),
    ("is below", "<"), ("is under", "<"),
    ("is at least", ">="), ("is at most", "<="), ("is outside", "outside"),
    ("above", ">"), ("over", ">"),
    ("below", "<"), ("under", "<"), ("equals", "=="), ("is", "=="), ("falls by", "drops by"),
    ("drops by", "drops by"), ("rises by", "rises by"),
    ("changes by", "changes by"), ("changes", "changes"),
    ("outside", "outside"),
)  # fmt: skip
_EXAMPLE = "SENSOR.VALUE > NUMBER, such as room.temperature > 30"


class Known:
    """The sensors of a SENSORS.json; `table` is {name: settings}."""

    #: Is the owner shown imperial units?
    imperial = False

    def __init__(self, table: dict) -> None:
        #: {name: [values, unit, name in words]}; values are "" where only the driver knows them.
        self.sensors: dict[str, tuple[str, str, str]] = {}
        chips = _chips([table[name].get("driver", "") for name in table])
        for name in table:
            cfg = table[name]
            values = chips.get(str(cfg.get("driver", "")).lower(), "")
            named = cfg.get("value")
            if values and isinstance(named, str):
                values = named if values == "voltage" else values + " " + named
            self.sensors[name] = (values, str(cfg.get("unit") or ""), str(cfg.get("name") or ""))

    def phrases(self) -> list[tuple[bytes, str]]:
        """Return (folded words, meaning) of the sensors and of their own values."""
        found = []
        for name in self.sensors:
            values, _, label = self.sensors[name]
            for words in (name, name.replace("_", " "), label):
                found.append((bytes([byte for byte in fold(words) if byte]), "name:" + name))
            for value in values.split():
                if value not in _STATES and value not in self.sensors:
                    found.append((value.encode(), "v:" + value))
                    found.append((value.replace("_", " ").encode(), "v:" + value))
        return found

    def spelled(self, dotted: str) -> str:
        """Return SENSOR.VALUE as SENSORS.json spells it, where only the case of letters
        differs."""
        sensor, _, value = dotted.rpartition(".")
        for name in self.sensors:
            if name.lower() == sensor.lower():
                for one in self.sensors[name][0].split():
                    if one.lower() == value.lower():
                        value = one
                return name + "." + value
        return dotted

    def find(self, sensor: str, value: str, unit: str) -> str | None:
        """Return the SENSOR.VALUE that is meant by a sensor's name, a value or a unit, any of them
        empty; None unless it is exactly one."""
        found = []
        for name in [sensor] if sensor else sorted(self.sensors):
            if name not in self.sensors:
                return None
            for one in self.sensors[name][0].split() or [value]:
                if one and (not value or one == value):
                    found.append((name, one))
        if len(found) > 1 and unit:
            meant = dimensions(unit)
            found = [one for one in found if [
                name for name in dimensions(self.unit(*one)) if name in meant
            ]]  # fmt: skip
        return "%s.%s" % found[0] if len(found) == 1 else None

    def unit(self, sensor: str, value: str) -> str:
        """Return the unit of a value, "" where it is not known."""
        known = self.sensors.get(sensor)
        return known[1] if known and known[1] else units.unit(value)

    def example(self) -> str:
        """Return a SENSOR.VALUE that is right."""
        for name in sorted(self.sensors):
            values = self.sensors[name][0].split()
            if values and name != "board":
                return name + "." + values[0]
        return "room.temperature"

    def problem(self, sensor: str, value: str) -> str | None:
        """Return a sentence about a wrong name, None for a right one."""
        if sensor not in self.sensors:
            near = nearest(sensor, sorted(self.sensors))
            if near:
                values = self.sensors[near][0].split()
                right = value if value in values or not values else nearest(value, values)
                return 'there is no sensor "%s"; did you mean "%s.%s"?' % (
                    sensor, near, right or values[0],
                )  # fmt: skip
            if sensor.lower() in _chips([sensor]):
                return '%s is a chip that SENSORS.json does not have; add there "%s": {"driver": "%s", ...}, with its bus or pin' % (  # noqa: E501
                    sensor, sensor, sensor.lower(),
                )  # fmt: skip
            return 'there is no sensor "%s"; add it to SENSORS.json, which has: %s' % (
                sensor, ", ".join(sorted(self.sensors)) or "none",
            )  # fmt: skip
        values = self.sensors[sensor][0].split()
        if not values or value in values:
            return None
        near = nearest(value, values) or (values[0] if len(values) == 1 else "")
        if near:
            return '%s gives no %s; did you mean "%s.%s"?' % (sensor, value, sensor, near)
        return "%s gives no %s; it gives %s" % (sensor, value, ", ".join(values))


def load(workspace: str) -> Known | None:
    """Return the sensors of the workspace's SENSORS.json; None without the file, or where its
    mistake is told elsewhere."""
    try:
        return (
            Known(reading.load(workspace)) if files.exists(workspace + "/SENSORS.json") else None
        )
    except SensorError:
        return None


def mistake(workspace: str) -> str:
    """Return the sentence about a SENSORS.json that cannot be read, "" without one."""
    try:
        reading.load(workspace)
    except SensorError as error:
        return str(error)
    return ""


def _chips(wanted):
    """Return {driver or chip: its values} of chips.tsv, for these drivers."""
    found = {}
    wanted = [str(name).lower() for name in wanted]
    for line in files.lines_of(files.blocks(*locate("sensors/chips.tsv"))):
        chip, driver, *values = line.decode().split()
        for name in (chip, driver):
            if name in wanted:
                found[name] = (values or [""])[0].replace(",", " ")
    return found


def parse_condition(text: str, known: "Known | None" = None) -> dict:
    """Return the condition, its numbers in the units of the sensors; ValueError with a
    sentence."""
    for sign, plain in _SAME:
        text = text.replace(sign, plain)
    found, either, both = [], False, False
    rest = text
    for_s = 0
    while True:
        rest, joint, behind = _cut(rest)
        term = _term(rest, known)
        if term.get("for_s"):
            if for_s:
                raise ValueError("for stands twice; one is enough for all")
            for_s = term["for_s"]
        found.append(term)
        either = either or joint == "or"
        both = both or joint == "and"
        if not joint:
            break
        rest = behind
    if either and both:
        raise ValueError("and and or cannot be mixed; write two lines")
    if len(found) > _MAX_TERMS:
        raise ValueError("%d conditions are too many; %d at most" % (len(found), _MAX_TERMS))
    if len(found) == 1:
        return found[0]
    for term in found:
        term.pop("for_s", None)
        if term["op"] in ("changes", "changes by"):
            raise ValueError("changes cannot be joined with and, or; write two lines")
    joined: dict = {"any" if either else "all": found}
    if for_s:
        joined["for_s"] = for_s
    return joined


def _cut(text):
    """Return (the first term, "and" or "or" or "", the rest)."""
    low = text.lower()
    places = [(low.find(" %s " % word), word) for word in ("and", "or")]
    places = [place for place in places if place[0] >= 0]
    if not places:
        return text, "", ""
    at, word = min(places)
    return text[:at], word, text[at + len(word) + 2 :]


def _operator(text):
    """Return (operator, the rest) of the text after a name."""
    for sign in SIGNS:
        if text.startswith(sign):
            return "==" if sign == "=" else sign, text[len(sign) :].strip()
    low = text.lower()
    for words, op in _WORDS:
        if low == words or low.startswith(words + " "):
            return op, text[len(words) :].strip()
    word = text.split(" ")[0]
    raise ValueError(
        '"%s" is no comparison; expected >, >=, <, <=, =, !=, outside A..B, changes by N' % word
    )


def _term(text, known):
    text = " ".join(text.split())
    end = 0
    while end < len(text) and text[end] not in " <>=!":
        end += 1
    name, text = text[:end], text[end:].strip()
    sensor, _, value = name.rpartition(".")
    if not sensor or not value:
        what = '"%s" is no sensor\'s value' % name if name else "no sensor is named"
        raise ValueError("%s; expected %s" % (what, _EXAMPLE))
    if known:
        sensor, _, value = known.spelled(name).rpartition(".")
        problem = known.problem(sensor, value)
        if problem:
            raise ValueError(problem)
    if not text:
        raise ValueError('"%s" is compared with nothing; expected %s' % (name, _EXAMPLE))
    op, text = _operator(text)
    found = {"sensor": sensor, "value": value, "op": op}
    pieces = _pieces(text)
    amount = pieces.pop("")
    own = known.unit(sensor, value) if known else units.unit(value)
    is_difference = op in ("changes by", "drops by", "rises by")
    if op == "outside":
        found["number"], found["number2"] = _range(amount, own)
    elif op == "changes":
        found["number"] = 0
        if amount:
            raise ValueError('"changes %s"; expected changes, or changes by NUMBER' % amount)
    else:
        found["number"] = _amount(amount, own, is_difference)
        if op not in ("==", "!=") and not any(is_digits(letter) for letter in amount):
            raise ValueError('"%s %s"; expected a number' % (op, amount))
    if op in ("drops by", "rises by"):
        if "within" not in pieces:
            raise ValueError('"%s" needs a time; expected %s 2 within 10m' % (op, op))
        found["within_s"] = _time(pieces.pop("within"))
    if op in ("changes by", "drops by", "rises by") and found["number"] <= 0:
        raise ValueError('"%s %s"; expected a number above 0' % (op, amount))
    if "for" in pieces:
        found["for_s"] = _time(pieces.pop("for"))
    if "reset" in pieces:
        reset = found["reset"] = _amount(pieces.pop("reset"), own)
        beyond = reset - found["number"]
        if op[0] not in "<>" or (beyond > 0 if op[0] == ">" else beyond < 0):
            raise ValueError('"reset %s" is on the wrong side; expected reset NUMBER on the other side'  # noqa: E501
                             % reset)  # fmt: skip
    for word in pieces:
        raise ValueError('"%s" does not belong to %s' % (word, op))
    if op[:7] == "changes" and "for_s" in found:
        raise ValueError('"for" makes no sense with changes')
    return found


def _pieces(text):
    """Return {"": the first words, "for": ..., "reset": ..., "within": ...}."""
    found: dict = {"": []}
    name = ""
    words = text.split()
    for index, word in enumerate(words):
        low = word.lower()
        # Inches, too.
        is_unit = low == "in" and not is_digits((words + [""])[index + 1][:1])
        if low in ("for", "reset", "within", "in") and not is_unit:
            name = "within" if low == "in" else low
            if name in found:
                raise ValueError('"%s" stands twice' % name)
            found[name] = []
        else:
            found[name].append(word)
    for name in found:
        found[name] = " ".join(found[name])
    return found


def _amount(text, own, is_difference=False):
    try:
        found, unit = with_unit(text)
    except ValueError as error:
        raise ValueError(
            '"%s" is no number; %s'
            % (text, str(error) or "expected one such as 30, -2.5, 35 \u00b0C, 11.8V")
        )
    return converted(found, unit, own, is_difference)


def _time(text):
    try:
        return duration(text)
    except ValueError:
        raise ValueError('"%s" is no duration; expected one such as 90s, 10m, 1h30m' % text)


def _range(text, own):
    for sign in ("..", " to ", " and ", "-", "\u2013"):
        # Not the sign of the first number.
        at = text.find(sign, 1)
        if at > 0:
            first, last = text[:at].strip(), text[at + len(sign) :].strip()
            high = _amount(last, own)
            if first[-1:] in "0123456789":
                # `40..50 \u00b0F`: the unit is that of both.
                first += last.lstrip("+-\u22120123456789.,")
            elif last[-1:] in "0123456789":
                raise ValueError('"outside %s"; expected the unit at the end' % text)
            low = _amount(first, own)
            if low >= high:
                raise ValueError('"outside %s" runs backwards; expected outside A..B' % text)
            return low, high
    raise ValueError('"outside %s"; expected outside A..B, such as outside 18..25' % text)
