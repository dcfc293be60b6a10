# tenner tools.i2c: scans, reads and writes chips on an I2C bus.
# MIT license; Copyright (c) 2026 the tenner authors
"""
The bytes on the wire decide about approval, not the name of the action: reading a register writes
its number first, which is a command for some chips. A read without a register needs no approval,
nor does one byte that only points at a register of the usual chips at that address
(sensors/i2c_chips.tsv).
"""

from tenner.port import bus_names
from tenner.port.compat import sleep_ms
from tenner.sensors import bus_errors
from tenner.sensors.i2c_chips import describe, has_register, usual
from tenner.tools.errors import ToolError
from tenner.tools.format_bytes import count, format_bytes
from tenner.tools.patterns import with_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.tools.types import ToolContext


NEEDS = "port:i2c"
LIMITS = {
    "address": (0x03, 0x77),
    "register": (0, 0xFFFF),
    "length": (1, 256),
    "data": (1, 256),
    "delay_ms": (0, 1000),
}


def check(args: dict, ctx: "ToolContext") -> None:
    args["bus"] = bus_names.choose(ctx.port, "i2c", args.get("bus"))
    if args.get("register", 0) > 255 and args.get("register_bits") != 16:
        raise ToolError("i2c: register 0x%x needs register_bits 16" % args["register"])


def subjects(args: dict) -> "Sequence[str]":
    places = [args["bus"]]
    if "address" in args:
        places.append("%s:0x%02x" % (args["bus"], args["address"]))
    action = args["action"]
    if action == "read" and not _only_reads(args):
        action = "write_read"
    return with_places(action, *places)


def approval(args: dict, ctx: "ToolContext") -> tuple[str, str] | None:
    action = args["action"]
    if action == "scan" or _only_reads(args):
        return None
    if action == "read":
        sent = _register(args)
        text = "write register %s to" % format_bytes(sent)
    else:
        sent = args["data"]
        text = "write %s to" % format_bytes(sent)
    text += " 0x%02x" % args["address"]
    if action == "write" and "register" in args:
        text += " register 0x%02x" % args["register"]
    elif action != "write":
        text += " and read %d bytes" % args.get("length", 1)
    plain = "write %s to the chip at 0x%02x%s" % (
        count(sent),
        args["address"],
        usual(args["address"]),
    )
    if action != "write":
        plain += " and read its answer"
    return "%s on %s" % (text, args["bus"]), plain


def _only_reads(args):
    """Return whether only the number of a known register goes out, or nothing."""
    if args["action"] != "read":
        return False
    sent = _register(args)
    return not sent or (len(sent) == 1 and has_register(args["address"], sent[0]))


def _register(args):
    """Return the bytes of a register's number on the wire."""
    if "register" not in args:
        return b""
    return args["register"].to_bytes(args.get("register_bits", 8) // 8, "big")


async def run(args: dict, ctx: "ToolContext") -> str:
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
            return describe(args["bus"], ctx.port.scan(args["bus"]))
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
                return format_bytes(answer)
            # One transaction with a repeated start, as for reading a register.
            register = int.from_bytes(data, "big")
            bits = 8 * len(data)
        if register is None:
            bus.readfrom_into(address, answer)
        else:
            bus.readfrom_mem_into(address, register, answer, addrsize=bits)
        return format_bytes(answer)
    except OSError as error:
        raise ToolError(
            bus_errors.explain(error, args["bus"], address, bus if action != "scan" else None)
        )
