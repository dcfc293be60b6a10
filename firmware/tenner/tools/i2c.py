# tenner tools.i2c: scan, read and write chips on an I2C bus.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const, sleep_ms
from tenner.tools import ToolError, buses

_FIRST = const(0x08)

LIMITS = {
    "address": (0x03, 0x77),
    "register": (0, 0xFFFF),
    "length": (1, 256),
    "data": (1, 256),
    "delay_ms": (0, 1000),
}


def check(args, ctx):
    buses.choose("i2c", args, "bus", ctx.port)
    if args.get("register", 0) > 255 and args.get("register_bits") != 16:
        raise ToolError("i2c: register 0x%x needs register_bits 16" % args["register"])


def places(args):
    if "address" not in args:
        return (args["bus"],)
    return args["bus"], "%s:0x%02x" % (args["bus"], args["address"])


def approval(args, ctx):
    action = args["action"]
    if action in ("scan", "read"):
        return None
    from tenner.tools import i2c_chips

    text = "write %s to 0x%02x" % (buses.listed(args["data"]), args["address"])
    if action == "write_read":
        text += " and read %d bytes" % args["length"]
    elif "register" in args:
        text += " register 0x%02x" % args["register"]
    return "%s on %s%s" % (text, args["bus"], i2c_chips.usual(args["address"]))


async def run(args, ctx):
    action = args["action"]
    address = args.get("address")
    register = args.get("register")
    bits = args.get("register_bits", 8)
    data = bytes(args.get("data", ()))
    answer = bytearray(args.get("length", 1))
    bus = None
    try:
        bus = ctx.port.i2c(args["bus"])
        if action == "scan":
            from tenner.tools import i2c_chips

            if ctx.port.kind != "linux":
                _probe(bus)
            return i2c_chips.listed(args["bus"], bus.scan())
        if action == "write":
            if register is None:
                bus.writeto(address, data)
            else:
                bus.writeto_mem(address, register, data, addrsize=bits)
            return "wrote %d bytes to 0x%02x" % (len(data), address)
        if action == "write_read":
            delay_ms = args.get("delay_ms", 0)
            if delay_ms or len(data) > 2:
                async with ctx.sensors.lock:
                    bus.writeto(address, data)
                    await sleep_ms(delay_ms)
                    bus.readfrom_into(address, answer)
                return buses.listed(answer)
            # One transaction with a repeated start, which is what reading a register is.
            register = int.from_bytes(data, "big")
            bits = 8 * len(data)
        if register is None:
            bus.readfrom_into(address, answer)
        else:
            bus.readfrom_mem_into(address, register, answer, addrsize=bits)
        return buses.listed(answer)
    except OSError as error:
        from tenner.sensors.buserrors import explain

        raise ToolError(explain(error, args["bus"], address, bus if action != "scan" else None))


def _probe(bus):
    """Raise what a bus that hangs raises: a chip's scan of it takes seconds, and then finds nothing."""
    try:
        bus.writeto(_FIRST, b"")
    except OSError as error:
        if error.args[0] in (110, 116):  # ETIMEDOUT, here and on an ESP32
            raise
