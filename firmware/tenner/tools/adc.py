# tenner tools.adc: reads the voltage at a pin.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.tools import pins

NEEDS = "port:adc"
subjects = pins.subjects


def check(args, ctx):
    pins.check(args, ctx, "adc")


async def run(args, ctx):
    adc = ctx.port.pins().adc(args["gpio"])
    raw = adc.read_u16()
    return "pin %s: raw %d of 65535, %d mV" % (pins.shown(args), raw, adc.read_uv() // 1000)
