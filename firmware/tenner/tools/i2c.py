# tenner tools.i2c: scan, read and write chips on an I2C bus.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const, sleep_ms
from tenner.port.package import package_path
from tenner.sensors.i2cbus import explain
from tenner.store import files
from tenner.tools import ToolError

_LONG = const(32)  # bytes from which on only hex is printed


def check(args, ctx):
    buses = ctx.port.i2c_names()
    if "bus" not in args and len(buses) == 1:
        args["bus"] = buses[0]
    if args.get("bus") not in buses:
        shown = args.get("bus", "(none given)")
        raise ToolError("i2c: there is no bus %s; buses: %s" % (shown, ", ".join(buses) or "none"))
    if args.get("register", 0) > 255 and args.get("register_bits", 8) == 8:
        raise ToolError("i2c: register 0x%x needs register_bits 16" % args["register"])


def approval(args, ctx):
    if "data" not in args or args["action"] in ("scan", "read"):
        return None
    text = "write %s to 0x%02x" % (_bytes(args["data"]), args["address"])
    if "register" in args:
        text += " register 0x%02x" % args["register"]
    chip = _chip(args["address"])
    return "%s on %s%s" % (text, args["bus"], " (usually %s)" % chip if chip else "")


async def run(args, ctx):
    action = args["action"]
    address = args.get("address")
    try:
        bus = ctx.port.i2c(args["bus"])
        if action == "scan":
            return _scanned(args["bus"], bus.scan())
        if action == "read":
            return _bytes(_read(bus, address, args))
        if action == "write":
            _write(bus, address, args)
            return "wrote %d bytes to 0x%02x" % (len(args["data"]), address)
        return _bytes(await _write_read(bus, address, args))
    except OSError as error:
        raise ToolError(explain(error, args["bus"], address, _others(ctx, args)))


def _read(bus, address, args):
    data = bytearray(args.get("length", 1))
    if "register" in args:
        bits = args.get("register_bits", 8)
        bus.readfrom_mem_into(address, args["register"], data, addrsize=bits)
    else:
        bus.readfrom_into(address, data)
    return data


def _write(bus, address, args):
    data = bytes(args["data"])
    if "register" in args:
        bits = args.get("register_bits", 8)
        bus.writeto_mem(address, args["register"], data, addrsize=bits)
    else:
        bus.writeto(address, data)


async def _write_read(bus, address, args):
    data = bytearray(args["length"])
    command = args["data"]
    delay_ms = args.get("delay_ms", 0)
    if not delay_ms and len(command) <= 2:
        # One transaction with a repeated start, which is what reading a register is.
        register = command[0] if len(command) == 1 else command[0] << 8 | command[1]
        bus.readfrom_mem_into(address, register, data, addrsize=8 * len(command))
        return data
    bus.writeto(address, bytes(command))
    await sleep_ms(delay_ms)
    bus.readfrom_into(address, data)
    return data


def _others(ctx, args):
    """Addresses that do answer, for the error text; None when even that cannot be told."""
    if args["action"] == "scan":
        return None
    try:
        return ctx.port.i2c(args["bus"]).scan()
    except OSError:
        return None


def _scanned(name, addresses):
    if not addresses:
        return "%s: nothing answered; check power, wiring and pull-up resistors" % name
    found = []
    for address in addresses:
        chip = _chip(address)
        found.append("0x%02x%s" % (address, " (usually %s)" % chip if chip else ""))
    return "%s: %s" % (name, ", ".join(found))


def _chip(address):
    """Chips known to sit at an address, from a table on flash."""
    prefix = b"0x%02x\t" % address
    with open(package_path("tools/i2c_chips.tsv"), "rb") as file:
        for line in files.lines(file):
            if line.startswith(prefix):
                return line[len(prefix) :].decode()
    return None


def _bytes(data):
    text = " ".join(["%02x" % byte for byte in data])
    if len(data) > _LONG:
        return "%d bytes in hex: %s" % (len(data), text)
    return "0x%s (%s)" % (text.replace(" ", " 0x"), " ".join([str(byte) for byte in data]))
