# tenner sensors.units: the units of values.
# MIT license; Copyright (c) 2026 the tenner authors

_UNITS = (
    "temperature \u00b0C internal \u00b0C humidity % pressure hPa light lx voltage V current mA "
    "distance mm co2 ppm level % memory % rssi dBm uptime s heap_free B heap_used B system_free "
    "B system_block B"
)


def unit(value_name: str) -> str:
    """Return the unit of a value such as `temperature`, "" when it is not known."""
    words = _UNITS.split()
    for index in range(0, len(words), 2):
        if words[index] == value_name:
            return words[index + 1]
    return ""
