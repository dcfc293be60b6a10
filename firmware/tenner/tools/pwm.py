# tenner tools.pwm: starts and stops pulses on a pin.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.tools import pins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

NEEDS = "port:pwm"
subjects = pins.subjects
LIMITS = {"freq_hz": (1, 40000000), "duty_percent": (0, 100)}


def check(args: dict, ctx: "ToolContext") -> None:
    pins.check(args, ctx, "pwm")


def approval(args: dict, ctx: "ToolContext") -> tuple[str, str]:
    shown = pins.shown(args)
    if args["action"] == "off":
        return "stop the pulses of pin %s" % shown, "stop the pulses on pin %s" % shown
    return _pulses(args), "drive pin %s with pulses, %g %% of the time on" % (
        shown,
        args["duty_percent"],
    )


def _pulses(args):
    return "pulses of %d Hz, %g %% on pin %s" % (
        args["freq_hz"],
        args["duty_percent"],
        pins.shown(args),
    )


async def run(args: dict, ctx: "ToolContext") -> str:
    name = args["gpio"]
    gpio = ctx.port.pins()
    if args["action"] == "off":
        # A duty of 0 first, so that the pin ends low.
        gpio.pwm(name, 1000, 0).deinit()
        return "pin %s has no pulses" % pins.shown(args)
    gpio.pwm(name, args["freq_hz"], round(args["duty_percent"] * 655.35))
    return _pulses(args)
