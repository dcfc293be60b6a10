# tenner sensors.mcp3008: MCP3008 and MCP3004 analog-to-digital converters on SPI.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: bus (spi0.0), channel (0 to 7), vref (3.3, in volts), zero, value, scale, offset.

Microchip data sheet DS21295D: 5.0 and figure 6-1, single-ended with groups of eight clocks;
equation 4-2. Before the value no chip drives the line and its pull-up makes it high: all zeros
mean that it is held low. On a board without that pull-up they may also mean 0 V: then set `zero`
to true.
"""

from tenner.sensors.checks import choice, scaled
from tenner.sensors.errors import SensorError
from tenner.sensors.spibus import exchange, silent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


async def read(port: "Port", cfg: dict) -> dict[str, float]:
    channel = choice(cfg, "channel", 0, (0, 1, 2, 3, 4, 5, 6, 7))
    data = exchange(port, cfg, bytes((1, 0x80 | channel << 4, 0)))
    if not any(data) and not cfg.get("zero"):
        raise silent(cfg, "only zeros")
    if data[1] & 4:
        # The bit before the value is always 0.
        raise silent(cfg, "no null bit")
    counts = (data[1] & 3) << 8 | data[2]
    if counts == 1023:
        raise SensorError("input %d is at vref or above: nothing can be told" % channel)
    return scaled(counts * cfg.get("vref", 3.3) / 1024, cfg)
