# tenner sensors.ads1115: ADS1115 analog-to-digital converter on I2C.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: bus, address (0x48), channel (0 to 3, or "0-1", "0-3", "1-3", "2-3"), range (in volts,
4.096), value, scale, offset.

TI data sheet SBAS444D: 9.6 registers and their values after power-on, 9.4.2.1 single shot, 7.5
data rate (128 a second, 10 % less at the worst: 8.7 ms), 9.5.4 data format.
"""

from tenner.port.compat import const
from tenner.sensors.checks import choice, scaled, wait_ms
from tenner.sensors.errors import SensorError
from tenner.sensors.i2cbus import bad, busy, check_zeros, chip, lost_supply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port

_CONVERSION = const(0)  # registers
_CONFIG = const(1)
# High byte of the settings: start, later done (bit 7), channel (6 to 4), range (3 to 1), once (0).
_ONCE = const(0x81)
_DONE = const(0x80)
# Low byte: 128 a second (bits 7 to 5), latching (2), no comparator (1 and 0).
_PLAIN = const(0x83)
_LATCHING = const(0x87)

_CHANNELS = ("0-1", "0-3", "1-3", "2-3", 0, 1, 2, 3)
_RANGES = (6.144, 4.096, 2.048, 1.024, 0.512, 0.256)


async def read(port: "Port", cfg: dict) -> dict[str, float]:
    bus, address = chip(port, cfg, 0x48)
    channel = choice(cfg, "channel", 0, _CHANNELS)
    volts = choice(cfg, "range", 4.096, _RANGES)
    wrote = bytearray(2)
    wrote[0] = _ONCE | _CHANNELS.index(channel) << 4 | _RANGES.index(volts) << 1
    # The settings after power-on are 0x8583. Latching means nothing to a comparator that is off.
    wrote[1] = _LATCHING if wrote[0] == 0x85 else _PLAIN
    bus.writeto_mem(address, _CONFIG, wrote)
    await wait_ms(9)
    data = bytearray(2)
    bus.readfrom_mem_into(address, _CONFIG, data)
    if data == b"\x85\x83":
        raise lost_supply(cfg)
    if data[0] | _DONE != wrote[0] or data[1] != wrote[1]:
        check_zeros(bus, cfg, data)
        raise bad(cfg, "was set to another input while it measured: by another controller?")
    if not data[0] & _DONE:
        raise busy(cfg, 9)
    bus.readfrom_mem_into(address, _CONVERSION, data)
    counts = (data[0] << 8 | data[1]) - (data[0] >> 7 << 16)
    if counts in (0x7FFF, -0x8000):
        raise SensorError("input %s is beyond %s V: choose a larger range" % (channel, volts))
    return scaled(counts * volts / 0x8000, cfg)
