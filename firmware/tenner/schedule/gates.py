# tenner schedule.gates: whether a sensor's value opens a task: `when room.temperature > 30`.
# MIT license; Copyright (c) 2026 the tenner authors


from tenner.schedule.state import Gate


def build(when):
    """`Gate` of a parsed `when` clause."""
    gate = Gate()
    for name in when:
        setattr(gate, name, when[name])
    return gate


def check(gate, value, mono_s):
    """Whether the gate is open now. Call it at every check, or `for` cannot be known."""
    if gate.op == "changes by":
        if gate.reference is None:
            gate.reference = value
        return abs(value - gate.reference) >= gate.number
    holds = _holds(gate, value)
    if gate.fired:
        if holds or not _past_reset(gate, value):
            return False
        gate.fired = False
    if not holds:
        gate.since_s = None
        return False
    if gate.since_s is None:
        gate.since_s = mono_s
    return mono_s - gate.since_s >= gate.for_s


def unknown(gate):
    """The sensor did not answer: nobody knows that the condition held all the time."""
    gate.since_s = None


def fire(gate, value):
    """The task has run with this value."""
    if gate.reset is not None:
        gate.fired = True
    if gate.op == "changes by":
        gate.reference = value


def _holds(gate, value):
    op, number = gate.op, gate.number
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
    return not number <= value <= gate.number2


def _past_reset(gate, value):
    return value <= gate.reset if gate.op[0] == ">" else value >= gate.reset


def describe(gate, value):
    """`room.temperature 31.5 > 30`"""
    text = "%s.%s %s %s %s" % (
        gate.sensor,
        gate.value,
        show(value),
        gate.op,
        show(gate.number),
    )
    if gate.number2 is not None:
        text += "..%s" % show(gate.number2)
    if gate.for_s:
        text += " for %d s" % gate.for_s
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
