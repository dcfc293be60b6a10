# tenner schedule.sensor_values: readings for conditions and for the texts of alarms.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.log import log
from tenner.sensors import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.schedule.types import Watching


async def read(heartbeat: "Watching", names: "Sequence[str]") -> dict:
    """Return the readings of these sensors, {value: number} each; a sentence (str) where one does
    not answer."""
    sensors = heartbeat.app.get("sensors")
    found = {}
    for name in names:
        try:
            found[name] = await sensors.read(name)
        except MemoryError:
            raise
        except Exception as error:
            # Any exception of a driver, an owner's own too, is a sensor that does not answer.
            found[name] = str(error) or type(error).__name__
    return found


async def fill(
    heartbeat: "Watching", template: str, known: "dict[str, float | None]", asks: bool = True
) -> str:
    """
    Return a template with readings for its `{sensor.value}` or `{sensor.value:.1f}`; `known` are
    those at hand, by their names. Without `asks` no sensor is read, and others are left out.
    """
    sensors = heartbeat.app.get("sensors")
    text, *rest = template.split("{")
    readings = {}
    for piece in rest:
        name, closing, after = piece.partition("}")
        name, colon, form = name.partition(":")
        sensor, dot, value = name.rpartition(".")
        if not closing or not dot or " " in name:
            text += "{" + piece
            continue
        found = known.get(name)
        if found is None and not asks:
            text += "\u2026" + after
            continue
        if found is None:
            if sensor not in readings:
                readings.update(await read(heartbeat, (sensor,)))
            found = readings[sensor]
            if not isinstance(found, str):
                found = found.get(value)
        if isinstance(found, (bool, int, float)) and found == found:
            sign = sensors.unit(value)
            if heartbeat.app.config.get("units") == "imperial":
                found, sign = units.imperial(found, sign)
            # Not twice, when the owner has written the unit behind it.
            word = after.strip().split(" ")[0].rstrip(".,;:!?)").lower()
            if word and word.lstrip("\u00b0") == sign.lower().lstrip("\u00b0"):
                sign = ""
            text += _formatted(found, form) + (" " + sign if sign else "")
        else:
            log("heartbeat", "notify: no value of %s: %s" % (name, found))
            text += "(no value)"
        text += after
    return text


def _formatted(value, form):
    """Return the number as `.1f` or `.0f` asks for; any other form is that of `units.show`."""
    if len(form) == 3 and form[0] == "." and form[1] in "0123456789" and form[2] == "f":
        return "%.*f" % (int(form[1]), value)
    return units.show(value)
