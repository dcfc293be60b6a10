# tenner schedule.gates: whether a sensor's value opens a task: `when room.temperature > 30`.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log


def check(gate, value, mono_s):
    """Whether the gate is open now. Call it at every check, or `for` cannot be known."""
    if gate.op == "changes by":
        if gate.reference is None:
            gate.reference = value
        return abs(value - gate.reference) >= gate.number
    holds = _holds(gate, value)
    if gate.fired:
        if holds or (value > gate.reset if gate.op[0] == ">" else value < gate.reset):
            return False
        gate.fired = False
    if not holds:
        gate.since_s = None
        return False
    if gate.since_s is None:
        gate.since_s = mono_s
    return mono_s - gate.since_s >= gate.for_s


def fire(gate, value):
    """The task has run with this value."""
    if gate.reset is not None:
        gate.fired = True
    if gate.op == "changes by":
        gate.reference = value


def _holds(gate, value):
    op, number = gate.op, gate.number
    if op == "outside":
        return not number <= value <= gate.number2
    if value == number:
        return op in (">=", "<=", "==")
    return op == "!=" or op[0] == (">" if value > number else "<")


def name_of(gate):
    return "%s.%s" % (gate.sensor, gate.value)


def silent(heartbeat):
    """Names of what was reported not to answer."""
    gates = [task.gate for task in heartbeat.tasks or () if task.gate]
    return [name_of(gate) for gate in gates if gate.silent]


def describe(gate, value):
    """`room.temperature 31.5 > 30`"""
    text = "%s %s %s %s" % (name_of(gate), show(value), gate.op, show(gate.number))
    if gate.number2 is not None:
        text += "..%s" % show(gate.number2)
    return text + (" for %d s" % gate.for_s if gate.for_s else "")


def show(value):
    """A reading as a person writes it: two decimals at most."""
    if isinstance(value, float):
        return ("%.2f" % value).rstrip("0").rstrip(".")
    return str(value)


class Senses:
    """Asks the sensors, each once per wake, and says once when one is silent."""

    def __init__(self, heartbeat):
        self._heartbeat = heartbeat
        self._sensors = heartbeat.app.part("sensors")
        # Readings of this wake, by sensor; a sentence where it did not answer.
        self._now = {}

    async def value(self, sensor, name):
        """A number; ValueError with a sentence when the sensor does not give it."""
        if sensor not in self._now:
            try:
                self._now[sensor] = await self._sensors.read(sensor)
            except MemoryError:
                raise
            except Exception as error:
                # Whatever a driver raises, an owner's own driver too, is a check that failed.
                self._now[sensor] = str(error) or repr(error)
        found = self._now[sensor]
        if isinstance(found, str):
            raise ValueError(found)
        value = found.get(name)
        # A NaN is the one number that differs from itself.
        if isinstance(value, (bool, int, float)) and value == value:
            return +value
        raise ValueError("it gives no number %s, it gives %s" % (name, found))

    async def check(self, task, mono_s, forced=False):
        """None when a task's gate lets pass, else why it does not."""
        gate = task.gate
        name = name_of(gate)
        try:
            value = await self.value(gate.sensor, gate.value)
        except ValueError as error:
            # Nobody knows that the condition held all the time.
            gate.since_s = None
            if name not in silent(self._heartbeat):
                log("heartbeat", "gate %s: check failed: %s" % (name, error))
                self._heartbeat.app.agent.notify(
                    "I cannot check %s (HEARTBEAT.md line %d): %s Its tasks wait until it answers."
                    % (name, task.line, str(error).rstrip(".") + ".")
                )
            gate.silent = True
            return "check failed (%s)" % name
        if gate.silent:
            gate.silent = False
            log("heartbeat", "gate %s: answers again" % name)
        is_open = check(gate, value, mono_s)
        if is_open != task.was_open:
            word = "open" if is_open else "quiet" if gate.fired else "shut"
            log("heartbeat", "gate %s: %s" % (describe(gate, value), word))
        task.was_open = is_open
        if is_open or forced:
            task.opened = value
            return None
        return "no gate is true (1 checked)"

    async def fill(self, template, known):
        """A template with readings for its `{sensor.value}`; `known` are those at hand."""
        text, *rest = template.split("{")
        for piece in rest:
            name, closing, after = piece.partition("}")
            sensor, dot, value = name.rpartition(".")
            if not closing or not dot or " " in name:
                text += "{" + piece
                continue
            try:
                reading = known[name] if name in known else await self.value(sensor, value)
                sign = self._sensors.unit(value)
                # Not twice, when the owner has written the unit behind it.
                if sign and after.lstrip().startswith(sign):
                    sign = ""
                text += show(reading) + (" " + sign if sign else "")
            except ValueError as error:
                log("heartbeat", "notify: no value of %s: %s" % (name, error))
                text += "(no value)"
            text += after
        return text
