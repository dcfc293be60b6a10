# tenner sensors.adc: a voltage on one of the board's own analog pins.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: pin, value, scale, offset. The mean of eight readings, as those of an ESP32 are noisy.
"""

from tenner.sensors.checks import scaled
from tenner.sensors.errors import SensorError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


async def read(port: "Port", cfg: dict) -> dict[str, float]:
    name = cfg.get("pin")
    adc = port.pins().adc(name)
    if adc.read_u16() == 65535:
        raise SensorError("pin %s: more than it can measure; divide the voltage" % name)
    return scaled(sum([adc.read_uv() for _ in range(8)]) / 8000000, cfg)
