# tenner tools.format_bytes: formats bytes as text.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LONG = const(32)  # more bytes are printed in hex only
_SHOWN = const(300)  # bytes whose hex fits a result


def count(data: "Sequence[int]") -> str:
    """Return `1 byte`, `2 bytes`."""
    return "%d byte%s" % (len(data), "" if len(data) == 1 else "s")


def format_bytes(data: "bytes | bytearray | Sequence[int]", most: int = _SHOWN) -> str:
    """Return at most `most` bytes as text."""
    text = " ".join(["%02x" % byte for byte in data[:most]])
    if len(data) <= _LONG:
        return "0x%s (%s)" % (text.replace(" ", " 0x"), " ".join([str(byte) for byte in data]))
    if len(data) <= most:
        return "%d bytes in hex: %s" % (len(data), text)
    return "%d bytes, the first %d in hex: %s" % (len(data), most, text)
