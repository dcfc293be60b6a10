# tenner tools.sensor: reads the named sensors, with units and age of the values.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.sensors.errors import SensorError
from tenner.sensors.units import imperial, show, unit
from tenner.tools import history
from tenner.tools.errors import ToolError
from tenner.tools.patterns import with_places
from tenner.tools.untrusted import mark_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.tools.types import ToolContext


NEEDS = "file:SENSORS.json"
LIMITS = {"hours": (0.1, 8784)}


def subjects(args: dict) -> "Sequence[str]":
    return with_places(args["action"], *([args["name"]] if "name" in args else ()))


async def run(args: dict, ctx: "ToolContext") -> str:
    sensors = ctx.sensors
    try:
        if args["action"] == "list":
            names = sensors.names()
            text = ", ".join(names) or "none; SENSORS.json in the workspace defines them"
            return mark_names("sensors", names, text)
        name = args["name"]
        if args["action"] == "history":
            return await history.read(ctx, name, args.get("hours", 24))
        values = await sensors.read(name)
    except SensorError as error:
        raise ToolError(_marked(sensors, str(error)))
    shown = []
    for value_name in sorted(values):
        value, sign = values[value_name], unit(value_name)
        if ctx.config.get("units") == "imperial" and isinstance(value, (int, float)):
            value, sign = imperial(value, sign)
            value = show(value)
        shown.append("%s %s %s" % (value_name, value, sign))
    age_s = sensors.age_ms(name) / 1000
    when = "now" if age_s < 1 else "%.0f s ago" % age_s
    text = "%s: %s (%s)" % (name, ", ".join([text.strip() for text in shown]), when)
    return mark_names("sensors", [name] + list(values), text)


def _marked(sensors, problem):
    """Return a sentence that may list the sensors."""
    try:
        names = sensors.names()
    except SensorError:
        names = [""]  # the sentence may quote any of them
    return mark_names("sensors", names, problem)
