# tenner tools.gpio: reads and sets the level of a pin.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import sleep_ms
from tenner.tools import pins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

NEEDS = "port:gpio"
subjects = pins.subjects
LIMITS = {"value": (0, 1), "ms": (1, 10000)}


def check(args: dict, ctx: "ToolContext") -> None:
    pins.check(args, ctx, "in" if args["action"] == "read" else "out")


def approval(args: dict, ctx: "ToolContext") -> tuple[str, str] | None:
    if args["action"] == "read":
        return None
    level = args.get("value", 1)
    words = ("off", "on")
    text = "set pin %s to %d" % (pins.shown(args), level)
    plain = "switch pin %s %s" % (pins.shown(args), words[level])
    if args["action"] == "pulse":
        text += " for %d ms, then to %d" % (args["ms"], 1 - level)
        plain += " for %g s, then %s" % (args["ms"] / 1000, words[1 - level])
    return text, plain


async def run(args: dict, ctx: "ToolContext") -> str:
    name = args["gpio"]
    gpio = ctx.port.pins()
    if args["action"] == "read":
        level = gpio.pin(name, "in").value()
    else:
        level = args.get("value", 1)
        pin = gpio.pin(name, "out", level)
        if args["action"] == "pulse":
            level = 1 - level
            try:
                await sleep_ms(args["ms"])
            finally:
                pin.value(level)
    return "pin %s is at %d" % (pins.shown(args), level)
