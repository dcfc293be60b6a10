# tenner sensors: named sensors, one driver per chip.
# MIT license; Copyright (c) 2026 the tenner authors
"""
/workspace/SENSORS.json names them: {"room": {"driver": "tmp102", "bus": "i2c0", "address": "0x48"}}.
A driver is a module here, or the owner's own in /workspace/drivers, with

    async def read(port, cfg)     returns {"temperature": 21.4}; raises SensorError or OSError
"""

import asyncio

from tenner.port.compat import const, ticks_diff, ticks_ms

_FRESH_MS = const(2000)

_UNITS = (
    "temperature \u00b0C internal \u00b0C humidity % pressure hPa light lx voltage V current mA \
distance mm co2 ppm level % memory % rssi dBm uptime s heap_free B heap_used B"
)


class SensorError(Exception):
    """A sentence about a sensor that gave no value, with its name."""


class Sensors:
    """The sensors of SENSORS.json, which is read when asked and not kept."""

    def __init__(self, port, workspace):
        self.port = port
        self.workspace = workspace
        #: One measurement at a time: what somebody else sends to a chip would spoil it.
        self.lock = asyncio.Lock()
        self._readings = {}

    def names(self):
        """Return the sorted names; SensorError when SENSORS.json cannot be read."""
        from tenner.sensors import reading

        return sorted(reading.load(self.workspace))

    async def read(self, name):
        """Return {value name: number}, from a reading up to 2 s old; SensorError says why not."""
        async with self.lock:
            known = self._readings.get(name)
            if known is not None and ticks_diff(ticks_ms(), known[0]) < _FRESH_MS:
                return known[1]
            # The code of a reading is loaded with the first one: many boards have no sensor.
            from tenner.sensors import reading

            values = await reading.measure(self.port, self.workspace, name)
            self._readings[name] = (ticks_ms(), values)
            return values

    def age_ms(self, name):
        """Return how old the last reading is, None when there was none."""
        known = self._readings.get(name)
        return None if known is None else ticks_diff(ticks_ms(), known[0])

    def unit(self, value_name):
        """Return the unit of a value, "" when it is not known."""
        words = _UNITS.split()
        for index in range(0, len(words), 2):
            if words[index] == value_name:
                return words[index + 1]
        return ""
