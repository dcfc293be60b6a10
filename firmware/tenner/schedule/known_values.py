# tenner schedule.known_values: the sensors of SENSORS.json and their values.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.package import locate
from tenner.schedule.line_words import fold
from tenner.schedule.quantity import dimensions
from tenner.sensors import reading, units
from tenner.sensors.errors import SensorError
from tenner.store import files
from tenner.store.suggest import nearest

# Values that are words of states too: "the door is open".
_STATES = ("open", "closed", "wet", "dry", "on", "off", "high", "low")


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
