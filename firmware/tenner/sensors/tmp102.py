# tenner sensors.tmp102: TMP102, TMP105 and LM75 temperature sensors on I2C.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: bus, address (0x48), chip (tmp102, tmp105 or lm75). All give the temperature left-justified in
two bytes; they differ in how many of the low bits mean anything.
"""

from tenner.sensors import SensorError
from tenner.sensors.i2cbus import chip

_BITS = {"tmp102": 12, "tmp105": 12, "lm75": 9}


async def read(port, cfg):
    kind = cfg.get("chip", "tmp102")
    if kind not in _BITS:
        raise SensorError("chip must be tmp102, tmp105 or lm75, not %s" % kind)
    bus, address = chip(port, cfg, 0x48)
    data = bytearray(2)
    bus.readfrom_mem_into(address, 0, data)
    return {"temperature": celsius(data, _BITS[kind])}


def celsius(data, bits):
    """Degrees in the two bytes of a chip with `bits` meaningful bits."""
    raw = data[0] << 8 | data[1]
    if bits == 12 and raw & 1:
        # Only a TMP102 in extended mode sets the lowest bit: 13 bits, up to 150 degrees.
        bits = 13
    raw >>= 16 - bits
    if raw >= 1 << (bits - 1):
        raw -= 1 << bits
    return round(raw / (1 << (bits - 8 if bits < 13 else 4)), 2)
