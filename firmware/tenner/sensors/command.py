# tenner sensors.command: /sensors.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner import overlay
from tenner.channels import question
from tenner.sensors import finding, units
from tenner.sensors.errors import SensorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from typing import Any

    from tenner.sensors.reading import Sensors
    from tenner.store.config import Config
    from tenner.types import Reporting

_NONE = (
    "No sensors yet. /sensors find looks for chips on the buses, and /sensors add NAME DRIVER "
    "makes a sensor of one; or write SENSORS.json."
)
#: Stands in the answer of `add` when nothing was written.
NOT_ADDED = " is not added: "
_ADD = "/sensors add NAME DRIVER bus=i2c0 address=0x44, or pin=D4; drivers: %s"


def command(
    app: "Reporting", name: str, args: str, channel: str, chat: int | str
) -> "str | Coroutine[Any, Any, str]":
    """Return the answer to `/sensors [NAME]`, `/sensors find` or `/sensors add NAME DRIVER ...`,
    or a coroutine that returns it; see channels.commands."""
    words = args.split()
    # The phase of readings, for the drivers. It evicts the class of sensors that were asked for
    # before it.
    if words[:1] == ["add"]:
        if not question.is_owner(app, channel, chat):
            return "Only the owner adds a sensor."
        return overlay.once("SAMPLE", add, app.get, app.config, words[1:])
    work = _found if words == ["find"] else _answer
    return overlay.step("SAMPLE", work, app.get, app.config, args)


async def _found(get, config, args):
    """Return a line for each chip that was found."""
    sensors = get("sensors")
    lines = []
    try:
        for one in finding.find(sensors.port, sensors.workspace):
            if "problem" in one:
                lines.append(one["problem"])
                continue
            text = "%s %s: %s" % (one["bus"], one["address"], one["chips"] or "an unknown chip")
            if one["sensor"]:
                text += " (your sensor %s)" % one["sensor"]
            elif one["drivers"]:
                place = one["drivers"][0], one["bus"], one["address"]
                text += "; /sensors add NAME %s bus=%s address=%s" % place
            lines.append(text)
    except SensorError as error:
        lines.append(str(error))
    return "\n".join(lines) or "This board has no I2C bus."


async def add(get: "Callable[[str], Sensors]", config: "Config", words: "Sequence[str]") -> str:
    """Read a new sensor, and write it into SENSORS.json if it answers. `words`: its name, its
    driver, and settings such as `pin=D4`."""
    if len(words) < 2:
        return _ADD % ", ".join(finding.drivers())
    name = words[0]
    cfg = {"driver": words[1]}
    for word in words[2:]:
        key, _, cfg[key] = word.partition("=")
    sensors = get("sensors")
    try:
        values = await finding.attempt(sensors, name, cfg)
        finding.add(sensors.workspace, name, cfg)
    except SensorError as error:
        return name + NOT_ADDED + str(error).replace("sensor %s: " % name, "", 1)
    return "%s is a sensor now: %s" % (name, ", ".join(_shown(config, values)))


async def _answer(get, config, wanted):
    sensors = get("sensors")
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
            lines.append("%s: %s" % (name, ", ".join(_shown(config, values))))
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
