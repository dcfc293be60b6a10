# tenner sensors.units: the units of values.
# MIT license; Copyright (c) 2026 the tenner authors

_UNITS = (
    " temperature=\u00b0C internal=\u00b0C humidity=% pressure=hPa light=lx voltage=V current=mA"
    " distance=mm co2=ppm level=% memory=% rssi=dBm uptime=s heap_free=B heap_used=B"
    " system_free=B system_block=B "
)


def unit(value_name: str) -> str:
    """Return the unit of a value such as `temperature`, "" when it is not known."""
    after = _UNITS.partition(" %s=" % value_name)[2]
    return after[: after.find(" ")]


# Of a number in the first unit: factor, difference, the owner's unit.
_IMPERIAL = "\u00b0C 1.8 32 \u00b0F mm 0.03937008 0 in hPa 0.02952998 0 inHg"


def imperial(number: float, own: str, is_difference: bool = False) -> tuple[float, str]:
    """Return (number, unit) for an owner who has `units` set to imperial."""
    words = _IMPERIAL.split()
    for index in range(0, len(words), 4):
        if words[index] == own:
            number = number * float(words[index + 1])
            number += 0 if is_difference else int(words[index + 2])
            return round(number * 100) / 100, words[index + 3]
    return number, own


def show(value: float) -> str:
    """Return a reading as a person writes it: two decimals at most."""
    if isinstance(value, float):
        text = ("%.2f" % value).rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return str(value)
