# tenner sensors.reader: the sensors of SENSORS.json, read one at a time.
# MIT license; Copyright (c) 2026 the tenner authors

import asyncio

from tenner.log import is_odd
from tenner.port.compat import const, ticks_diff, ticks_ms
from tenner.sensors import reading, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port

_FRESH_MS = const(2000)


class Sensors:
    """The sensors of SENSORS.json. The file is read on demand, so that RAM never holds it."""

    def __init__(self, port: "Port", workspace: str) -> None:
        self.port = port
        self.workspace = workspace
        #: One measurement at a time: another transfer to the chip would spoil it.
        self.lock = asyncio.Lock()
        self._readings = {}

    def names(self) -> list[str]:
        """Return the sorted names, without those that look like an order; SensorError when
        SENSORS.json cannot be read."""
        return sorted([name for name in reading.load(self.workspace) if not is_odd(name)])

    async def read(self, name: str) -> dict:
        """Return {value name: number}, from a reading up to 2 s old; raise SensorError with the
        reason."""
        async with self.lock:
            known = self._readings.get(name)
            if known is not None and ticks_diff(ticks_ms(), known[0]) < _FRESH_MS:
                return known[1]
            values = await reading.measure(self.port, self.workspace, name)
            self._readings[name] = (ticks_ms(), values)
            return values

    def age_ms(self, name: str) -> int | None:
        """Return the age of the last reading in milliseconds, or None without one."""
        known = self._readings.get(name)
        return None if known is None else ticks_diff(ticks_ms(), known[0])

    def unit(self, value_name: str) -> str:
        """Return the unit of a value, or "" for an unknown one."""
        return units.unit(value_name)
