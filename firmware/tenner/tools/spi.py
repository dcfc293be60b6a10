# tenner tools.spi: exchanges bytes with a device on SPI.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port import bus_names
from tenner.port.compat import const
from tenner.sensors import bus_errors
from tenner.tools.errors import ToolError
from tenner.tools.format_bytes import count, format_bytes
from tenner.tools.patterns import with_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenner.tools.types import ToolContext


NEEDS = "port:spi"
LIMITS = {
    "data": (1, 4096),
    "length": (1, 4096),
    "speed": (1000, 40000000),
    "mode": (0, 3),
    "bits": (4, 32),
}

_SHOWN = const(32)  # the most bytes that a rule of the owner may name
_ASKED = const(1024)  # the most bytes that a question can show


def check(args: dict, ctx: "ToolContext") -> None:
    if args["action"] == "read" and "data" in args:
        raise ToolError("spi: read sends zeros; use transfer to send data")
    if args["action"] != "list":
        args["device"] = bus_names.choose(ctx.port, "spi", args.get("device"))


def subjects(args: dict) -> "Sequence[str]":
    """Return the texts for the owner's rules, also with the bytes sent: "transfer spi0.0 9f 00 00
    00"."""
    found = with_places(args["action"], *([args["device"]] if "device" in args else ()))
    data = args.get("data", ())
    if args["action"] == "transfer" and len(data) <= _SHOWN:
        found.append("%s %s" % (found[-1], " ".join(["%02x" % byte for byte in data])))
    return found


def approval(args: dict, ctx: "ToolContext") -> tuple[str, str] | None:
    if args["action"] != "transfer":
        return None
    data = args["data"]
    if len(data) > _ASKED:
        raise ToolError(
            (
                "spi: the owner is asked about %d bytes at most: do it in parts, or have "
                "tools.spi set to allow"
            )
            % _ASKED
        )
    text = "send %s to %s" % (format_bytes(data, _ASKED), args["device"])
    for name in ("speed", "mode", "bits"):
        if name in args:
            text += ", %s %d" % (name, args[name])
    return text, "send %s to the chip at %s" % (count(data), args["device"])


async def run(args: dict, ctx: "ToolContext") -> str:
    if args["action"] == "list":
        return ", ".join(ctx.port.spi_names())
    device = args["device"]
    usual = ctx.config.get("spi.%s.freq" % device.partition(".")[0])
    data = bytes(args["data"] if args["action"] == "transfer" else args["length"])
    answer = bytearray(len(data))
    try:
        bus, cs = ctx.port.spi(device)
        try:
            _set(bus, args.get("speed", usual), args.get("mode", 0), args.get("bits", 8))
            cs(0)
            bus.write_readinto(data, answer)
        finally:
            cs(1)
            # The drivers of this bus expect these settings.
            _set(bus, usual, 0, 8)
    except ValueError as error:
        raise ToolError("%s: %s" % (device, error))
    except OSError as error:
        raise ToolError(bus_errors.explain(error, device, None))
    text = format_bytes(answer)
    if answer[0] in (0, 255) and min(answer) == max(answer):
        text += "; if that is no answer: wiring, power, mode or speed?"
    return text


def _set(bus, speed, mode, bits):
    bus.init(baudrate=speed, polarity=mode >> 1, phase=mode & 1, bits=bits)
