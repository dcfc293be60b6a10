# tenner tools.adc: reads the voltage at a pin.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.tools import pins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.tools.types import ToolContext

NEEDS = "port:adc"
subjects = pins.subjects


def check(args: dict, ctx: "ToolContext") -> None:
    pins.check(args, ctx, "adc")


async def run(args: dict, ctx: "ToolContext") -> str:
    adc = ctx.port.pins().adc(args["gpio"])
    raw = adc.read_u16()
    return "pin %s: raw %d of 65535, %d mV" % (pins.shown(args), raw, adc.read_uv() // 1000)
