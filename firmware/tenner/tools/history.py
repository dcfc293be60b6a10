# tenner tools.history: summarizes the readings of a sensor in the last hours.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.sensors import ring
from tenner.sensors.errors import SensorError
from tenner.sensors.units import imperial, unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext


async def read(ctx: "ToolContext", name: str, hours: int) -> str:
    """Return min, max, mean and last of each value; raise SensorError when no reading is
    stored."""
    port = ctx.port
    now = port.unix_time()
    kept = ring.of(port.path("state"), ctx.config)
    found = await kept.summary(name, now - int(hours * 3600), now)
    if not found:
        raise SensorError(_why_not(ctx, name, hours))
    lines = []
    count, first, last = 0, now, 0
    for key in sorted(found):
        row = found[key]
        count, first, last = max(count, row[0]), min(first, row[1]), max(last, row[2])
        numbers, sign = row[3:], unit(key)
        if ctx.config.get("units") == "imperial":
            numbers = [imperial(one, sign)[0] for one in numbers]
            sign = imperial(0, sign)[1]
        text = "%s min %s max %s mean %s last %s " % tuple([key] + [_shown(n) for n in numbers])
        lines.append(text + sign)
    text = "%s, %d readings from %s ago to %s ago" % (
        name, count, _age(now - first), _age(now - last)
    )  # fmt: skip
    every_s = ctx.config.get("sensors.every")
    if now - last > 2 * every_s:
        text += " (old: one is due every %s)" % _age(every_s) if every_s else " (old)"
    return text + ":\n" + "\n".join(lines)


def _why_not(ctx, name, hours):
    names = ctx.sensors.names()
    if name not in names:
        return "there is no sensor %s; SENSORS.json has: %s" % (name, ", ".join(names) or "none")
    every_s = ctx.config.get("sensors.every")
    if not every_s:
        return "no readings are kept: sensors.every is off"
    text = (
        "no reading of %s was kept in the last %s h: one is kept every %s, once the clock is set"
    )
    return text % (name, _shown(hours), _age(every_s))


def _age(seconds):
    return "%d min" % ((seconds + 30) // 60) if seconds < 5400 else "%.1f h" % (seconds / 3600)


def _shown(number):
    """Return a number with its significant digits."""
    return (("%.4f" if abs(number) < 1 else "%.2f") % number).rstrip("0").rstrip(".")
