# tenner sensors.sht: SHT3x and SHT4x humidity and temperature sensors on I2C.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: bus, address (0x44), chip (sht3x or sht4x, or a type such as sht31).

Sensirion data sheet SHT3x-DIS, version 7: 4.3 single shot without clock stretching, table 4 how
long it takes (15.5 ms at most), 4.12 checksum, 4.13 conversion. Data sheet SHT4x, version 6.5: 4.5
commands, table 5 how long (8.3 ms), 4.6 conversion, whose humidity is to be cut at 0 and 100.
"""

from tenner.sensors.checks import crc8, inside, wait_ms
from tenner.sensors.errors import SensorError
from tenner.sensors.i2cbus import bad, chip, result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


async def read(port: "Port", cfg: dict) -> dict[str, float]:
    kind = cfg.get("chip", "sht3x")
    if kind[:4] not in ("sht3", "sht4"):
        raise SensorError("chip must be sht3x or sht4x, not %s" % kind)
    command, ms, low, span = (b"\xfd", 9, -6, 125) if kind[3] == "4" else (b"\x24\x00", 16, 0, 100)
    bus, address = chip(port, cfg, 0x44)
    bus.writeto(address, command)
    await wait_ms(ms)
    data = result(bus, cfg, 6, ms)
    if crc8(data[:3]) or crc8(data[3:]):
        raise bad(cfg)
    humidity = low + span * (data[3] << 8 | data[4]) / 65535
    return {
        "temperature": inside(-45 + 175 * (data[0] << 8 | data[1]) / 65535, -40, 125),
        "humidity": round(min(max(humidity, 0), 100), 2),
    }
