# tenner tools.buses: what the tools i2c and spi share: the bus that is meant, bytes as text.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const
from tenner.tools import ToolError

_LONG = const(32)  # bytes from which on only hex is printed
_SHOWN = const(300)  # bytes whose hex fits a result


def choose(tool, args, key, port):
    """Put in the only bus where none is named; ToolError where there is no such bus."""
    names = port.i2c_names() if tool == "i2c" else port.spi_names()
    if key not in args and len(names) == 1:
        args[key] = names[0]
    if args.get(key) not in names:
        why = port.kind == "linux" and port.why_not(tool, args.get(key))
        if why:
            raise ToolError("%s: %s" % (tool, why))
        shown = (tool, key, args.get(key, "(none given)"), ", ".join(names) or "none")
        raise ToolError("%s: there is no %s %s; there is: %s" % shown)


def listed(data, most=_SHOWN):
    """Return bytes as text, at most so many of them."""
    text = " ".join(["%02x" % byte for byte in data[:most]])
    if len(data) <= _LONG:
        return "0x%s (%s)" % (text.replace(" ", " 0x"), " ".join([str(byte) for byte in data]))
    if len(data) <= most:
        return "%d bytes in hex: %s" % (len(data), text)
    return "%d bytes, the first %d in hex: %s" % (len(data), most, text)
