# tenner sensors.i2cbus: helpers for the drivers of I2C chips.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port import bus_names
from tenner.port.compat import const
from tenner.sensors.bus_errors import stuck
from tenner.sensors.errors import SensorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import I2C, Port

_RESERVED = const(0x07)  # an address that no chip may have


def chip(port: "Port", cfg: dict, default_address: int) -> "tuple[I2C, int]":
    """Return (bus, address) of a sensor's settings, and keep them there; the only bus needs no
    name."""
    name = bus_names.choose(port, "i2c", cfg.get("bus") or None)
    address = cfg.get("address", default_address)
    try:
        address = int(address, 0) if isinstance(address, str) else int(address)
    except (TypeError, ValueError):
        raise SensorError('address must be a number such as 72 or "0x48", not %s' % address)
    cfg["bus"] = name
    cfg["address"] = address
    return port.i2c(name), address


def result(bus: "I2C", cfg: dict, size: int, ms: int) -> bytearray:
    """Read the result of a chip that does not acknowledge before it is done."""
    data = bytearray(size)
    try:
        bus.readfrom_into(cfg["address"], data)
    except OSError as error:
        if error.args[0] in (5, 6, 19, 121):  # no acknowledge, on each platform
            raise busy(cfg, ms)
        raise
    return data


def check_zeros(bus: "I2C", cfg: dict, data: bytes | bytearray) -> None:
    """Raise SensorError if `data` is all zeros because SDA is stuck low: then every address
    answers."""
    if not any(data):
        try:
            bus.writeto(_RESERVED, b"")
        except OSError:
            return  # as it should be
        raise SensorError(stuck(cfg["bus"]))


def bad(cfg: dict, what: str = "sent a wrong checksum: disturbed wires?") -> SensorError:
    """Return the error of a chip that answered something wrong."""
    return SensorError("0x%02x on %s %s" % (cfg["address"], cfg["bus"], what))


def lost_supply(cfg: dict) -> SensorError:
    """Return the error of a chip whose settings are those after power-on again."""
    return bad(cfg, "lost its supply while it measured")


def busy(cfg: dict, ms: int) -> SensorError:
    """Return the error of a chip that is late."""
    return bad(cfg, "is not done after %d ms" % ms)
