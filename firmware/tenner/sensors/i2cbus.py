# tenner sensors.i2cbus: what drivers and the i2c tool share: settings of a chip, errors in words.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.sensors import SensorError

_NAMES = {
    5: "EIO",
    6: "ENXIO",
    16: "EBUSY",
    19: "ENODEV",
    110: "ETIMEDOUT",
    116: "ETIMEDOUT",
    121: "EREMOTEIO",
}


def chip(port, cfg, default_address):
    """Return (bus, address) of a sensor's settings; the only bus needs no name."""
    names = port.i2c_names()
    name = cfg.get("bus") or (names[0] if len(names) == 1 else None)
    if name not in names:
        known = ", ".join(names) or "none"
        raise SensorError("there is no bus %s; buses: %s" % (name or "(none given)", known))
    cfg["bus"] = name
    return port.i2c(name), number(cfg, "address", default_address)


def number(cfg, key, default):
    """Return a whole number of a sensor's settings, which may be written "0x48"."""
    value = cfg.get(key, default)
    try:
        return int(value, 0) if isinstance(value, str) else int(value)
    except (TypeError, ValueError):
        raise SensorError('%s must be a number such as 72 or "0x48", not %s' % (key, value))


def explain(error, bus, address, others=None):
    """Return the likely cause of an OSError on a bus; `others` are addresses that do answer."""
    code = error.args[0] if error.args else None
    name = _NAMES.get(code)
    place = "0x%02x" % address if address is not None else "the chip"
    if name in ("ENODEV", "ENXIO", "EIO", "EREMOTEIO"):
        text = "no answer at %s on %s (%s): wiring, power, or address pin?" % (place, bus, name)
        if others is not None:
            text += " scan found: %s" % (", ".join(["0x%02x" % a for a in others]) or "none")
        return text
    if name == "ETIMEDOUT":
        return "bus %s stuck low (ETIMEDOUT): SDA or SCL held down, or no pull-up resistors" % bus
    if name == "EBUSY":
        return "%s on %s is in use by a kernel driver (EBUSY)" % (place, bus)
    return "%s: %s" % (bus, error) if bus else str(error)
