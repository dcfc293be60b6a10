# tenner schedule.conditions: whether a sensor's value meets the condition of a task: `when room.temperature > 30`.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log


def check(condition, value, mono_s):
    """Return whether the task may run now. Call it at every look, or `for` cannot be known."""
    if condition.op == "changes by":
        if condition.reference is None:
            condition.reference = value
        return abs(value - condition.reference) >= condition.number
    holds = _holds(condition, value)
    reset = condition.reset
    if condition.fired:
        if holds or (value > reset if condition.op[0] == ">" else value < reset):
            return False
        condition.fired = False
    if not holds:
        condition.since_s = None
        return False
    if condition.since_s is None:
        condition.since_s = mono_s
    return mono_s - condition.since_s >= condition.for_s


def fire(condition, value):
    """The task has run with this value."""
    if condition.reset is not None:
        condition.fired = True
    if condition.op == "changes by":
        condition.reference = value


def _holds(condition, value):
    op, number = condition.op, condition.number
    if op == "outside":
        return not number <= value <= condition.number2
    if value == number:
        return op in (">=", "<=", "==")
    return op == "!=" or op[0] == (">" if value > number else "<")


def silent(heartbeat):
    """Return the names of what was reported not to answer."""
    found = [task.condition for task in heartbeat.tasks or () if task.condition]
    return [condition.name() for condition in found if condition.silent]


def describe(condition, value):
    """Return `room.temperature 31.5 > 30`."""
    text = "%s %s %s %s" % (
        condition.name(),
        show(value),
        condition.op,
        show(condition.number),
    )
    if condition.number2 is not None:
        text += "..%s" % show(condition.number2)
    return text + (" for %d s" % condition.for_s if condition.for_s else "")


def show(value):
    """Return a reading as a person writes it: two decimals at most."""
    if isinstance(value, float):
        return ("%.2f" % value).rstrip("0").rstrip(".")
    return str(value)


class Senses:
    """Asks the sensors, each once per look, and says once when one is silent."""

    def __init__(self, heartbeat):
        self._heartbeat = heartbeat
        self._sensors = heartbeat.app.part("sensors")
        # Readings of this look, by sensor; a sentence where it did not answer.
        self._now = {}

    async def value(self, sensor, name):
        """Return a number; ValueError with a sentence when the sensor does not give it."""
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
        """Return None when a task's condition lets it run, else why it does not."""
        condition = task.condition
        name = condition.name()
        try:
            value = await self.value(condition.sensor, condition.value)
        except ValueError as error:
            # Nobody knows that the condition held all the time.
            condition.since_s = None
            if name not in silent(self._heartbeat):
                log("heartbeat", "gate %s: check failed: %s" % (name, error))
                self._heartbeat.app.agent.notify(
                    "I cannot check %s (HEARTBEAT.md line %d): %s Its tasks wait until it answers."
                    % (name, task.line, str(error).rstrip(".") + ".")
                )
            condition.silent = True
            return "check failed (%s)" % name
        if condition.silent:
            condition.silent = False
            log("heartbeat", "gate %s: answers again" % name)
        is_met = check(condition, value, mono_s)
        if is_met != task.last_result:
            word = "open" if is_met else "quiet" if condition.fired else "shut"
            log("heartbeat", "gate %s: %s" % (describe(condition, value), word))
        task.last_result = is_met
        if is_met or forced:
            task.trigger_value = value
            return None
        return "no gate is true (1 checked)"

    async def fill(self, template, known):
        """Return a template with readings for its `{sensor.value}`; `known` are those at hand."""
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
