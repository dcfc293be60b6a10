# tenner sensors.bus_errors: the likely cause of a bus error in words.
# MIT license; Copyright (c) 2026 the tenner authors

from tenner.port.compat import const

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import I2C

#: More addresses than these never answer on a bus that works.
MOST_CHIPS = const(64)

_NO_ANSWER = {5: "EIO", 6: "ENXIO", 19: "ENODEV", 121: "EREMOTEIO"}


def explain(
    error: OSError, bus_name: str | None, address: int | None, bus: "I2C | None" = None
) -> str:
    """Return the likely cause of an OSError on a bus; a scan of `bus` adds the addresses that do
    answer."""
    code = error.args[0] if error.args else None
    if not isinstance(code, int):
        return str(error)
    place = "0x%02x" % address if address is not None else "the chip"
    if code in _NO_ANSWER:
        text = "no answer at %s on %s (%s): wiring, power, or address pin?"
        return text % (place, bus_name, _NO_ANSWER[code]) + (_found(bus) if bus else "")
    if code in (110, 116):
        text = "bus %s stuck low (ETIMEDOUT): SDA or SCL held down, no pull-ups" % bus_name
        # Some adapters of Linux, whose number is 110, report it for an absent chip.
        return text + (", or no chip at " + place if code == 110 and address is not None else "")
    if code == 16:
        return "%s on %s is in use by a kernel driver (EBUSY)" % (place, bus_name)
    text = _of_the_chip(error) or str(error)
    return "%s: %s" % (bus_name, text) if bus_name else text


def reason(error: Exception) -> str:
    """Return words for an exception of the interpreter or of the chip's own drivers."""
    return _of_the_chip(error) or "%s: %s" % (type(error).__name__, error)


def _of_the_chip(error):
    # ESP-IDF's number comes with its name: (-258, "ESP_ERR_INVALID_ARG").
    name = error.args[-1] if error.args else None
    if isinstance(error, OSError) and isinstance(name, str) and name[:4] == "ESP_":
        return "the chip refuses it (%s): try another pin, value or bus" % name
    return None


def stuck(bus_name: str) -> str:
    """Return the likely cause when every address of a bus answers."""
    return (
        "bus %s: every address answers, so SDA is stuck low: held down, or no pull-ups" % bus_name
    )


def _found(bus):
    try:
        found = bus.scan()
    except OSError:
        return ""
    return " scan found: %s" % (", ".join(["0x%02x" % a for a in found]) or "none")
