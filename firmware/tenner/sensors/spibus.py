# tenner sensors.spibus: helpers for the drivers of SPI chips.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port import bus_names
from tenner.sensors.errors import SensorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


def exchange(port: "Port", cfg: dict, data: bytes) -> bytearray:
    """Send bytes to the device of a sensor's settings, and return as many that came back."""
    name = cfg["bus"] = bus_names.choose(port, "spi", cfg.get("bus") or None)
    bus, cs = port.spi(name)
    reply = bytearray(len(data))
    # The slowest chip's limit and mode, as another user may have set others.
    bus.init(baudrate=1000000, polarity=0, phase=0, bits=8)
    cs(0)
    try:
        bus.write_readinto(data, reply)
    finally:
        cs(1)
    if reply == b"\xff" * len(reply):
        raise silent(cfg, "only ones")
    return reply


def silent(cfg: dict, what: str) -> SensorError:
    """Return the error of a device that sent `what`."""
    return SensorError("no answer on %s (%s): wiring, power, or chip select?" % (cfg["bus"], what))
