# tenner sensors.command: /sensors.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.sensors import units
from tenner.sensors.errors import SensorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tenner.types import Reporting

_NONE = (
    "No sensors yet. Ask me to look for chips on the bus, or write SENSORS.json: `tenner sensors` "
    "on your computer helps with both."
)


def command(
    app: "Reporting", name: str, args: str, channel: str, chat: int | str
) -> "Coroutine[Any, Any, str]":
    """Return a coroutine that returns the answer to `/sensors [NAME]`; see channels.commands."""
    # The phase of readings, for the drivers.
    return overlay.step("SAMPLE", _answer, app, args)


async def _answer(app: "Reporting", wanted):
    sensors = app.get("sensors")
    try:
        names = sensors.names()
    except SensorError as error:
        return str(error)
    if wanted and wanted not in names:
        return "There is no sensor %s. SENSORS.json has: %s." % (
            wanted[:32],
            ", ".join(names) or "none",
        )
    lines = []
    for name in [wanted] if wanted else names:
        try:
            values = await sensors.read(name)
            lines.append("%s: %s" % (name, ", ".join(_shown(app.config, values))))
        except SensorError as error:
            lines.append(str(error).replace("sensor ", "", 1))
    return "\n".join(lines) or _NONE


def _shown(config, values):
    """Yield `temperature 31.5 °C` for each value."""
    for name in sorted(values):
        value, sign = values[name], units.unit(name)
        if isinstance(value, bool):
            value = "on" if value else "off"
        elif isinstance(value, (int, float)):
            if config.get("units") == "imperial":
                value, sign = units.imperial(value, sign)
            value = units.show(value)
        yield ("%s %s %s" % (name, value, sign)).rstrip()
