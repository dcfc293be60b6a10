# tenner port.bus_names: finds a bus by name.
# MIT license; Copyright (c) 2026 the tenner authors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


def choose(port: "Port", kind: str, name: str | None) -> str:
    """Return the name of a bus of kind "i2c", or a device of kind "spi"; None is the only one.
    OSError lists them."""
    names = port.i2c_names() if kind == "i2c" else port.spi_names()
    if name is None and len(names) == 1:
        return names[0]
    if name not in names:
        raise OSError(
            port.why_not(kind, name)
            or "there is no %s %s; available: %s"
            % (
                "bus" if kind == "i2c" else "SPI device",
                "(none given)" if name is None else name,
                ", ".join(names) or "none",
            )
        )
    return name
