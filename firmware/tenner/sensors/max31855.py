# tenner sensors.max31855: MAX31855 and MAX6675 thermocouple converters on SPI.
# MIT license; Copyright (c) 2026 the tenner authors
"""
Settings: bus (spi0.0), chip (max31855 or max6675).

Maxim data sheet 19-5793, revision 5: tables 1 and 2 the 32 bits, 4 and 5 their values. MAX6675,
19-2235, revision 2: "Serial Interface" the 16 bits. Both measure all the time while they are not
selected.
"""

from struct import unpack

from tenner.sensors.checks import choice, inside
from tenner.sensors.errors import SensorError
from tenner.sensors.spibus import exchange, silent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenner.port import Port


async def read(port: "Port", cfg: dict) -> dict[str, float]:
    small = choice(cfg, "chip", "max31855", ("max31855", "max6675")) == "max6675"
    data = exchange(port, cfg, bytes(2 if small else 4))
    hot, cold = unpack(">hh", data + data if small else data)
    if small:
        # A MAX6675 cannot tell less than a quarter of a degree from a line that is held low.
        wrong, fault = hot & -0x7FFE, hot >> 2 & 1
        empty = not hot & 0x7FFC
    else:
        wrong, fault = hot & 2 or cold & 8, cold & 7
        empty = not any(data)
    if wrong or empty:
        raise silent(cfg, "only zeros" if empty else "a wrong frame")
    if fault:
        text = "thermocouple %s" % ("open", "shorted to ground", "shorted to supply")[fault >> 1]
        raise SensorError(text)
    if small:
        return {"temperature": inside((hot >> 3) / 4, 0, 1023.5)}
    return {
        "temperature": inside((hot >> 2) / 4, -270, 1768),
        "internal": inside((cold >> 4) / 16, -40, 125),
    }
