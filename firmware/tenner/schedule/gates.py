# tenner schedule.gates: whether a sensor's value opens a task: `when room.temperature > 30`.
# MIT license; Copyright (c) 2026 the tenner authors


class Gate:
    """One condition with its memory: how long it holds, and whether it has fired."""

    def __init__(self, when):
        self.sensor = when["sensor"]
        self.value = when["value"]
        self.op = when["op"]
        self.number = when["number"]
        self.number2 = when.get("number2")
        self.for_s = when.get("for_s", 0)
        self.reset = when.get("reset")
        self.since_s = None
        # Survive a reboot in the schedule's state file:
        self.fired = False
        self.reference = None

    def check(self, value, mono_s):
        """Whether the gate is open now. Call it at every check, or `for` cannot be known."""
        if self.op == "changes by":
            if self.reference is None:
                self.reference = value
            return abs(value - self.reference) >= self.number
        holds = self._holds(value)
        if self.fired:
            if holds or not self._past_reset(value):
                return False
            self.fired = False
        if not holds:
            self.since_s = None
            return False
        if self.since_s is None:
            self.since_s = mono_s
        return mono_s - self.since_s >= self.for_s

    def unknown(self):
        """The sensor did not answer: nobody knows that the condition held all the time."""
        self.since_s = None

    def fire(self, value):
        """The task has run with this value."""
        if self.reset is not None:
            self.fired = True
        if self.op == "changes by":
            self.reference = value

    def _holds(self, value):
        op, number = self.op, self.number
        if op == ">":
            return value > number
        if op == ">=":
            return value >= number
        if op == "<":
            return value < number
        if op == "<=":
            return value <= number
        if op == "==":
            return value == number
        if op == "!=":
            return value != number
        return not number <= value <= self.number2

    def _past_reset(self, value):
        return value <= self.reset if self.op[0] == ">" else value >= self.reset

    def describe(self, value):
        """`room.temperature 31.5 > 30`"""
        text = "%s.%s %s %s %s" % (
            self.sensor,
            self.value,
            show(value),
            self.op,
            show(self.number),
        )
        if self.number2 is not None:
            text += "..%s" % show(self.number2)
        if self.for_s:
            text += " for %d s" % self.for_s
        return text


def show(value):
    """A reading as a person writes it: two decimals at most."""
    if isinstance(value, float):
        text = "%.2f" % value
        return text.rstrip("0").rstrip(".")
    return str(value)


def pick(readings, name):
    """The number called `name` among one sensor's readings; ValueError says what is wrong."""
    value = readings.get(name)
    if isinstance(value, bool):
        return int(value)
    # A NaN is the one number that differs from itself.
    if isinstance(value, (int, float)) and value == value:
        return value
    if name in readings:
        raise ValueError("its %s is no number (%s)" % (name, value))
    raise ValueError("it gives no %s, it has %s" % (name, ", ".join(sorted(readings)) or "none"))


def fill(template, readings, unit):
    """Put readings into `{sensor.value}`; `readings` maps that name to a number."""
    out = []
    while True:
        head, brace, tail = template.partition("{")
        name, closing, after = tail.partition("}")
        out.append(head)
        if not brace:
            break
        if not closing:
            out.append("{" + tail)
            break
        if "." not in name or " " in name:
            out.append("{" + name + "}")
        elif name not in readings:
            out.append("(no value)")
        else:
            out.append(show(readings[name]))
            sign = unit(name.rpartition(".")[2]) if unit else ""
            # Not twice, when the owner has written the unit behind it.
            if sign and not after.lstrip().startswith(sign):
                out.append(" " + sign)
        template = after
    return "".join(out)


def names(template):
    """The `sensor.value` names in a template."""
    found = []
    for piece in template.split("{")[1:]:
        name, closing, _ = piece.partition("}")
        if closing and "." in name and " " not in name and name not in found:
            found.append(name)
    return found
