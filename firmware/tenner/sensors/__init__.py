# tenner sensors: named sensors, one driver per chip.
# MIT license; Copyright (c) 2026 the tenner authors
"""
/workspace/SENSORS.json names them: {"room": {"driver": "tmp102", "bus": "i2c0", "address":
"0x48"}}. A driver is a module here, or the owner's own in /workspace/drivers, with

    async def read(port, cfg)     returns {"temperature": 21.4}; raises SensorError or OSError

`sensors.reading` reads the sensors by their names.
"""

from tenner.sensors.errors import SensorError

__all__ = ("SensorError",)
