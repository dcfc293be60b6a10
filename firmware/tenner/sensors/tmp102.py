# tenner sensors.tmp102: TMP102, TMP105 and LM75 temperature sensors on I2C.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: bus, address (0x48), chip (tmp102, tmp105 or lm75). All give the temperature
left-justified in two bytes; they differ in how many of the low bits mean anything.

TI data sheet SBOS397H (TMP102): 7.5.2 the register, which is zero until the first measurement
after power-on is done, 7.3.1 its values, 6.3 the range. National data sheet DS012658 (LM75):
"Temperature data format"; its measurement takes 300 ms at most, the longest time of the three.
"""

from tenner.sensors.checks import choice, inside, wait_ms
from tenner.sensors.i2cbus import bad, check_zeros, chip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


async def read(port: "Port", cfg: dict) -> dict[str, float]:
    kind = choice(cfg, "chip", "tmp102", ("tmp102", "tmp105", "lm75"))
    bus, address = chip(port, cfg, 0x48)
    data = bytearray(2)
    bus.readfrom_mem_into(address, 0, data)
    check_zeros(bus, cfg, data)
    if not any(data):
        await wait_ms(300)
        bus.readfrom_mem_into(address, 0, data)
    if kind == "lm75":
        value = celsius(data, 9)
    elif data[1] & 15 in (0, 1, 9):
        value = celsius(data, 12)
    else:
        # The low bits are zero in both modes, except the lowest: 0xffff is a dead line.
        raise bad(cfg, "sends no temperature (0x%02x%02x)" % (data[0], data[1]))
    return {"temperature": inside(value, -55, 150 if kind != "lm75" and data[1] & 1 else 125)}


def celsius(data: bytearray | bytes, bits: int) -> float:
    """Return the degrees in the two bytes of a chip with `bits` meaningful bits."""
    raw = data[0] << 8 | data[1]
    if bits == 12 and raw & 1:
        # Only a TMP102 in extended mode sets the lowest bit: 13 bits, up to 150 degrees.
        bits = 13
    raw >>= 16 - bits
    if raw >= 1 << (bits - 1):
        raw -= 1 << bits
    return round(raw / (1 << (bits - 8 if bits < 13 else 4)), 2)
