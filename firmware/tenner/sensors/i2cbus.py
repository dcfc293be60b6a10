# tenner sensors.i2cbus: what the drivers of I2C chips share.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.sensors import SensorError


def chip(port, cfg, default_address):
    """Return (bus, address) of a sensor's settings, and keep them there; the only bus needs no name."""
    names = port.i2c_names()
    name = cfg.get("bus") or (names[0] if len(names) == 1 else "(none given)")
    if name not in names:
        raise SensorError("there is no bus %s; buses: %s" % (name, ", ".join(names) or "none"))
    address = cfg.get("address", default_address)
    try:
        address = int(address, 0) if isinstance(address, str) else int(address)
    except (TypeError, ValueError):
        raise SensorError('address must be a number such as 72 or "0x48", not %s' % address)
    cfg["bus"] = name
    cfg["address"] = address
    return port.i2c(name), address
