# tenner sensors.aht20: AHT20, AHT21 and DHT20 humidity and temperature sensors on I2C.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: bus, address (0x38).

Aosong data sheet AHT20, version 1.1: 5.3 commands, 5.4 the order of steps (80 ms of measuring, the
checksum over all six bytes), 6 conversion.
"""

from tenner.sensors.checks import crc8, inside, wait_ms
from tenner.sensors.i2cbus import bad, busy, chip, lost_supply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


async def read(port: "Port", cfg: dict) -> dict[str, float]:
    bus, address = chip(port, cfg, 0x38)
    data = bytearray(7)
    bus.readfrom_into(address, data)
    if not data[0] & 8:
        # Not calibrated since power-on.
        bus.writeto(address, b"\xbe\x08\x00")
        await wait_ms(10)
    bus.writeto(address, b"\xac\x33\x00")
    await wait_ms(80)
    bus.readfrom_into(address, data)
    if data[0] & 0x80:
        raise busy(cfg, 80)
    if crc8(data):
        raise bad(cfg)
    if not data[0] & 8:
        raise lost_supply(cfg)
    humidity = data[1] << 12 | data[2] << 4 | data[3] >> 4
    temperature = (data[3] & 15) << 16 | data[4] << 8 | data[5]
    return {
        "temperature": inside(temperature / 5242.88 - 50, -40, 85),
        "humidity": round(humidity / 10485.76, 2),
    }
