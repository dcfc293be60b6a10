# tenner schedule.senses: asks the sensors behind the gates, once per wake, and says once when one is silent.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.schedule import gates


class Senses:
    """Lives for one wake. `failed` lists the "sensor.value" names that were reported as silent."""

    def __init__(self, sensors, notify, failed):
        self._sensors = sensors
        self._notify = notify
        self.failed = failed
        # Readings of this wake, by sensor; a sentence where it did not answer.
        self._now = {}

    async def value(self, sensor, name):
        """A number; ValueError with a sentence when the sensor does not give it."""
        if sensor not in self._now:
            try:
                self._now[sensor] = await self._sensors.read(sensor)
            except Exception as error:
                # Whatever a driver raises, an owner's own driver too, is a check that failed.
                self._now[sensor] = str(error) or repr(error)
        found = self._now[sensor]
        if isinstance(found, str):
            raise ValueError(found)
        return gates.pick(found, name)

    async def check(self, task, mono_s, forced=False):
        """(open, None) of a task's gate, or (None, reason) when the check failed."""
        gate = task.gate
        name = "%s.%s" % (gate.sensor, gate.value)
        try:
            value = await self.value(gate.sensor, gate.value)
        except ValueError as error:
            gates.unknown(gate)
            if name not in self.failed:
                self.failed.append(name)
                log("heartbeat", "gate %s: check failed: %s" % (name, error))
                self._notify(
                    "I cannot check %s for HEARTBEAT.md line %d. Its tasks wait until it answers; "
                    "I will not say this again before. %s" % (name, task.line, error)
                )
            return None, "check failed (%s)" % name
        if name in self.failed:
            self.failed.remove(name)
            log("heartbeat", "gate %s: answers again" % name)
        is_open = gates.check(gate, value, mono_s)
        if is_open != task.was_open:
            word = "open" if is_open else "shut"
            if gate.fired:
                word = "quiet until it passes %s" % gates.show(gate.reset)
            log("heartbeat", "gate %s: %s" % (gates.describe(gate, value), word))
        task.was_open = is_open
        if is_open or forced:
            task.opened = value
        return is_open or forced, None

    async def fill(self, template, known):
        """A notify text with its values; `known` holds those that opened the gate."""
        for name in gates.names(template):
            if name not in known:
                sensor, _, value = name.rpartition(".")
                try:
                    known[name] = await self.value(sensor, value)
                except ValueError as error:
                    log("heartbeat", "notify: no value of %s: %s" % (name, error))
        return gates.fill(template, known, self._sensors.unit)
